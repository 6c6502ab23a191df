import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../harness/base/fixtures/folder.ts';
import { served } from '../../harness/base/fixtures/server.ts';
import { loadOnly } from '../../harness/config/fixtures/config-folder.ts';
import { operations } from '../operations/operations.suite.ts';
import { type Judged, judgedInTurn } from './fixtures/judged.ts';

type Answer = (response: ServerResponse) => unknown;

const json =
  (value: unknown, fields: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json', ...fields }).end(JSON.stringify(value));

const refusing =
  (status: number): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');

const OK = { responses: { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } } };
const get = (...parameters: readonly object[]) => ({ get: { ...OK, parameters } });
/** What hostile values of a path, and other trials, have in common: none of them is a call that was found. */
const TRIAL = /conform|100%25|a{300}|9{25}/;
const inPath = (name: string, type = 'string') => ({ name, in: 'path', required: true, schema: { type } });

/** The GET requests of a run of a service that answers at these targets, and 404 elsewhere. */
async function requestsTo(
  paths: Readonly<Record<string, object>>,
  answers: Readonly<Record<string, Answer>>,
  more = '',
  credentials = '{ scheme: none }',
): Promise<{ readonly sent: readonly string[]; readonly outcome: Judged }> {
  const sent = new Set<string>();
  const server = createServer(({ method, url = '' }, response) => {
    const answer = answers[method === 'GET' ? url : `${method} ${url}`];
    if (method === 'GET' && !TRIAL.test(url)) sent.add(url);
    if (answer) answer(response);
    else response.writeHead(method === 'GET' ? 404 : 405, { allow: 'GET' }).end();
  });
  const url = await served(server);
  const yaml = `service: orders\ncontract: search\ncredentials: ${credentials}\nopenapi: ../openapi.json\nprovider: { url: '${url}' }\n${more}`;
  const document = JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths });
  const folder = temporaryFolder({ 'services/orders.yaml': yaml, 'openapi.json': document });
  const { config } = await loadOnly(folder);
  const outcome = await judgedInTurn(config, [operations], { url });
  return { sent: [...sent], outcome };
}

