import { isJsonObject, type JsonObject, parseJsonObject } from '../../base/json-text.ts';
import type { Message } from './message.ts';

/** Protocols above WebSocket that the first message of the server shows. */
const GREETINGS: readonly { readonly dialect: string; readonly pattern: RegExp }[] = [
  { dialect: 'engine.io', pattern: /^0\{.*"sid"/ },
  { dialect: 'pusher', pattern: /"event"\s*:\s*"pusher:connection_established"/ },
  { dialect: 'sockjs', pattern: /^o$/ },
  { dialect: 'action cable', pattern: /^\{"type":"welcome"/ },
  { dialect: 'meteor ddp', pattern: /^\{"server_id":/ },
  { dialect: 'discord gateway', pattern: /^\{.{0,200}"op":\s*10\b/ },
];

/** The dialect that a server's first message belongs to; null when it is none of those known. */
export function dialectOf(greeting: string): string | null {
  return GREETINGS.find(({ pattern }) => pattern.test(greeting))?.dialect ?? null;
}

/** A message of the Pusher protocol, version 7. */
export interface PusherEvent {
  readonly event: string;
  readonly channel: string | null;
  /** Its fault as a message of a server; null for none. */
  readonly fault: string | null;
  /** The data, its second JSON encoding undone; null where there is none or it is no object. */
  readonly data: JsonObject | null;
}

/** Reads the server's messages; those that are no events are left out. */
export function pusherEvents(messages: readonly Message[]): readonly PusherEvent[] {
  return messages.flatMap(({ text }) => (text === null ? [] : (readPusherEvent(text) ?? [])));
}

/** null when the text is no JSON object with an event. */
export function readPusherEvent(text: string): PusherEvent | null {
  const message = parseJsonObject(text);
  if (message === null || typeof message.event !== 'string') return null;
  const { event, channel, data } = message;
  return {
    event,
    channel: typeof channel === 'string' ? channel : null,
    fault: faultOf(event, data),
    data: isJsonObject(data) ? data : typeof data === 'string' ? parseJsonObject(data) : null,
  };
}

/** It tells a client that it has entered that channel. */
export function isSubscription({ event, channel }: PusherEvent, wanted: string): boolean {
  return event === 'pusher_internal:subscription_succeeded' && channel === wanted;
}

/** The data of these is an object as it is; that of all other events of the service is JSON within JSON. */
const PLAIN_DATA = new Set(['pusher:error', 'pusher:pong', 'pusher:ping', 'pusher:subscription_error']);

function faultOf(event: string, data: unknown): string | null {
  if (data === undefined || PLAIN_DATA.has(event)) return null;
  if (typeof data !== 'string') return `${event} with data that is no JSON text in a string`;
  return parseJsonObject(data) === null ? `${event} with data that is not the text of a JSON object` : null;
}

/** What a client of the Pusher protocol, version 7, does about an error code. */
type PusherAdvice = 'never come back unchanged' | 'come back after a while' | 'come back at once' | 'stay';

/** By the first two digits of the code. */
const ADVICE: Readonly<Record<number, PusherAdvice>> = {
  40: 'never come back unchanged',
  41: 'come back after a while',
  42: 'come back at once',
  43: 'stay',
};

/** null for a code that the protocol says nothing of. */
export function pusherAdvice(code: number): PusherAdvice | null {
  return ADVICE[Math.floor(code / 100)] ?? null;
}
