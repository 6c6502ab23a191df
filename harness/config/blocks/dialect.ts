import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, parseJson } from '../../base/json-text.ts';
import { reasonOf } from '../../base/thrown.ts';
import { type Fault, json, mapping, needed } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';

/** Whether this text of the service is its heartbeat. */
export function isHeartbeat({ receive }: Pick<Heartbeat, 'receive'>, text: string): boolean {
  return typeof receive === 'string' ? text === receive : contains(parseJson(text), receive);
}

/** A text as it is; of any other value its JSON. */
export function asText(message: unknown): string {
  return typeof message === 'string' ? message : JSON.stringify(message);
}

/** Objects may hold more than is asked for. */
function contains(value: unknown, wanted: unknown): boolean {
  if (!isJsonObject(wanted)) return isDeepStrictEqual(value, wanted);
  return isJsonObject(value) && Object.entries(wanted).every(([name, inner]) => contains(value[name], inner));
}

function received(message: unknown, fault: Fault): unknown {
  const remedy = 'write the text of the heartbeat, or members that tell it from others: { type: ping }';
  const isSomething =
    typeof message === 'string' ? message !== '' : isJsonObject(message) && Object.keys(message).length > 0;
  if (!isSomething) throw fault('tells no heartbeat from other messages', remedy);
  return message;
}

export const HEARTBEAT = mapping(
  'The heartbeat that the service sends, where dialect is raw, and what a client answers. It is answered on each connection, and never counts as an answer. The one of graphql-transport-ws is built in.',
  { nullable: true, expected: 'a mapping such as { receive: { type: ping }, answer: { type: pong } }' },
  {
    receive: needed(
      json('Its text, or members that the JSON object must have.', {
        expected: 'a text or a JSON object',
        examples: [{ type: 'ping' }],
        read: received,
      }),
    ),
    answer: needed(
      json('A text as it is sent, or a JSON value, which is sent as its text.', {
        expected: 'a text or a JSON value',
        examples: [{ type: 'pong' }],
        read: asText,
      }),
    ),
  },
);

/** A message that asks for a sign of life: a text, or members of a JSON object; and its answer. */
export type Heartbeat = Loaded<typeof HEARTBEAT>;

/** What a client has to know of a subprotocol to keep a connection that speaks it. */
interface KnownSubprotocol {
  /** Of the service, which may come at any time. */
  readonly heartbeat: Heartbeat;
  /** With these codes it ends the connection of a client that does not log in, or not as it must. */
  readonly loginCodes: readonly number[];
}

/** By the names under which clients offer them; those that ask nothing of a silent client are not here. */
const KNOWN: ReadonlyMap<string, KnownSubprotocol> = new Map([
  // GraphQL over WebSocket: ping and connection_init, of the protocol document of graphql-ws.
  [
    'graphql-transport-ws',
    { heartbeat: { receive: { type: 'ping' }, answer: '{"type":"pong"}' }, loginCodes: [4401, 4403, 4408] },
  ],
]);

/** That of the first of them that has one; null for none. */
export function heartbeatOfSubprotocols(names: readonly string[]): Heartbeat | null {
  return names.map((name) => KNOWN.get(name)).find(Boolean)?.heartbeat ?? null;
}

/** The subprotocol says so that it waits for a login. */
export function isForLogin(name: string | null, closeCode: number | null): boolean {
  const codes = KNOWN.get(name ?? '')?.loginCodes ?? [];
  return closeCode !== null && codes.includes(closeCode);
}