describe('a call that needs an identifier', () => {
  it('takes it from the list before it, level by level', async () => {
    const [org, repo] = [inPath('org'), inPath('repo_id', 'integer')];
    const { sent, outcome } = await requestsTo(
      {
        '/orgs': get(),
        '/orgs/{org}/repos': get(org),
        '/orgs/{org}/repos/{repo_id}': get(org, repo),
        '/orgs/{org}/repos/{repo_id}/tags': get(org, repo),
      },
      {
        '/orgs': json({ total: 2, items: [{ name: 'a b', org: 'acme' }] }),
        '/orgs/acme/repos': json([{ name: 'r', id: 'not-a-number', repoId: 7 }]),
        '/orgs/acme/repos/7': json({}),
        '/orgs/acme/repos/7/tags': json([]),
      },
    );
    expect(sent).toEqual(['/orgs', '/orgs/acme/repos', '/orgs/acme/repos/7', '/orgs/acme/repos/7/tags']);
    expect(outcome.outcomes['operations.status']).toBe('pass');
  });

  it('takes none that no path can carry', async () => {
    const { sent, outcome } = await requestsTo(
      { '/start': get(), '/pets/{petId}': get(inPath('petId')) },
      { '/start': json({ a: { petId: '\ud800' }, b: { petId: 'p1' } }), '/pets/p1': json({}) },
    );
    expect(sent).toEqual(['/start', '/pets/p1']);
    expect(Object.values(outcome.outcomes)).not.toContain('error');
  });

  it.each<[string, object, Answer]>([
    ['a member of that name', {}, json({ pet_id: 'p1' })],
    ['the identifier of a member that is such a thing', {}, json({ pet: { id: 'p1' } })],
    ['an item of a list of such things', {}, json({ pets: [{ id: 'p1' }] })],
    ['a list of identifiers', {}, json({ petId: 'p1', others: ['x'] })],
    ['an address', {}, json({ href: 'https://elsewhere.example/api/pets/p1' })],
    ['a Location', {}, json({}, { location: '/pets/p1' })],
  ])('takes it from %s', async (_, __, answer) => {
    const paths = { '/start': get(), '/pets/{petId}': get(inPath('petId')) };
    const { sent } = await requestsTo(paths, { '/start': answer, '/pets/p1': json({}) });
    expect(sent).toEqual(['/start', '/pets/p1']);
  });

  it('takes none from an address that does not fit, and none that fits the path alone', async () => {
    const id = inPath('petId', 'integer');
    const { sent, outcome } = await requestsTo(
      {
        '/start': get(),
        '/pets/{petId}': get(id),
        '/toys': get(),
        '/toys/{toyId}': get(inPath('toyId'), { ...inPath('toyId', 'integer'), in: 'query' }),
      },
      {
        '/start': json({ help: { href: '/pets/search' }, first: { href: '/pets/7' } }),
        '/pets/7': json({}),
        '/toys': json([{ toyId: 'a' }, { toyId: '8' }]),
        '/toys/8?toyId=8': json({}),
      },
    );
    // The last one tries whether the query is demanded.
    expect(sent).toEqual(['/start', '/toys', '/pets/7', '/toys/8?toyId=8', '/toys/8']);
    expect(outcome.outcomes['operations.status']).toBe('pass');
  });

  it('takes a value of the query as well, and encodes it', async () => {
    const account = { name: 'account_id', in: 'query', required: true, schema: { type: 'string' } };
    const paths = { '/accounts': get(), '/bills': get(account) };
    const answers = { '/accounts': json([{ id: 'a/1' }]), '/bills?account_id=a%2F1': json([]) };
    const { sent } = await requestsTo(paths, answers);
    expect(sent.slice(0, 2)).toEqual(['/accounts', '/bills?account_id=a%2F1']);
  });

  it('takes it in place of an example that names nothing, and for what follows', async () => {
    const id = { ...inPath('id'), example: 'shown' };
    const paths = { '/pets': get(), '/pets/{id}': get(id), '/toys/{id}': get(id) };
    const answers = { '/pets': json([{ id: 'p1' }]), '/pets/p1': json({}) };
    const { sent, outcome } = await requestsTo(paths, answers);
    expect(sent).toEqual(['/pets', '/pets/shown', '/toys/shown', '/pets/p1']);
    expect(outcome.messages['operations.status']).toContain(
      'got status 404 instead of 200 for GET /toys/{id} as documented [',
    );
    expect(outcome.messages['operations.coverage']).toContain('3 of 3 operations were called.');
  });

  it('takes another one where there is no such thing, until one is found or none is left', async () => {
    const paths = {
      '/pets': get(),
      '/pets/{id}': get(inPath('id')),
      '/toys': get(),
      '/toys/{id}': get(inPath('id')),
    };
    const { sent, outcome } = await requestsTo(paths, {
      '/pets': json([{ id: 'gone' }, { id: 'lost' }, { id: 'p3' }, { id: 'p4' }]),
      '/pets/p3': json({}),
      '/toys': json([{ id: 't1' }]),
    });
    expect(sent).toEqual(['/pets', '/toys', '/pets/gone', '/toys/t1', '/pets/lost', '/pets/p3']);
    expect(outcome.messages['operations.status']).toContain(
      '404 instead of 200 for GET /toys/{id} as documented [',
    );
    expect([outcome.faults['operations.status'], outcome.messages['operations.status']]).toEqual([
      'service',
      expect.not.stringContaining('/pets'),
    ]);
  });

  it('shows nothing by a value of an answer about something else', async () => {
    const paths = { '/status': get(), '/certificates/{fingerprint}': get(inPath('fingerprint')) };
    const server = json({ certificate_fingerprint: 'f1' });
    const { sent, outcome } = await requestsTo(paths, { '/status': server });
    expect(sent).toEqual(['/status', '/certificates/f1']);
    expect(outcome.outcomes['operations.status']).toBe('pass');
    expect(outcome.messages['operations.status']).toContain('/certificates/{fingerprint} (no list has');
    const listed = { '/certificates': get(), ...paths };
    const answers = { '/status': server, '/certificates': json([{ fingerprint: 'f2' }]) };
    expect((await requestsTo(listed, answers)).outcome.outcomes['operations.status']).toBe('fail');
  });

  it('takes it in place of an example that the service keeps to itself', async () => {
    const paths = { '/pets': get(), '/pets/{id}': get({ ...inPath('id'), example: 'shown' }) };
    const answers = { '/pets': json([{ id: 'p1' }]), '/pets/shown': refusing(403), '/pets/p1': json({}) };
    const { sent, outcome } = await requestsTo(paths, answers);
    expect(sent).toEqual(['/pets', '/pets/shown', '/pets/p1']);
    expect(outcome.outcomes['operations.status']).toBe('pass');
  });

  it.each([404, 403])(
    'shows nothing by an example where the document has things missing: %i',
    async (status) => {
      const responses = { ...OK.responses, 404: { description: 'missing' } };
      const item = { get: { responses, parameters: [{ ...inPath('id'), example: 'shown' }] } };
      const answers = { '/start': json({}), '/pets/shown': refusing(status) };
      const { outcome } = await requestsTo({ '/start': get(), '/pets/{id}': item }, answers);
      expect(outcome.outcomes['operations.status']).toBe('pass');
      expect(outcome.messages['operations.status']).toContain(
        `its example of "id" names nothing here, and is answered with status ${status}`,
      );
    },
  );

  it('takes it from the config first', async () => {
    const paths = {
      '/pets': get(),
      '/pets/{id}': get(inPath('id')),
      '/toys/{id}': get(inPath('id')),
    };
    const answers = { '/pets': json([{ id: 'p1' }]), '/pets/9': json({}), '/toys/t': json({}) };
    const more = 'parameters: { pets.id: 9, id: t }\n';
    expect((await requestsTo(paths, answers, more)).sent).toEqual(['/pets', '/pets/9', '/toys/t']);
  });

  it('is made with a made-up one where no answer has one, which is named where it names nothing', async () => {
    const paths = { '/pets': get(), '/toys/{toyId}': get(inPath('toyId', 'integer')) };
    const { sent, outcome } = await requestsTo(paths, { '/pets': json([{ id: 'p1' }]) });
    expect(sent).toEqual(['/pets', '/toys/1']);
    expect(outcome.outcomes['operations.status']).toBe('pass');
    expect(outcome.messages['operations.status']).toContain(
      'GET /toys/{toyId} (neither the document nor an answer has a value for the path parameter "toyId", and a made-up one gets 404; ',
    );
  });

  it('is named by the value that is missing, not by those that answers have', async () => {
    const tags = get(inPath('petId'), inPath('tagId'));
    const paths = { '/pets': get(), '/pets/{petId}/tags/{tagId}': tags };
    const { outcome } = await requestsTo(paths, { '/pets': json([{ id: 'p1' }]) });
    expect(outcome.messages['operations.status']).toContain('a value for the path parameter "tagId"');
  });

  it('is judged with a made-up one that is served, and others take their values from its answer', async () => {
    const [org, team] = [inPath('org_id_or_slug', 'integer'), inPath('team_slug', 'integer')];
    const { sent, outcome } = await requestsTo(
      {
        '/start': get(),
        '/orgs/{org_id_or_slug}/': get(org),
        '/teams/{org_id_or_slug}/{team_slug}/': get(org, team),
      },
      {
        '/start': json({}),
        '/orgs/1/': json({ id: 7, slug: 8, team: { slug: 5 } }),
        '/teams/1/5/': json({}),
      },
    );
    expect(sent).toEqual(['/start', '/orgs/1/', '/teams/1/5/']);
    expect(outcome.messages['operations.coverage']).toContain('3 of 3 operations were called.');
  });

  it('takes it from a list whose path ends with a slash', async () => {
    const paths = { '/pets/': get(), '/pets/{id}/': get(inPath('id')) };
    const answers = { '/pets/': json([{ id: 'p1' }]), '/pets/p1/': json({}) };
    expect((await requestsTo(paths, answers)).sent).toEqual(['/pets/', '/pets/p1/']);
  });

  it('is made after a creation whose answer has one', async () => {
    const made = { 201: { description: 'ok', content: { 'application/json': { schema: {} } } } };
    const paths = {
      '/start': get(),
      '/pets': { post: { responses: made } },
      '/pets/{petRef}': get(inPath('petRef')),
    };
    const answers = {
      '/start': json({}),
      'POST /pets': (response: ServerResponse) =>
        response.writeHead(201, { 'content-type': 'application/json' }).end('{"ref":"p1"}'),
      '/pets/p1': json({}),
    };
    const more = 'safety: { unsafeMethods: true, leaveItems: true }\n';
    const { sent, outcome } = await requestsTo(paths, answers, more);
    expect(sent).toEqual(['/start', '/pets/p1']);
    expect(outcome.messages['operations.coverage']).toContain('3 of 3 operations were called.');
  });

  it('is not made with a value that its schema refuses', async () => {
    const id = { ...inPath('id'), schema: { type: 'string', pattern: '^[0-9]+$' } };
    const paths = { '/pets': get(), '/pets/{id}': get(id) };
    const answers = { '/pets': json([{ id: '..' }, { id: 'x' }, { id: '12' }]), '/pets/12': json({}) };
    expect((await requestsTo(paths, answers)).sent).toEqual(['/pets', '/pets/12']);
  });
});

