import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../harness/base/fixtures/folder.ts';
import { served } from '../../harness/base/fixtures/server.ts';
import { loadOnly } from '../../harness/config/fixtures/config-folder.ts';
import { operations } from '../operations/operations.suite.ts';
import { judgedInTurn } from './fixtures/judged.ts';

const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } });
const inQuery = (name: string) => ({ ...inPath(name), in: 'query' });

/** A GET, with the links of its 200. */
const get = (operationId: string, parameters: readonly object[], links: object = {}) => ({
  get: {
    operationId,
    parameters,
    responses: { 200: { description: 'ok', content: { 'application/json': { schema: {} } }, links } },
  },
});

/** The calls of a run of a service with these answers, 404 elsewhere, and what it remarks on. */
async function runOf(paths: object, answers: Readonly<Record<string, object>>, more = '') {
  const sent = new Set<string>();
  /** The first of each. */
  const bodies: Record<string, string> = {};
  const server = createServer(async (request, response) => {
    const { url: target = '', method } = request;
    const url = method === 'POST' ? `POST ${target}` : target;
    const { location, ...members } = (answers[url] ?? {}) as { location?: string };
    const body = await text(request);
    if (url in answers && !sent.has(url)) bodies[url] = body;
    if (url in answers) sent.add(url);
    response.writeHead(url in answers ? 200 : 404, {
      'content-type': 'application/json',
      ...(location === undefined ? {} : { location }),
    });
    response.end(JSON.stringify(members));
  });
  const url = await served(server);
  const folder = temporaryFolder({
    'services/orders.yaml': `service: orders\ncontract: search\ncredentials: { scheme: none }\nopenapi: ../openapi.json\nprovider: { url: '${url}' }\n${more}`,
    'openapi.json': JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths }),
  });
  const { config } = await loadOnly(folder);
  const { events, observations } = await judgedInTurn(config, [operations], { url });
  const remarks = events.flatMap((event) => (event.type === 'remark' ? [event.text] : []));
  const { called } = observations['operations.coverage'] as { called: number };
  return {
    sent: [...sent],
    bodies,
    called,
    remarks,
    faults: (config.documentRemarks ?? []).map(({ text }) => text),
  };
}

