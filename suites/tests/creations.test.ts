import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../harness/base/fixtures/folder.ts';
import { served } from '../../harness/base/fixtures/server.ts';
import { parseJsonObject } from '../../harness/base/json-text.ts';
import { loadOnly } from '../../harness/config/fixtures/config-folder.ts';
import { operations } from '../operations/operations.suite.ts';
import { judgedInTurn } from './fixtures/judged.ts';

/** Values of a run that only its own creations have. */

const toy = {
  type: 'object',
  properties: { id: { type: 'string' }, name: { type: 'string' } },
  required: ['name'],
};
const schemas = { Toy: toy };
const ref = { $ref: '#/components/schemas/Toy' };
const content = (schema: object) => ({ 'application/json': { schema } });
const answering = (status: number, schema: object = ref) => ({
  responses: { [status]: { description: 'ok', content: content(schema) }, 404: { description: 'none' } },
});
const requestBody = {
  required: true,
  content: content({ ...toy, properties: { name: { type: 'string', example: 'a' } } }),
};
const inPath = (name: string, example?: string) => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
  ...(example !== undefined && { example }),
});
const list = { get: answering(200, { type: 'array', items: ref }) };
const create = { post: { requestBody, ...answering(201) } };
const read = { get: answering(200) };
const change = { put: { requestBody, ...answering(200) } };
const remove = { delete: { responses: { 204: { description: 'gone' }, 404: { description: 'none' } } } };

interface Store {
  /** Paths of items that are there before. */
  readonly before?: readonly string[];
  /** The path of an item that is created. */
  readonly placeOf?: (path: string, id: string) => string;
  /** The answer to a creation. */
  readonly answerOf?: (id: string) => object;
  /** Whether a creation is answered with a Location. */
  readonly isPlaced?: boolean;
  /** Whether the items that are created have a part of their own. */
  readonly partsOf?: boolean;
}

/** Runs the operations against a server that keeps items by their path, and finds them in lists one level above. */
async function runOf(paths: Readonly<Record<string, object>>, store: Store = {}) {
  const {
    before = [],
    placeOf = (path, id) => `${path}/${id}`,
    answerOf = () => ({}),
    isPlaced = false,
    partsOf = false,
  } = store;
  const items = new Map(before.map((path) => [path, itemOf(path)]));
  const sent: string[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url: target = '' } = request;
    const [path = ''] = target.split('?');
    const members = parseJsonObject((await text(request)) || '{}') ?? {};
    const answer = (status: number, value?: unknown, fields = {}) => {
      sent.push(`${method} ${path}`);
      const type = value === undefined ? {} : { 'content-type': 'application/json' };
      response
        .writeHead(status, { ...type, ...fields })
        .end(value === undefined ? '' : JSON.stringify(value));
    };
    const isItem = items.has(path);
    const parent = path.slice(0, path.lastIndexOf('/'));
    const below = [...items].filter(([each]) => each.replace(/\/[^/]*$/, '') === path.replace(/\.json$/, ''));
    const known = Object.keys(paths).some((each) =>
      new RegExp(`^${each.replaceAll('.', '\\.').replaceAll(/\{[^}]*\}/g, '[^/]+')}$`).test(path),
    );
    if (method === 'POST' && known) {
      const id = `n${items.size + 1}`;
      const place = placeOf(path, id);
      const item = { ...itemOf(place), ...members, ...answerOf(id) };
      items.set(place, item);
      if (partsOf) items.set(`${place}/parts/own`, itemOf('own'));
      answer(201, item, isPlaced ? { location: place } : {});
    } else if (isItem && method === 'DELETE') {
      items.delete(path);
      answer(204);
    } else if (isItem) {
      if (method === 'PUT') items.set(path, { ...itemOf(path), ...members });
      answer(200, items.get(path));
    } else if (path.endsWith('/lid') && items.has(parent)) answer(200, itemOf(path));
    else if (method === 'GET' && known && /s(?:\.json)?$/.test(path))
      answer(
        200,
        below.map(([, item]) => item),
      );
    else answer(404, {});
  });
  const url = await served(server);
  const yaml = `service: orders\ncontract: search\ncredentials: { scheme: bearer, key: example-key-for-tests }\nopenapi: ../openapi.json\nprovider: { url: '${url}' }\nsafety: { unsafeMethods: true, leaveItems: true }\nplan: { requests: 10000, window: 60s }\n`;
  const document = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    paths,
    components: { schemas },
  });
  const folder = temporaryFolder({ 'services/orders.yaml': yaml, 'openapi.json': document });
  const { config } = await loadOnly(folder);
  const outcome = await judgedInTurn(config, [operations], { url });
  return { sent, items: [...items.keys()], outcome };
}

