import { describe, expect, it } from 'vitest';
import { type PactFile, readPact } from './pact-file.ts';
import { distinct, type ExpectedInteraction } from './pacts.ts';

type Pact = Readonly<Record<string, unknown>>;

const HTTP = {
  description: 'a list',
  request: { method: 'get', path: '/v1/resources' },
  response: { status: 200 },
};

function pactWith(change: Pact): Pact {
  return { consumer: { name: 'Web Shop' }, provider: { name: 'search' }, ...change };
}

function read(change: Pact, from: Parameters<typeof readPact>[1] = { source: 'a.json' }): PactFile {
  const pact = readPact(JSON.stringify(pactWith(change)), from);
  if ('fault' in pact) throw new Error(pact.fault.problem);
  return pact;
}

function faultOf(text: string) {
  const pact = readPact(text, { source: 'a.json' });
  if (!('fault' in pact)) throw new Error('it is a pact');
  return pact.fault;
}

function only({ interactions: [interaction] }: PactFile): ExpectedInteraction {
  if (interaction === undefined) throw new Error('there is no interaction');
  return interaction;
}

describe('a pact file', () => {
  it.each([
    ['1', { pactSpecificationVersion: '1.0.0' }, { provider_state: 'some' }],
    ['2', { 'pact-specification': { version: '2.0.0' } }, { providerState: 'some' }],
    ['3', { pactSpecification: { version: '3.0.0' } }, { providerStates: [{ name: 'some' }] }],
    [
      '4',
      { pactSpecification: { version: '4.0' } },
      { type: 'Synchronous/HTTP', providerStates: [{ name: 'some', params: { n: 1 } }] },
    ],
  ])('is read in specification %s', (_version, metadata, more) => {
    expect(only(read({ metadata, interactions: [{ ...HTTP, ...more }] }))).toMatchObject({
      id: 'web-shop.a-list.some',
      consumer: 'Web Shop',
      description: 'a list',
      states: ['some'],
      kind: 'http',
      method: 'GET',
      status: 200,
      unsupported: null,
      pending: false,
    });
  });

  it('may hold messages, in specification 3 and 4', () => {
    const three = read({ messages: [{ description: 'an event', contents: { id: 1 } }] });
    const four = read({
      interactions: [{ type: 'Asynchronous/Messages', description: 'an event', contents: {} }],
    });
    for (const pact of [three, four])
      expect(only(pact)).toMatchObject({ kind: 'message', method: null, status: null });
  });

  it('tells of what cannot be verified, instead of dropping it', () => {
    const reply = only(read({ interactions: [{ type: 'Synchronous/Messages', description: 'a question' }] }));
    const plugin = only(read({ interactions: [{ ...HTTP, pluginConfiguration: { protobuf: {} } }] }));
    expect(reply.unsupported).toContain('a message with a reply');
    expect(plugin.unsupported).toContain('the Pact plugin protobuf');
  });

  it('gives each interaction as a pact of its own, with nothing that leads elsewhere', () => {
    const { interactions } = read({
      interactions: [HTTP, { ...HTTP, description: 'another', _id: 'i2' }],
      metadata: { pactSpecification: { version: '4.0' }, 'pact-js': { version: '1' } },
      _links: { self: { href: 'https://broker.example' } },
    });
    expect(interactions.map(({ pact }) => JSON.parse(pact))).toEqual(
      [HTTP, { ...HTTP, description: 'another' }].map((interaction) =>
        pactWith({ interactions: [interaction], metadata: { pactSpecification: { version: '4.0' } } }),
      ),
    );
    expect(interactions[1]?.origins).toEqual([{ source: 'a.json', brokerId: 'i2' }]);
  });

  it('keeps numbers as they are written, since 1.0 and 1 are two types to Pact', () => {
    const body = '{"rate":1.0,"big":12345678901234567890,"small":1e-7,"plain":7}';
    const text = JSON.stringify(
      pactWith({ interactions: [{ ...HTTP, request: { method: 'POST', path: '/', body: '§' } }] }),
    );
    const pact = readPact(text.replace('"§"', body), { source: 'a.json' });
    if ('fault' in pact) throw new Error(pact.fault.problem);
    expect(only(pact).pact).toContain(body);
  });

  it('is pending by itself or by the broker', () => {
    expect(only(read({ interactions: [{ ...HTTP, pending: true }] })).pending).toBe(true);
    expect(only(read({ interactions: [HTTP] }, { source: 'a', pending: true })).pending).toBe(true);
  });

  it.each<[text: string, problem: string, place?: readonly number[]]>([
    ['', 'is not JSON', [1, 1]],
    ['{\n  "consumer": x', 'is not JSON', [2, 15]],
    ['[]', 'it holds no JSON object'],
    ['{}', 'consumer.name is missing'],
    ['{ "consumer": { "name": "a" } }', 'provider.name is missing'],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'levels deep'],
  ])('is refused when it is none: %#', (text, problem, place = []) => {
    const { problem: told, line, column } = faultOf(text);
    expect(told).toContain(problem);
    expect([line, column].filter((each) => each !== undefined)).toEqual(place);
  });

  it.each([
    [{ interactions: {} }, 'interactions is no list'],
    [{ interactions: ['a'] }, 'interactions[0] is no object'],
    [{ interactions: [{}] }, 'interactions[0].description is missing'],
    [{ interactions: [{ description: 'x' }] }, 'interactions[0].request is missing'],
    [{ interactions: [{ ...HTTP, request: {} }] }, 'request.method is missing'],
    [{ interactions: [{ ...HTTP, request: { method: 'GET' } }] }, 'request.path is missing'],
    [{ interactions: [{ ...HTTP, response: undefined }] }, 'response is missing'],
    [{ interactions: [{ ...HTTP, response: { status: 'ok' } }] }, 'no status code'],
    [{ interactions: [{ ...HTTP, type: 'Other' }] }, 'type is none of'],
    [{ interactions: [{ ...HTTP, providerStates: [{}] }] }, 'providerStates[0].name'],
    [{ metadata: { pactSpecification: { version: '5.0' } } }, 'specification 5'],
  ])('is refused when a part of it is wrong: %j', (change, problem) => {
    expect(faultOf(JSON.stringify(pactWith(change))).problem).toContain(problem);
  });
});