describe('a link of the document', () => {
  it.each<[string, unknown, object, string]>([
    ['a member of the body', '$response.body#/data/0/ref', { data: [{ ref: 'r1' }] }, '/things/r1'],
    ['a header', '$response.header.X-Ref', {}, '/things/none'],
    [
      'the address of a Location',
      '$response.header.Location',
      { location: '/things/l%201' },
      '/things/l%201',
    ],
    ['the path of the request', '$request.path.shop', {}, '/things/s%2F1'],
    ['the query of the request', '$request.query.page', {}, '/things/3'],
    ['a constant', 'fixed', {}, '/things/fixed'],
    ['an expression within a text', 'n-{$response.body#/n}', { n: 7 }, '/things/n-7'],
  ])('gives the value of a parameter: %s', async (_, value, answer, target) => {
    const link = { next: { operationId: 'getThing', parameters: { 'path.thing': value } } };
    const page = { ...inQuery('page'), schema: { type: 'integer', enum: [3] } };
    const paths = {
      '/shops/{shop}': get('getShop', [{ ...inPath('shop'), schema: { enum: ['s/1'] } }, page], link),
      '/things/{thing}': get('getThing', [inPath('thing')]),
    };
    const answers = { '/shops/s%2F1?page=3': answer, [target]: {} };
    const { sent, remarks } = await runOf(paths, answers);
    const isEmpty = target === '/things/none';
    expect(sent).toEqual(Object.keys(answers).slice(0, isEmpty ? 1 : 2));
    expect(remarks).toEqual(
      isEmpty ? ['GET /shops/{shop}: its link next yields nothing for $response.header.X-Ref'] : [],
    );
  });

  it('is followed level by level, by a reference as well, with parameters that need no value', async () => {
    const byRef = {
      items: {
        operationRef: '#/paths/~1lists~1%7Blist%7D~1items/get',
        parameters: { list: '$response.body#/first', mode: 'all' },
      },
    };
    const byId = {
      item: {
        operationId: 'getItem',
        parameters: { list: '$request.path.list', item: '$response.body#/rows/0/no' },
      },
    };
    const paths = {
      '/start': get('start', [], byRef),
      '/lists/{list}/items': get(
        'listItems',
        [inPath('list'), { ...inQuery('mode'), required: false }],
        byId,
      ),
      '/lists/{list}/items/{item}': get('getItem', [inPath('list'), inPath('item')]),
    };
    const answers = {
      '/start': { id: 'other', first: 'a' },
      '/lists/a/items?mode=all': { rows: [{ no: 12, id: 'other' }] },
      '/lists/a/items/12': {},
    };
    expect(await runOf(paths, answers)).toMatchObject({
      sent: Object.keys(answers),
      called: 3,
      remarks: [],
      faults: [],
    });
  });

  it('is followed from what the run creates', async () => {
    const links = {
      ticket: { operationId: 'getTicket', parameters: { ticket: '$response.body#/ticket' } },
      log: { operationId: 'getLog', parameters: { log: '$response.body#/log' } },
    };
    const content = { 'application/json': { schema: {}, example: { name: 'a' } } };
    const responses = { 200: { description: 'ok', content, links } };
    const paths = {
      '/orders': { post: { requestBody: { required: true, content }, responses } },
      '/tickets/{ticket}': get('getTicket', [inPath('ticket')]),
      '/logs/{log}': get('getLog', [inPath('log')]),
    };
    const answers = { 'POST /orders': { ticket: 't1', log: 'gone' }, '/tickets/t1': {} };
    const run = await runOf(paths, answers, 'safety: { unsafeMethods: true, leaveItems: true }\n');
    expect(run).toMatchObject({ sent: Object.keys(answers), called: 2, remarks: [] });
  });

  it('gives the body of a request that the document shows none for', async () => {
    const confirm = {
      operationId: 'confirm',
      requestBody: { order: '$response.body#/ref', notes: ['for {$response.body#/ref}'] },
      server: { url: '/' },
    };
    const content = { 'application/json': { schema: {}, example: { name: 'a' } } };
    const open = { 'application/json': { schema: { type: 'object', required: ['order'] } } };
    const responses = (links: object) => ({ 200: { description: 'ok', content, links } });
    const paths = {
      '/orders': { post: { requestBody: { required: true, content }, responses: responses({ confirm }) } },
      '/orders-confirmed': {
        post: {
          operationId: 'confirm',
          requestBody: { required: true, content: open },
          responses: responses({}),
        },
      },
    };
    const answers = { 'POST /orders': { ref: 'o7' }, 'POST /orders-confirmed': {} };
    const run = await runOf(paths, answers, 'safety: { unsafeMethods: true, leaveItems: true }\n');
    expect(run.bodies).toMatchObject({
      'POST /orders': '{"name":"a"}',
      'POST /orders-confirmed': '{"order":"o7","notes":["for o7"]}',
    });
    expect(run.remarks).toEqual([]);
  });

  it('is a fault of the document where it leads to nothing', async () => {
    const links = {
      gone: { operationId: 'getGone' },
      none: { operationRef: '#/paths/~1gone/get' },
      odd: { operationId: 'start', parameters: { x: '$response.cookie.x' } },
      more: { operationId: 'start', parameters: { x: 1 } },
      elsewhere: { operationId: 'start', server: { url: 'https://elsewhere.example' } },
    };
    const { faults } = await runOf({ '/start': get('start', [], links) }, { '/start': {} });
    expect(faults).toEqual([
      '"operationId" "getGone" is no operation here; the link is not followed',
      '"operationRef" "#/paths/~1gone/get" leads to no operation here; the link is not followed',
      '"x" is no runtime expression; the link is not followed',
      '"x" is no parameter of the operation that the link leads to; it is not sent',
    ]);
  });
});