/** A protocol of messages over a WebSocket. A user's own is the default export of a module. */
export interface MessageDialect {
  readonly name: string;
  /** The target of the handshake, from the configured one; the same when left out. */
  readonly target?: (target: string, client: DialectClient) => string;
  /** The meaning of a text message of the service; null if it is not of the dialect. */
  readonly read: (text: string) => DialectEvent | null;
  /** Name of the event with which the service greets; none when left out. */
  readonly greeting?: string;
  /** How a client asks whether the service is there, and the name of the event that answers. */
  readonly heartbeat?: { readonly send: string; readonly answer: string };
  /** What a client answers to a heartbeat of the service; null for a text that is none. None is sent when left out. */
  readonly answerHeartbeat?: (text: string) => string | null;
  /** How a client subscribes to a channel, and the event that confirms it. */
  readonly subscribe?: {
    readonly send: (channel: string) => string;
    readonly answer: string;
    readonly channel: string;
  };
}

export interface DialectClient {
  /** Version of the harness: `1.2.3`. */
  readonly version: string;
}

export interface DialectEvent {
  /** What happened: `message`, `price-changed`. */
  readonly event: string;
  readonly channel: string | null;
  /** What a JSON Schema for this event is held against; undefined for nothing. */
  readonly data: unknown;
}

/** What a config must know of a dialect before anything is spoken. */
interface DialectKind {
  readonly messages?: string;
  /** What to do in place of saying in the config what its heartbeats are, which only raw messages leave open. */
  readonly heartbeatRemedy?: string;
  readonly keyless?: string;
}

/** The dialects that come with the harness: what each says and does is in `harness/engine/session/websocket/dialects/`. */
const SHIPPED = {
  raw: {},
  pusher: {
    messages: 'pusher protocol',
    heartbeatRemedy: 'leave it out: pusher:ping is known',
    keyless: 'in the Pusher protocol the application key in the address is all that a handshake carries',
  },
} as const satisfies Readonly<Record<string, DialectKind>>;

export type ShippedDialect = keyof typeof SHIPPED;

export const SHIPPED_DIALECTS = Object.keys(SHIPPED) as readonly ShippedDialect[];

/** By the name in a loaded config; `own`: that of a module of the user's. */
export const DIALECTS: Readonly<Record<ShippedDialect | 'own', DialectKind>> = {
  ...SHIPPED,
  own: { messages: 'a dialect of its own', heartbeatRemedy: 'write answerHeartbeat in the module' },
};

export class NoDialect extends Error {}

/** Importing has no limit of its own. In ms. */
const LOAD_MS = 5_000;

/** @throws NoDialect when the module does not load, or its default export is none. */
export async function loadDialect(path: string): Promise<MessageDialect> {
  const loaded = await importInTime(path);
  const dialect: unknown = isJsonObject(loaded) ? loaded.default : undefined;
  if (isDialect(dialect)) return dialect;
  throw new NoDialect('its default export is no dialect: an object with a name and a function read');
}

async function importInTime(path: string): Promise<unknown> {
  const patience = Promise.withResolvers<never>();
  const timer = setTimeout(() => patience.reject(new NoDialect(`nothing after ${LOAD_MS} ms`)), LOAD_MS);
  try {
    return await Promise.race([import(pathToFileURL(path).href), patience.promise]);
  } catch (error) {
    throw new NoDialect(reasonOf(error));
  } finally {
    clearTimeout(timer);
  }
}

function isDialect(value: unknown): value is MessageDialect {
  if (!isJsonObject(value) || typeof value.name !== 'string' || typeof value.read !== 'function')
    return false;
  const { target, greeting, heartbeat, answerHeartbeat, subscribe } = value;
  const mayBe = (part: unknown, type: string) => part === undefined || typeof part === type;
  const members = (part: unknown, types: Readonly<Record<string, string>>) =>
    part === undefined ||
    (isJsonObject(part) && Object.entries(types).every(([name, type]) => typeof part[name] === type));
  return (
    [target, answerHeartbeat].every((part) => mayBe(part, 'function')) &&
    mayBe(greeting, 'string') &&
    members(heartbeat, { send: 'string', answer: 'string' }) &&
    members(subscribe, { send: 'function', answer: 'string', channel: 'string' })
  );
}
