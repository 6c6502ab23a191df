import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FieldLine } from '../../wire/exchange.ts';
import { isToken } from '../../wire/fields/grammar/field-grammar.ts';
import type { DocumentedMessages, MessageOperation } from '../asyncapi/documented-messages.ts';
import { operationsElsewhere, pairsOf, withAddress } from '../asyncapi/endpoints.ts';
import type { HandshakePlace } from '../credential/carrier.ts';
import type { Draft } from '../draft/draft.ts';
import { readSchema } from '../draft/schema-file.ts';
import {
  choice,
  duration,
  type Fault,
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
import type { Loaded } from '../shape/loaded.ts';
import { token, withoutUser } from '../shape/text-forms.ts';
import { didYouMean } from '../yaml/nearest.ts';
import {
  asText,
  DIALECTS,
  HEARTBEAT,
  type Heartbeat,
  heartbeatOfSubprotocols,
  isHeartbeat,
  loadDialect,
  NoDialect,
  SHIPPED_DIALECTS,
  type ShippedDialect,
} from './dialect.ts';

function webSocketAddress(text: string, fault: Fault): string {
  const remedy = 'write a path such as /ws, or a ws or wss URL';
  if (text.includes('#')) throw fault('holds a fragment, which RFC 6455 §3 forbids', 'leave it out');
  if (!/^[\x21-\x7e]+$/.test(text))
    throw fault('holds white space or non-ASCII characters', 'percent-encode them');
  if (text.startsWith('/') && !text.startsWith('//')) return text;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'ws:' && url?.protocol !== 'wss:') throw fault('is no WebSocket address', remedy);
  withoutUser(url, fault, 'move it to `credentials:`');
  return text;
}

function origin(text: string, fault: Fault): string {
  if (URL.canParse(text) && new URL(text).origin === text) return text;
  throw fault('is not an origin', 'write scheme, host and port only: https://app.example');
}

const pair = (description: string, example: string, more: { readonly nullable?: true } = {}) =>
  mapping(
    description,
    { expected: `a mapping such as ${example}`, ...more },
    {
      send: needed(
        json('A text as it is sent, or a JSON value, which is sent as its text.', {
          expected: 'a text or a JSON value',
          read: asText,
        }),
      ),
      expect: needed(jsonSchema('JSON Schema of the answer')),
    },
  );

const LISTED = SHIPPED_DIALECTS.join(', ');
const KEY_ENCODINGS = ['base64url', 'plain'] as const;

export const WEBSOCKET = mapping(
  'The WebSocket endpoint of the service.',
  { expected: 'a mapping such as { url: /ws }', nullable: true, def: 'websocket' },
  {
    url: text(
      'Path below the base URL, or an absolute ws or wss URL. Needed unless `asyncapi` says it; this one goes before that.',
      { expected: 'a path such as /ws, or a ws or wss URL', read: webSocketAddress },
    ),
    dialect: text(
      'The protocol: raw messages, pusher, or the path of a module of yours that speaks another one, relative to this file.',
      {
        default: 'raw',
        expected: `${LISTED}, or the path of a module`,
        examples: [...SHIPPED_DIALECTS, '../dialects/chat.ts'],
      },
    ),
    echo: flag('The endpoint sends back each message it gets; checks that need an answer then run.', {
      default: false,
    }),
    exchange: list(
      'A message, and the form of its answer. It is sent several times.',
      { maxItems: 20, nullable: true, expected: 'a list of messages with their answers' },
      pair('', '{ send: { ask: time }, expect: { required: [time] } }'),
    ),
    login: pair(
      'The message with which a client logs in before those of `exchange`, and the form of its answer. Leave it out if the service needs no login.',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference, as it stands in a config
      '{ send: { login: "${env:KEY}" }, expect: { required: [ok] } }',
      { nullable: true },
    ),
    heartbeat: HEARTBEAT,
    messages: named(
      'JSON Schemas of the messages of the service, by the name of the event in the dialect.',
      { nullable: true, expected: 'a mapping such as { price: schemas/price.json }' },
      jsonSchema('JSON Schema of the event'),
    ),
    origin: text('The only origin whose pages may connect, if the service has such a rule.', {
      default: null,
      expected: 'an origin such as https://app.example',
      read: origin,
    }),
    subprotocols: list(
      'Subprotocols to offer, best first.',
      { uniqueItems: true, default: [], expected: 'a list of subprotocol names' },
      // RFC 6455 §4.1.
      text('Name of a subprotocol.', { read: token('is not a token', 'use letters, digits and - . _') }),
    ),
    credential: mapping(
      'Where the WebSocket handshake carries the key, if not where other requests carry it.',
      { nullable: true, expected: 'a mapping such as { in: subprotocol, prefix: bearer. }' },
      {
        in: needed(
          choice(
            'subprotocol: an element of Sec-WebSocket-Protocol after a prefix. none: the handshake carries no key.',
            ['header', 'query', 'subprotocol', 'none'],
          ),
        ),
        name: text('Name of the header or query parameter.'),
        prefix: text('Prefix of the key in the subprotocol.', {
          read: token('is not part of a token', 'use letters, digits and - . _'),
        }),
        encoding: choice('How the key is written in the subprotocol. Default: base64url.', KEY_ENCODINGS),
      },
    ),
    refusalCode: whole(
      'The documented close code for a bad credential, if the service opens the connection first and then closes it.',
      { minimum: 1008, maximum: 4999, expected: 'a close code such as 4401' },
    ),
    // No conversation lasts much longer.
    keepsIdle: duration(
      'How long the service must keep a connection on which only pings are answered. Without it, the run only observes how long such a connection stays open.',
      { atMost: '150s' },
    ),
    application: choice(
      'Which side the AsyncAPI document describes: the service itself (the default), or a client of it.',
      ['service', 'client'],
    ),
    safe: list(
      'Operations of the AsyncAPI document that change nothing, by their ids: their messages are sent. Those named ping, subscribe and the like, and those with x-safe, need no mention.',
      { uniqueItems: true, nullable: true, expected: 'a list of operation ids' },
      text('Id of an operation.'),
    ),
    listen: duration(
      'How long messages are waited for that answer nothing, at each address of the AsyncAPI document. Default: 1s.',
      { atMost: '30s' },
    ),
  },
);