/** The item at a path. */
function itemOf(path: string): object {
  return { id: path.split('/').at(-1)?.replace('.json', ''), name: 'a' };
}

/** Its operations that are called, of those that are documented. */
async function calledOf(...[paths, store]: Parameters<typeof runOf>): Promise<string> {
  const { outcome } = await runOf(paths, store);
  expect(outcome.outcomes['operations.status']).toBe('pass');
  const { called, documented } = outcome.observations['operations.coverage'] as Readonly<
    Record<string, number>
  >;
  return `${called} of ${documented}`;
}

const [id, part] = [inPath('id'), inPath('partId')];

describe('a read below a nested creation', () => {
  const old = { before: ['/toys/old'] };
  const paths = {
    '/toys': { ...list, ...create },
    '/toys/{id}': { parameters: [id], ...read, ...remove },
    '/toys/{id}/parts': { parameters: [id], ...create },
    '/toys/{id}/parts/{partId}': { parameters: [id, part], ...read },
  };

  it('follows it', async () => {
    expect(await calledOf(paths, old)).toBe('6 of 6');
  });

  it('follows it if examples of the document name nothing', async () => {
    const parameters = [inPath('id', 't0'), inPath('partId', 'p0')];
    const shown = { '/toys/{id}/parts/{partId}': { parameters, ...read } };
    expect(await calledOf({ ...paths, ...shown }, old)).toBe('6 of 6');
  });

  it('follows it in the item of the run if a list names another one first', async () => {
    const { '/toys': _, ...others } = paths;
    const made = (path: string, own: string) => `${path.replace(/\/create$/, '')}/${own}`;
    const split = { '/toys': list, '/toys/create': create };
    expect(await calledOf({ ...split, ...others }, { ...old, placeOf: made })).toBe('6 of 6');
  });
});

describe('an item whose identifier the schema of its path refuses', () => {
  const pathsWith = (schema: object) => ({
    '/toys': { ...list, ...create },
    '/toys/{id}': { parameters: [{ ...id, schema }], ...read, ...change, ...remove },
    '/toys/{id}/lid': { parameters: [{ ...id, schema }], ...change },
  });
  const before = ['/toys/a1'];

  it.each<[string, object]>([
    ['pattern', { type: 'string', pattern: '^a' }],
    ['format', { type: 'string', format: 'uuid' }],
    ['type', { type: 'integer' }],
  ])('is removed, and nothing else is sent to it: %s', async (_keyword, schema) => {
    const { sent, items, outcome } = await runOf(pathsWith(schema), { before });
    const toOwn = sent.filter((each) => each.includes('/toys/n'));
    expect(toOwn.length).toBeGreaterThan(0);
    expect(toOwn.filter((each) => !each.startsWith('DELETE'))).toEqual([]);
    expect(items).toEqual(before);
    expect(outcome.outcomes['operations.read-back']).toBe('blocked');
    expect(outcome.messages['operations.read-back']).toMatch(/which the schema of \{id\} refuses/);
  });

  it('is changed if the schema takes it', async () => {
    const { sent, outcome } = await runOf(pathsWith({ type: 'string', pattern: '^[an]' }), { before });
    expect(sent).toContainEqual(expect.stringMatching(/^PUT \/toys\/n\d+\/lid$/));
    expect(outcome.outcomes['operations.read-back']).toBe('pass');
  });
});

