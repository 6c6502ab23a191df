import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Draft } from '../draft.ts';
import {
  choice,
  duration,
  flag,
  json,
  jsonSchema,
  list,
  mapping,
  named,
  needed,
  text,
  whole,
} from '../shape/kinds.ts';
import { didYouMean } from '../yaml/nearest.ts';
import { readSchema } from '../yaml/schema-file.ts';
import { loadDialect, NoDialect } from './dialect.ts';
import { readDuration } from './limits-block.ts';
import type { HandshakeKeyPlace, MessagePair, WebSocketConfig } from './websocket.ts';

export const WEBSOCKET = mapping(
  'The WebSocket endpoint of the service.',
  { expected: 'a mapping such as { url: /ws }', nullable: true, def: 'websocket' },
  {
    url: needed(
      text('Path below the base address, or an absolute ws or wss URL.', {
        expected: 'a path such as /ws, or a ws or wss URL',
      }),
    ),
    dialect: text(
      'What is spoken over it: raw messages, the pusher protocol, or the path of a module of yours that says how to speak it, relative to this file.',
      {
        default: 'raw',
        expected: 'raw, pusher, or the path of a module',
        examples: ['raw', 'pusher', '../dialects/chat.ts'],
      },
    ),
    echo: flag('The endpoint sends back each message it gets; checks that need an answer then run.', {
      default: false,
    }),
    exchange: list(
      'Messages that are answered, and what the answer looks like. They are sent several times.',
      { maxItems: 20, nullable: true, expected: 'a list of messages with their answers' },
      mapping(
        '',
        { expected: 'a mapping such as { send: { ask: time }, expect: { required: [time] } }' },
        {
          send: needed(
            json('A text as it is sent, or a JSON value, which is sent as its text.', {
              expected: 'a text or a JSON value',
            }),
          ),
          expect: needed(jsonSchema('JSON Schema (2020-12) of the answer')),
        },
      ),
    ),
    messages: named(
      'JSON Schemas of what the service sends, by the name of the event in the dialect.',
      { nullable: true, expected: 'a mapping such as { price: schemas/price.json }' },
      jsonSchema('JSON Schema (2020-12) of the event'),
    ),
    origin: text('The only origin whose pages may connect, where there is such a policy.', {
      default: null,
      expected: 'an origin such as https://app.example',
    }),
    subprotocols: list(
      'Subprotocols to offer, best first.',
      { uniqueItems: true, default: [], expected: 'a list of subprotocol names' },
      text('Name of a subprotocol.'),
    ),
    credential: mapping(
      'Where the key stands in the opening handshake, where that is not its place in other requests.',
      { nullable: true, expected: 'a mapping such as { in: subprotocol, prefix: bearer. }' },
      {
        in: needed(
          choice(
            'subprotocol: an element of Sec-WebSocket-Protocol behind a prefix. none: the handshake carries no key.',
            ['header', 'query', 'subprotocol', 'none'],
          ),
        ),
        name: text('Of the header or the query parameter.'),
        prefix: text('What comes before the key in the subprotocol.'),
        encoding: choice('Of the key in the subprotocol. Default: base64url.', ['base64url', 'plain']),
      },
    ),
    refusalCode: whole(
      'The documented close code with which a bad credential is refused, where the connection is opened first.',
      { minimum: 1008, maximum: 4999, expected: 'a close code such as 4401' },
    ),
    // No conversation lasts much longer.
    keepsIdle: duration(
      'So long a connection on which only pings are answered must be kept. Without it what happens is observed for 2s.',
      { atMost: '150s' },
    ),
  },
);

const MODULE = /\.[cm]?[jt]s$/;
/** No conversation lasts much longer. */
const MAX_IDLE_MS = 150_000;