describe('a call that is refused', () => {
  const toys = { '/toys/{id}': get(inPath('id')) };
  const shown = { '/toys/{id}': get({ ...inPath('id'), example: 'shown' }) };
  const listed = { '/toys': get() };

  it.each([
    ['the service, which lacks a documented path', listed, '', 'fail', 'service'],
    ['the document, whose example names nothing', shown, '', 'warning', 'document'],
    ['the config, whose value names nothing', toys, 'parameters: { toys.id: 9 }\n', 'fail', 'config'],
    ['the service, as soon as one of them is', { ...listed, ...shown }, '', 'fail', 'service'],
  ] as const)('is the fault of %s', async (_, paths, more, verdict, fault) => {
    const { outcome } = await requestsTo({ '/start': get(), ...paths }, { '/start': json({}) }, more);
    expect([outcome.outcomes['operations.status'], outcome.faults['operations.status']]).toEqual([
      verdict,
      fault,
    ]);
  });

  it('was none if the document is to blame for the refusal', async () => {
    const { outcome } = await requestsTo({ '/start': get(), ...shown }, { '/start': json({}) });
    const covered = outcome.events.findLast((event) => event.type === 'operations');
    expect(covered?.operations).toContainEqual(
      expect.objectContaining({
        operation: 'GET /toys/{id}',
        notExercised: {
          reason: 'its example names nothing here, and is answered with status 404',
          why: 'unfit',
          fault: 'document',
        },
      }),
    );
  });

  it('is the refusal of a front where it leads to a login', async () => {
    const toLogin: Answer = (response) =>
      response.req.headers.authorization
        ? json({})(response)
        : response.writeHead(302, { location: '/in' }).end();
    const paths = { '/start': { get: { ...OK, security: [{ bearer: [] }] } } };
    const bearer = '{ scheme: bearer, key: example-key-for-tests }';
    const { outcome } = await requestsTo(paths, { '/start': toLogin }, '', bearer);
    expect([
      outcome.outcomes['operations.auth-required'],
      outcome.outcomes['operations.answer-status'],
      outcome.outcomes['operations.undocumented-refusal'],
    ]).toEqual(['fail', 'pass', 'warning']);
  });

  it('is the fault of the document where any proxy may refuse it and nothing is documented', async () => {
    const { outcome } = await requestsTo({ '/start': get() }, { '/start': json({}) });
    expect(outcome.faults['operations.undocumented-refusal']).toBe('document');
  });
});