describe('a call that changes an item', () => {
  const toyPath = '/toys/{owner}/{toy}';
  const parameters = [inPath('owner'), inPath('toy')];
  const elsewhere = {
    '/mine/toys': { ...list, ...create },
    [toyPath]: { parameters, ...read, ...change, ...remove },
    [`${toyPath}/lid`]: { parameters, ...change },
  };
  const placeOf = (_path: string, own: string) => `/toys/me/${own}`;
  const changed = ({ sent }: { readonly sent: readonly string[] }) =>
    sent.filter((each) => /^(?:PUT|DELETE)/.test(each));

  it('is about the Location of a creation elsewhere, whose item is removed in the end', async () => {
    const store = { placeOf, before: ['/toys/you/old'], isPlaced: true };
    const { outcome, items, ...ran } = await runOf(elsewhere, store);
    expect(outcome.observations['operations.coverage']).toMatchObject({ documented: 6, called: 6 });
    expect(changed(ran)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^PUT \/toys\/me\/n\d\/lid$/)]),
    );
    expect(changed(ran).filter((each) => !each.includes('/toys/me/'))).toEqual([]);
    expect(items).toEqual(['/toys/you/old']);
  });

  it.each<[string, Parameters<typeof runOf>[1]]>([
    ['has no Location', { placeOf }],
    [
      'names what was read before',
      { placeOf: () => '/toys/you/old', before: ['/toys/you/old'], isPlaced: true },
    ],
  ])('is not made if the creation %s', async (_how, store) => {
    const paths = { ...elsewhere, '/toys/you/old': { get: answering(200) } };
    expect(changed(await runOf(paths, store))).toEqual([]);
  });

  it('takes what else is in its path from lists in the item of the run', async () => {
    const paths = {
      '/toys': { ...list, ...create },
      '/toys/{id}': { parameters: [id], ...read, ...remove },
      '/toys/{id}/parts': { parameters: [id], ...list },
      '/toys/{id}/parts/{partId}': { parameters: [id, part], ...change },
    };
    const { outcome, ...ran } = await runOf(paths, {
      before: ['/toys/old', '/toys/old/parts/p1'],
      partsOf: true,
    });
    expect(outcome.observations['operations.coverage']).toMatchObject({ documented: 6, called: 6 });
    expect(changed(ran).filter((each) => each.includes('old'))).toEqual([]);
  });

  const shown = (owner: string) => [inPath('owner', owner), inPath('toy')];
  const shownPaths = {
    '/{owner}/toys': { post: { ...create.post, parameters: [inPath('owner', 'me')] } },
    '/{owner}/toys/{toy}': { delete: { ...remove.delete, parameters: shown('you') } },
  };

  it('is sent where its item was created, whatever its own examples name', async () => {
    const ran = await runOf(shownPaths);
    expect(changed(ran)).toEqual(['DELETE /me/toys/n1']);
    expect(ran.outcome.outcomes['operations.status']).toBe('pass');
  });

  it('is at fault if its item is not there right after its creation', async () => {
    const ran = await runOf(shownPaths, {
      placeOf: (path, own) => `${path}/lost-${own}`,
      answerOf: () => ({ id: 'n1' }),
    });
    expect(new Set(changed(ran))).toEqual(new Set(['DELETE /me/toys/n1']));
    expect(ran.outcome.outcomes['operations.status']).not.toBe('pass');
  });

  it('is about an item whose paths name the format', async () => {
    const parameters = [inPath('AccountSid')];
    const paths = {
      '/Accounts.json': { ...list, ...create },
      '/Accounts/{Sid}.json': { parameters: [inPath('Sid')], ...read, ...change },
      '/Accounts/{AccountSid}/Calls.json': { parameters, ...list, ...create },
      '/Accounts/{AccountSid}/Calls/{Sid}.json': { parameters: [...parameters, inPath('Sid')], ...change },
    };
    const store = { placeOf: (path: string, own: string) => path.replace('.json', `/${own}.json`) };
    expect(await calledOf(paths, { ...store, before: ['/Accounts/old.json'] })).toBe('7 of 7');
  });

  it('is about an item whose metadata have its name', async () => {
    const named = (own: string) => ({
      kind: 'Toy',
      data: { name: 'other' },
      metadata: { name: own, labels: {} },
      name: undefined,
    });
    const paths = {
      '/toys': { ...create },
      '/toys/{name}': { parameters: [inPath('name')], ...change },
    };
    const { sent } = await runOf(paths, { answerOf: named });
    expect(sent.filter((each) => /^PUT/.test(each))).toEqual([expect.stringMatching(/^PUT \/toys\/n\d$/)]);
  });
});