type WebSocketBlock = Loaded<typeof WEBSOCKET>;

/** The WebSocket endpoint of a service; what its keys mean is said where they are declared. */
export interface WebSocketConfig
  extends Omit<
    WebSocketBlock,
    | 'url'
    | 'dialect'
    | 'exchange'
    | 'login'
    | 'heartbeat'
    | 'messages'
    | 'credential'
    | 'application'
    | 'safe'
    | 'listenMs'
  > {
  readonly url: string;
  /** `own`: that of the module `adapter`. */
  readonly dialect: ShippedDialect | 'own';
  /** Absolute path of the module that describes a dialect of the user's own. */
  readonly adapter?: string;
  readonly exchange?: readonly MessagePair[];
  /** Exchanged before them, once per connection. */
  readonly login?: MessagePair;
  /** What a client answers to the service's own heartbeat, in raw messages. */
  readonly heartbeat?: Heartbeat;
  /** JSON Schemas of the messages of the service, by the name of the event in the dialect. */
  readonly messages?: Readonly<Record<string, unknown>>;
  /** Where the handshake carries the key; absent where it is as in other requests. */
  readonly credential?: HandshakeKeyPlace;
  /** Header fields that its handshake must have; absent for none. */
  readonly fields?: readonly FieldLine[];
  /** What an AsyncAPI document says; absent without one. */
  readonly documented?: MessagePlan;
}

/** The documented messages, and what a run may do with them. */
export interface MessagePlan extends Pick<DocumentedMessages, 'endpoints' | 'definitions'> {
  /** Operations of channels without an address here. */
  readonly elsewhere: readonly MessageOperation[];
  /** Ids of operations that change nothing. */
  readonly safe: readonly string[];
  readonly listenMs: number;
}

export interface MessagePair {
  readonly send: string;
  readonly expect: unknown;
  /** Its answer is JSON, and may come in a binary message as well. */
  readonly inAnyKind?: true;
}

/** `none`: the handshake carries no key. */
export type HandshakeKeyPlace = Exclude<HandshakePlace, { in: 'authorization' }> | { readonly in: 'none' };

/** Why the handshake carries no credential; null where it carries that of the config. */
export function whyKeyless({ dialect, credential }: WebSocketConfig): string | null {
  if (credential?.in === 'none') return 'the handshake carries no credential (websocket.credential)';
  return DIALECTS[dialect].keyless ?? null;
}

const MODULE = /\.[cm]?[jt]s$/;

/** Where neither the config nor a document says more. */
const PLAIN = { dialect: 'raw', echo: false, origin: null, subprotocols: [] } as const;
const LISTEN_MS = 1_000;

/**
 * `document`: what an AsyncAPI document says; the block goes before it.
 *
 * @throws UsageError for a dialect that is not known, a schema that is none, a place of the key without its name.
 */