describe('a finding', () => {
  const described = (schema: object, statuses: readonly number[] = [200]) => ({
    get: {
      parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
      responses: Object.fromEntries(
        statuses.map((status) => [
          status,
          { description: 'd', content: { 'application/json': { schema: status === 200 ? schema : {} } } },
        ]),
      ),
    },
  });
  const object = { type: 'object', properties: { a: { type: 'integer' } } };
  const closed = { ...object, required: ['b'], additionalProperties: false };

  it.each<[string, object, object, string, string]>([
    ['a member of another type', described(object), { a: 'x' }, 'schema', 'service'],
    ['a missing member', described({ ...object, required: ['b'] }), {}, 'schema', 'service'],
    ['what fits both of a oneOf', described({ oneOf: [object, object] }), { a: 1 }, 'schema', 'document'],
    ['what fits none of a oneOf', described({ oneOf: [object, closed] }), { a: 'x' }, 'schema', 'service'],
    ['a member that is demanded and forbidden', described(closed), { a: 1, b: 1 }, 'schema', 'document'],
    ['the lack of such a member', described(closed), { a: 1 }, 'schema', 'document'],
    ['an unnamed refusal of bad input', described({}, [200, 401]), {}, 'undocumented-refusal', 'document'],
    ['another refusal of bad input', described({}, [200, 400]), {}, 'answer-status', 'service'],
  ])('about %s has its side', async (_, path, answer, check, side) => {
    const badInput = '/start?limit=conform-not-an-integer';
    const answers = { '/start': json(answer), [badInput]: refusing(422) };
    const { outcome } = await requestsTo({ '/start': path }, answers);
    expect(outcome.faults[`operations.${check}`]).toBe(side);
  });

  it('about an operation that only a fragment tells from another one is held against the document', async () => {
    const paths = { '/start#a': described(object), '/start#b': described({ ...object, required: ['b'] }) };
    const { outcome } = await requestsTo(paths, { '/start': json({ a: 1 }) });
    expect(outcome.faults['operations.schema']).toBe('document');
  });

  it('is not about two identifiers that do not belong together', async () => {
    const person = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
    const content = { 'application/json': { schema: person } };
    const created = { responses: { 201: { description: 'd', content } } };
    const removed = { responses: { 204: { description: 'd' } } };
    const paths = {
      '/people': { ...get(), post: created },
      '/people/{id}': { parameters: [inPath('id')], ...get(), delete: removed },
      '/groups': get(),
      '/people/{id}/groups/{group_id}': { parameters: [inPath('id'), inPath('group_id')], delete: removed },
    };
    const answers = new Proxy<Record<string, Answer>>(
      {
        '/people': json([{ id: 'p1' }]),
        '/people/p1': json({ id: 'p1' }),
        '/groups': json([{ group_id: 'g1' }]),
        '/people/p9': json({ id: 'p9' }),
      },
      {
        get: (of, target: string) => {
          if (/^DELETE .*groups/.test(target)) return refusing(404);
          if (target.startsWith('DELETE '))
            return (response: ServerResponse) => response.writeHead(204).end();
          if (target !== 'POST /people') return of[target];
          return (response: ServerResponse) =>
            response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"p9"}');
        },
      },
    );
    const { outcome } = await requestsTo(
      paths,
      answers,
      'safety: { unsafeMethods: true, leaveItems: true }\n',
    );
    expect(outcome.outcomes['operations.status']).toBe('pass');
    expect(outcome.messages['operations.status']).toContain('Not exercised: DELETE /people/{id}/groups');
  });

  it('is not about requests that any server may find too long', async () => {
    const names = { type: 'array', maxItems: 100, items: { type: 'string', minLength: 90 } };
    const answers = new Proxy<Record<string, Answer>>(
      {},
      { get: (_, url) => (String(url).length > 8_000 ? refusing(414) : json({})) },
    );
    const { outcome } = await requestsTo(
      { '/start': get({ name: 'names', in: 'query', schema: names }) },
      answers,
    );
    expect(outcome.outcomes['operations.boundary-accepted']).not.toBe('fail');
  });
});