/** RFC 6455 §4.1: elements are tokens of RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** @throws UsageError for an address that is none, an origin with a path, a subprotocol that is no token … */
export async function buildWebSocket(draft: Draft): Promise<WebSocketConfig | null> {
  const { blocks, faultAt, origins } = draft;
  const { websocket } = blocks;
  if (!websocket) return null;
  const { url, echo, origin, subprotocols, refusalCode, keepsIdle } = websocket;
  if (url === undefined) throw faultAt('websocket.url', 'is missing', 'add `url:`, a path such as /ws');
  holdToAddress(url, (problem, remedy) => faultAt('websocket.url', problem, remedy));
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).origin !== origin)) {
    throw faultAt(
      'websocket.origin',
      'is not an origin',
      'write scheme, host and port only: https://app.example',
    );
  }
  for (const [index, name] of (subprotocols ?? []).entries()) {
    if (!TOKEN.test(name)) {
      throw faultAt(`websocket.subprotocols.${index}`, 'is not a token', 'use letters, digits and - . _');
    }
  }
  for (const key of ['dialect', 'echo'] as const) {
    if (websocket[key] === undefined) origins.set(`websocket.${key}`, { kind: 'default' });
  }
  const exchange = await pairsOf(draft);
  const messages = await messagesOf(draft);
  const credential = keyPlaceOf(draft);
  return {
    url,
    ...(await dialectOf(draft)),
    echo: echo ?? false,
    ...(exchange.length > 0 ? { exchange } : {}),
    ...(messages === null ? {} : { messages }),
    origin: origin ?? null,
    subprotocols: subprotocols ?? [],
    ...(credential === null ? {} : { credential }),
    ...(refusalCode === undefined ? {} : { refusalCode }),
    ...(keepsIdle === undefined
      ? {}
      : { keepsIdleMs: readDuration(draft, 'websocket.keepsIdle', keepsIdle, MAX_IDLE_MS) }),
  };
}

/** The name of a shipped dialect, or the module of another, which must be there. */
async function dialectOf({
  blocks,
  faultAt,
  scope,
}: Draft): Promise<Pick<WebSocketConfig, 'dialect' | 'adapter'>> {
  const dialect = blocks.websocket?.dialect ?? 'raw';
  if (dialect === 'raw' || dialect === 'pusher') return { dialect };
  if (!MODULE.test(dialect)) {
    throw faultAt(
      'websocket.dialect',
      `${JSON.stringify(dialect)} is not known`,
      `${didYouMean(dialect, ['raw', 'pusher'])}; or name a module of yours, such as ../dialects/chat.ts`,
    );
  }
  const adapter = resolve(scope.folder, dialect);
  const found = await stat(adapter).catch(() => null);
  if (!found?.isFile()) {
    throw faultAt(
      'websocket.dialect',
      `there is no module ${dialect}`,
      'write raw, pusher, or the path of a module, relative to this file',
    );
  }
  try {
    await loadDialect(adapter);
  } catch (error) {
    if (!(error instanceof NoDialect)) throw error;
    throw faultAt('websocket.dialect', `the module ${dialect}: ${error.message}`, 'see docs/dialects.md');
  }
  return { dialect: 'own', adapter };
}

async function pairsOf(draft: Draft): Promise<readonly MessagePair[]> {
  const pairs: MessagePair[] = [];
  for (const [index, { send, expect }] of (draft.blocks.websocket?.exchange ?? []).entries()) {
    const schema = await readSchema(draft, `websocket.exchange.${index}.expect`, expect);
    pairs.push({ send: typeof send === 'string' ? send : JSON.stringify(send), expect: schema });
  }
  return pairs;
}

async function messagesOf(draft: Draft): Promise<Readonly<Record<string, unknown>> | null> {
  const named = Object.entries(draft.blocks.websocket?.messages ?? {});
  if (named.length === 0) return null;
  const schemas: [string, unknown][] = [];
  for (const [event, schema] of named) {
    schemas.push([event, await readSchema(draft, `websocket.messages.${event}`, schema)]);
  }
  return Object.fromEntries(schemas);
}

function keyPlaceOf({ blocks, faultAt }: Draft): HandshakeKeyPlace | null {
  const place = blocks.websocket?.credential;
  if (!place) return null;
  if (place.in === 'subprotocol') {
    const prefix = place.prefix ?? '';
    if (prefix !== '' && !TOKEN.test(prefix)) {
      throw faultAt('websocket.credential.prefix', 'is not part of a token', 'use letters, digits and - . _');
    }
    return { in: place.in, prefix, encoding: place.encoding ?? 'base64url' };
  }
  if (place.in === 'none') return { in: place.in };
  if (place.name === undefined || !TOKEN.test(place.name)) {
    throw faultAt(
      'websocket.credential.name',
      place.name === undefined ? 'is missing' : 'is not a name',
      `name the ${place.in === 'query' ? 'query parameter' : 'header field'}`,
    );
  }
  return { in: place.in, name: place.name };
}

function holdToAddress(text: string, fault: (problem: string, remedy: string) => Error): void {
  const remedy = 'write a path such as /ws, or a ws or wss URL';
  if (text.includes('#')) throw fault('holds a fragment, which RFC 6455 §3 forbids', 'leave it out');
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw fault('holds white space or non-ASCII characters', 'percent-encode them');
  }
  if (text.startsWith('/') && !text.startsWith('//')) return;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'ws:' && url?.protocol !== 'wss:') throw fault('is no WebSocket address', remedy);
  if (url.username !== '' || url.password !== '') {
    throw fault('holds a user name or password', 'move it to `credentials:`');
  }
}