describe('the id of an interaction', () => {
  const idOf = (consumer: string, description: string, ...states: readonly string[]) =>
    only(
      read({
        consumer: { name: consumer },
        interactions: [{ ...HTTP, description, providerStates: states.map((name) => ({ name })) }],
      }),
    ).id;

  it('is made of words in lower case', () => {
    expect(idOf('WebShop', 'A request for "Ärzte" (all)', 'Some exist')).toBe(
      'webshop.a-request-for-arzte-all.some-exist',
    );
  });

  it('tells apart what words in ASCII do not', () => {
    const [one, other] = [idOf('a', '検索'), idOf('a', '更新')];
    expect(one).not.toBe(other);
    const long = 'x'.repeat(70);
    expect(idOf('a', `${long}1`)).not.toBe(idOf('a', `${long}2`));
    for (const id of [one, idOf('a', long), idOf('a', '!'), idOf('a', '')])
      expect(id).toMatch(/^[a-z0-9.-]+$/);
  });

  it('does not depend on what else the pact holds', () => {
    const { interactions } = read({ interactions: [{ ...HTTP, description: 'new' }, HTTP] });
    expect(interactions[1]?.id).toBe(only(read({ interactions: [HTTP] })).id);
  });
});

describe('interactions of several pacts', () => {
  const from = (source: string, change: Pact = {}, pending = false) =>
    read({ interactions: [{ ...HTTP, ...change, _id: `${source}-id` }] }, { source, pending }).interactions;

  it('are one where they say the same', () => {
    const all = distinct([...from('a'), ...from('b')]);
    expect(all).toHaveLength(1);
    expect(all[0]?.origins).toEqual([
      { source: 'a', brokerId: 'a-id' },
      { source: 'b', brokerId: 'b-id' },
    ]);
  });

  it('stay apart where versions of them differ', () => {
    const all = distinct([...from('a'), ...from('b', { response: { status: 404 } })]);
    expect(all).toHaveLength(2);
    expect(new Set(all.map(({ id }) => id)).size).toBe(2);
    for (const { id } of all) expect(id).toMatch(/^web-shop\.a-list\.[0-9a-f]{8}$/);
  });

  it('are pending only where all say so', () => {
    expect(distinct([...from('a', {}, true), ...from('b')])[0]?.pending).toBe(false);
    expect(distinct([...from('a', {}, true), ...from('b', {}, true)])[0]?.pending).toBe(true);
  });
});