export async function buildWebSocket(
  draft: Draft,
  block?: WebSocketBlock,
  document: DocumentedMessages | null = null,
): Promise<WebSocketConfig | null> {
  if (!block && document === null) return null;
  const written: WebSocketBlock = block ?? PLAIN;
  const endpoints = document === null ? [] : withAddress(document, written.url ?? null);
  const main = endpoints.find(({ target }) => target === written.url) ?? endpoints[0];
  const url = written.url ?? main?.target;
  if (url === undefined) {
    if (block === undefined) return null;
    const remedy = 'add `url:`, a path such as /ws, or a ws or wss URL';
    throw draft.faultAt('websocket.url', 'is missing', remedy);
  }
  const ids = [...endpoints, ...(document?.elsewhere ?? [])].flatMap(({ operations }) =>
    operations.map(({ id }) => id),
  );
  for (const [index, id] of (written.safe ?? []).entries()) {
    if (ids.includes(id)) continue;
    const problem = `no operation of an AsyncAPI document is called ${JSON.stringify(id)}`;
    throw draft.faultAt(`websocket.safe.${index}`, problem, didYouMean(id, ids));
  }
  const { application: _, safe = [], listenMs = LISTEN_MS, ...own } = written;
  const { dialect, exchange = [], login, heartbeat, messages = {}, credential, ...same } = own;
  const read = (key: string, schema: unknown) => readSchema(draft, `websocket.${key}`, schema);
  const pairs: MessagePair[] = [];
  for (const [index, { send, expect }] of exchange.entries()) {
    pairs.push({ send, expect: await read(`exchange.${index}.expect`, expect) });
  }
  const schemas: [string, unknown][] = [];
  for (const [event, schema] of Object.entries(messages)) {
    schemas.push([event, await read(`messages.${event}`, schema)]);
  }
  const spoken = await dialectOf(draft, dialect);
  const ofSubprotocol = dialect === 'raw' ? heartbeatOfSubprotocols(same.subprotocols) : null;
  const shown = pairs.length > 0 || main === undefined ? [] : pairsOf(main, document?.definitions ?? {});
  const place = credential ? keyPlaceOf(draft, credential) : document?.keyPlace;
  return {
    ...same,
    url,
    ...(ofSubprotocol && { heartbeat: ofSubprotocol }),
    ...spoken,
    ...(pairs.length + shown.length > 0 ? { exchange: [...pairs, ...shown] } : {}),
    ...(login ? { login: { ...login, expect: await read('login.expect', login.expect) } } : {}),
    ...(heartbeat ? { heartbeat: ofRawMessages(draft, spoken.dialect, heartbeat) } : {}),
    ...(schemas.length > 0 ? { messages: Object.fromEntries(schemas) } : {}),
    ...(place ? { credential: place } : {}),
    ...(main && main.fields.length > 0 ? { fields: main.fields } : {}),
    ...(document && {
      documented: {
        ...{ endpoints, safe, listenMs },
        elsewhere: operationsElsewhere(document, endpoints),
        definitions: document.definitions,
      },
    }),
  };
}

/** Other dialects say themselves what their heartbeats are. */
function ofRawMessages({ faultAt }: Draft, dialect: keyof typeof DIALECTS, heartbeat: Heartbeat): Heartbeat {
  const { heartbeatRemedy } = DIALECTS[dialect];
  if (heartbeatRemedy !== undefined)
    throw faultAt('websocket.heartbeat', 'is for the dialect raw alone', heartbeatRemedy);
  if (!isHeartbeat(heartbeat, heartbeat.answer)) return heartbeat;
  const remedy = 'write an answer that `receive` does not fit, such as { type: pong }';
  throw faultAt('websocket.heartbeat.answer', 'is a heartbeat itself', remedy);
}

type Spoken = Pick<WebSocketConfig, 'dialect' | 'adapter'>;

/** The name of a shipped dialect, or the module of another, which must be there. */
async function dialectOf(draft: Draft, dialect: string): Promise<Spoken> {
  const shipped = SHIPPED_DIALECTS.find((name) => name === dialect);
  if (shipped !== undefined) return { dialect: shipped };
  const fault = draft.faultFor('websocket.dialect');
  if (!MODULE.test(dialect)) {
    const near = didYouMean(dialect, SHIPPED_DIALECTS);
    const remedy = `${near}; or name a module of yours, such as ../dialects/chat.ts`;
    throw fault(`${JSON.stringify(dialect)} is not known`, remedy);
  }
  const adapter = resolve(draft.scope.folder, dialect);
  const found = await stat(adapter).catch(() => null);
  if (!found?.isFile()) {
    const remedy = `write ${LISTED}, or the path of a module, relative to this file`;
    throw fault(`there is no module ${dialect}`, remedy);
  }
  await loadDialect(adapter).catch((error) => {
    if (!(error instanceof NoDialect)) throw error;
    throw fault(`the module ${dialect}: ${error.message}`, 'see docs/dialects.md');
  });
  return { dialect: 'own', adapter };
}

function keyPlaceOf(
  { faultAt }: Draft,
  { in: place, name, prefix = '', encoding = 'base64url' }: NonNullable<WebSocketBlock['credential']>,
): HandshakeKeyPlace {
  if (place === 'subprotocol') return { in: place, prefix, encoding };
  if (place === 'none') return { in: place };
  if (name !== undefined && isToken(name)) return { in: place, name };
  const problem = name === undefined ? 'is missing' : 'is not a name';
  const wanted = place === 'query' ? 'query parameter' : 'header field';
  throw faultAt('websocket.credential.name', problem, `name the ${wanted}`);
}
