import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../base/fixtures/folder.ts';
import { SchemaBook } from '../../../wire/json/schema.ts';
import { loadServices } from '../../load.ts';
import type { AsyncApiOptions } from '../addresses.ts';
import { readAsyncApi } from '../asyncapi.ts';
import type { DocumentedMessages } from '../documented-messages.ts';
import { pairsOf, withAddress } from '../endpoints.ts';

const BEARER = { scheme: 'bearer' } as const;

async function read(path: string, options: Partial<AsyncApiOptions> = {}): Promise<DocumentedMessages> {
  const found = await readAsyncApi(path, { shown: 'doc.yaml', configured: BEARER, basePath: '', ...options });
  if ('fault' in found) throw new Error(found.fault.problem);
  return found;
}

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

const operationsOf = ({ endpoints }: DocumentedMessages) => endpoints.flatMap(({ operations }) => operations);

describe('a document of AsyncAPI 3', () => {
  it('is read from the side of a client', async () => {
    const document = await read(fixture('prices-3.0.yaml'));
    const [endpoint] = document.endpoints;
    expect([endpoint?.target, endpoint?.fields]).toEqual([
      '/stream/prices/acme?format=json',
      [['X-Client', 'desk']],
    ]);
    expect(document.keyPlace).toEqual({ in: 'query', name: 'token' });
    expect(
      operationsOf(document).map(({ id, action, replies, unfit }) => [id, action, replies, unfit]),
    ).toEqual([
      ['askAlive', 'send', ['pong'], null],
      ['placeOrder', 'send', null, 'its reply comes over another connection'],
      ['tellPrice', 'receive', null, null],
    ]);
    expect(
      document.elsewhere.map(({ reason, operations }) => [reason, operations.map(({ id }) => id)]),
    ).toEqual([['is served over amqp, and not over a WebSocket', ['keepAudit']]]);
  });

  it('has messages with their kinds, correlation and schemas in their formats', async () => {
    const { endpoints, definitions } = await read(fixture('prices-3.0.yaml'));
    const messages = new Map(endpoints[0]?.messages.map((each) => [each.name, each]));
    expect(
      [...messages.values()].map(({ name, kind, correlation }) => [name, kind?.values, correlation]),
    ).toEqual([
      ['ping', ['ping'], ['id']],
      ['pong', ['pong'], ['id']],
      ['place', ['place'], null],
      ['price', ['price'], null],
      ['failed', undefined, null],
    ]);
    const judge = (name: string, value: unknown) =>
      new SchemaBook(definitions).compile(messages.get(name)?.schema)(value)?.message ?? null;
    expect(judge('price', { type: 'price', price: null })).toBeNull();
    expect(judge('price', { type: 'price', price: 0 })).toMatch('price');
    expect(judge('pong', { type: 'pong' })).toMatch('id');
    expect(messages.get('failed')?.schema).toBeNull();
  });

  it('has texts to send, each with what it risks and a like one with a fault', async () => {
    const [alive, place] = operationsOf(await read(fixture('prices-3.0.yaml')));
    expect(alive?.texts).toEqual([
      {
        ...{ message: 'ping', risk: null, id: 'conform-1' },
        text: '{"type":"ping","id":"conform-1"}',
        unfitText: '{"type":"ping","id":17}',
      },
    ]);
    expect(place?.texts[0]).toMatchObject({ risk: 'changes', text: '{"type":"place","amount":5}' });
  });

  it('names what it leaves out', async () => {
    const { remarks } = await read(fixture('prices-3.0.yaml'));
    expect(remarks.map(({ place, text }) => `${place} ${text}`)).toMatchSnapshot();
  });

  it('lends its first harmless message to other rules, with one schema of the reply', async () => {
    const { endpoints, definitions } = await read(fixture('prices-3.0.yaml'));
    const [pair] = endpoints[0] === undefined ? [] : pairsOf(endpoints[0], definitions);
    expect(pair?.send).toMatch('ping');
    const judge = new SchemaBook().compile(pair?.expect);
    expect([judge({ type: 'pong', id: 'a' }), judge({ type: 'price' })?.keyword]).toEqual([null, 'anyOf']);
  });

  it('takes values of parameters, and an address, from the config', async () => {
    const path = fixture('prices-3.0.yaml');
    const { endpoints } = await read(path, { parameters: { symbol: 'a/b' }, basePath: '/stream' });
    expect(endpoints[0]?.target).toBe('/prices/a%2Fb?format=json');
    const given = withAddress(await read(path), '/other');
    expect(given.map(({ target }) => target)).toEqual(['/other']);
  });
});