describe('a call with a value that nothing documents', () => {
  const level = { name: 'level', in: 'query', required: true, schema: { type: 'string' } };
  const withBody = (schema: object, ...codes: readonly number[]) => ({
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: Object.fromEntries([201, ...codes].map((code) => [code, { description: 'd' }])),
  });
  const name = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
  const shown = { ...name, properties: { name: { type: 'string', example: 'a' } } };
  const wide = { type: 'object', additionalProperties: { type: 'string' } };

  it.each([
    ['a text in the query, refused', get(level), 404, 'pass'],
    ['an example in the query, refused', get({ ...level, example: 'patient' }), 404, 'fail'],
    ['a text in the query that the service fails over', get(level), 500, 'fail'],
    ['a text in a body, refused', { post: withBody(name) }, 422, 'pass'],
    ['a body without members, refused', { post: withBody(wide) }, 400, 'pass'],
    ['an example in a body, refused', { post: withBody(shown) }, 422, 'fail'],
    ['a made-up password, refused', { post: withBody(name) }, 401, 'pass'],
    ['a text in a body that names nothing', { post: withBody(name, 404) }, 404, 'pass'],
    ['a text in a body for a path that is missing', { post: withBody(name) }, 404, 'fail'],
  ])('%s', async (_, item, status, outcome) => {
    const paths = { '/start': get(), '/uid': item };
    const answers = Object.fromEntries(
      ['/uid?level=aG88rL', '/uid?level=patient', 'POST /uid'].map((target) => [target, refusing(status)]),
    );
    const more = 'safety: { unsafeMethods: true, leaveItems: true }\n';
    const judged = (await requestsTo(paths, { '/start': json({}), ...answers }, more)).outcome;
    expect(judged.outcomes['operations.status']).toBe(outcome);
    const isNamed = judged.messages['operations.status']?.includes('made up, and is refused with status');
    expect(isNamed).toBe(outcome === 'pass');
  });
});

