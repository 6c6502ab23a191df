import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, parseJson } from '../../base/json-text.ts';
import { type Fault, json, mapping, needed } from '../shape/kinds.ts';

/** A message of the service that asks whether its client is there, and what a client answers. */
export interface Heartbeat {
  /** A text as it comes, or the members that a JSON object has at least. */
  readonly receive: unknown;
  readonly answer: string;
}

/** Whether this text of the service is its heartbeat. */
export function isHeartbeat({ receive }: Pick<Heartbeat, 'receive'>, text: string): boolean {
  return typeof receive === 'string' ? text === receive : contains(parseJson(text), receive);
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
  'The heartbeat that the service sends, where dialect is raw, and what a client answers. It is answered on each connection, and is no answer to anything. That of graphql-transport-ws is known.',
  { nullable: true, expected: 'a mapping such as { receive: { type: ping }, answer: { type: pong } }' },
  {
    receive: needed(
      json('Its text, or members that the JSON object has at the least.', {
        expected: 'a text or a JSON object',
        examples: [{ type: 'ping' }],
        read: received,
      }),
    ),
    answer: needed(
      json('A text as it is sent, or a JSON value, which is sent as its text.', {
        expected: 'a text or a JSON value',
        examples: [{ type: 'pong' }],
        read: (message) => (typeof message === 'string' ? message : JSON.stringify(message)),
      }),
    ),
  },
);