describe('a document of AsyncAPI 2', () => {
  it('publishes what a client sends, and subscribes to what it hears', async () => {
    const document = await read(fixture('chat-2.6.yaml'), { configured: { scheme: 'none' } });
    expect(
      operationsOf(document).map(({ id, action, texts }) => [id, action, texts.map(({ text }) => text)]),
    ).toEqual([
      ['say', 'send', ['{"event":"say","text":"hello"}', '{"event":"ping"}']],
      ['hear', 'receive', []],
      ['lost', 'send', []],
    ]);
    expect(document.endpoints.map(({ target }) => target)).toEqual(['/v1/room', '/v1/broken']);
    expect(document.remarks.map(({ text }) => text)).toMatchSnapshot();
  });

  it('may describe a client instead', async () => {
    const document = await read(fixture('chat-2.6.yaml'), { isClient: true });
    expect(operationsOf(document).map(({ id, action }) => [id, action])).toEqual([
      ['say', 'receive'],
      ['hear', 'send'],
      ['lost', 'receive'],
    ]);
  });
});

describe('an overlay of the config', () => {
  const PATHS = ['chat.yaml', 'chat.overlay.yaml'] as const;
  const loaded = async (target: string) => {
    const [document, overlay] = PATHS;
    const actions = `overlay: 1.0.0\nactions: [{ target: "$.channels['${target}']", remove: true }]\n`;
    const config = `service: chat\nprovider: { url: 'https://chat.example' }\ncredentials: { scheme: none }\nasyncapi: ${document}\noverlays: [${overlay}]\n`;
    const chat = readFileSync(fixture('chat-2.6.yaml'), 'utf8');
    const messages = readFileSync(fixture('messages.yaml'), 'utf8');
    const folder = temporaryFolder({
      'conform.yaml': config,
      [document]: chat,
      [overlay]: actions,
      'messages.yaml': messages,
    });
    const { services } = await loadServices({ configDir: join(folder, 'conform.yaml'), env: {} });
    return services[0]?.config.websocket?.documented?.endpoints.flatMap(({ operations }) =>
      operations.map(({ id }) => id),
    );
  };

  it('changes the document where there is no OpenAPI document', async () => {
    expect(await loaded('/broken')).toEqual(['say', 'hear']);
    await expect(loaded('/brokn')).rejects.toThrow('selects nothing');
  });
});

describe('a document that is none', () => {
  it.each([
    ['openapi: 3.1.0', 'is no AsyncAPI document'],
    ['asyncapi: 1.2.0', 'version 1.2.0 is not read'],
    ['asyncapi: 3.0.0\nchannels: {}', 'describes no operation that can be read'],
  ])('is refused: %s', async (text, problem) => {
    await expect(read(join(temporaryFolder({ 'doc.yaml': text }), 'doc.yaml'))).rejects.toThrow(problem);
  });
});

describe('the document of the realtime service', () => {
  it('has the address of the config, and messages of any form', async () => {
    const document = await read(
      fileURLToPath(new URL('../../../../config/asyncapi/realtime.yaml', import.meta.url)),
    );
    expect(document.endpoints).toEqual([]);
    const [endpoint] = withAddress(document, '/ws');
    expect(endpoint?.target).toBe('/ws');
    expect(endpoint?.messages.map(({ name, schema }) => [name, schema])).toEqual([['message', null]]);
    expect(endpoint?.operations.map(({ id, action, unfit }) => [id, action, unfit])).toEqual([
      ['fromClient', 'send', 'message: it has neither a schema nor an example'],
      ['fromService', 'receive', null],
    ]);
  });
});