describe('two operations of one path', () => {
  it('are told apart by the query in their paths', async () => {
    const listOf = (type: string) => {
      const content = { 'application/json': { schema: { type: 'array', items: { type } } } };
      return { get: { responses: { 200: { description: 'ok', content } } } };
    };
    const paths = { '/pets': listOf('string'), '/pets?expand=true': listOf('object') };
    const answers = {
      '/pets': json(['p1']),
      '/pets?conform-unknown=1': json(['p1']),
      '/pets?expand=true': json([{ id: 'p1' }]),
      '/pets?expand=true&conform-unknown=1': json([{ id: 'p1' }]),
    };
    const { outcome } = await requestsTo(paths, answers);
    expect([outcome.outcomes['operations.schema'], outcome.messages['operations.schema']]).toEqual([
      'pass',
      '',
    ]);
  });
});

describe('a call that changes an item', () => {
  it('is made with one that the run has created, and with no other', async () => {
    const item = { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } };
    const content = { 'application/json': { schema: { ...item, required: ['id', 'name'] } } };
    const body = {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', example: 'a' } },
    };
    const requestBody = { required: true, content: { 'application/json': { schema: body } } };
    const answering = (status: number) => ({ [status]: { description: 'ok', content } });
    const paths = {
      '/pets': { ...get(), post: { requestBody, responses: answering(201) } },
      '/pets/{id}': {
        parameters: [inPath('id')],
        get: { responses: answering(200) },
        delete: { responses: { 204: { description: 'gone' } } },
      },
      '/pets/{pet_id}/notes/create': {
        parameters: [inPath('pet_id')],
        post: { requestBody, responses: answering(201) },
      },
      '/pets/{pet_id}/notes/{note}': {
        parameters: [inPath('pet_id'), inPath('note')],
        delete: { responses: { 204: { description: 'gone' } } },
      },
    };
    const pets = new Map([['old', { id: 'old', name: 'b' }]]);
    const deleted: string[] = [];
    const notes: string[] = [];
    const url = await served(
      createServer(({ method, url: target = '' }, response) => {
        const id = target.split('?')[0]?.slice('/pets/'.length) ?? '';
        if (id.includes('/notes')) {
          notes.push(`${method} ${id}`);
          const note = JSON.stringify({ id: 'n1', name: 'a' });
          if (method === 'POST') response.writeHead(201, { 'content-type': 'application/json' }).end(note);
          else response.writeHead(method === 'DELETE' ? 204 : 405).end();
        } else if (method === 'POST') {
          const pet = { id: `new-${pets.size}`, name: 'a' };
          pets.set(pet.id, pet);
          response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(pet));
        } else if (method === 'DELETE') {
          deleted.push(id);
          response.writeHead(pets.delete(id) ? 204 : 404).end();
        } else json(id === '' ? [...pets.values()] : (pets.get(id) ?? {}))(response);
      }),
    );
    const yaml = `service: orders\ncontract: search\ncredentials: { scheme: bearer, key: example-key-for-tests }\nopenapi: ../openapi.json\nprovider: { url: '${url}' }\nsafety: { unsafeMethods: true }\n`;
    const document = JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths });
    const folder = temporaryFolder({ 'services/orders.yaml': yaml, 'openapi.json': document });
    const { config } = await loadOnly(folder);
    const { observations } = await judgedInTurn(config, [operations], { url });
    expect(observations['operations.coverage']).toMatchObject({ documented: 6, called: 6 });
    expect(deleted.length).toBeGreaterThan(0);
    expect(deleted).not.toContain('old');
    expect([...pets.keys()]).toEqual(['old']);
    expect(notes).toContainEqual(expect.stringMatching(/^DELETE new-\d+\/notes\/n1$/));
    expect(notes.filter((each) => each.includes('old'))).toEqual([]);
  });
});
