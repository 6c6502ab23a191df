import type { WebSocket } from 'ws';
import { parseJson } from '../../base/json-text.ts';
import type {
  DocumentedMessage,
  DocumentedMessages,
  MessageEndpoint,
} from '../../config/asyncapi/documented-messages.ts';
import { idIn, withIdIn } from '../../config/asyncapi/kind.ts';
import { isJsonType } from '../../config/operation/call/call.ts';
import { SchemaBook } from '../../wire/json/schema.ts';
import type { SocketEndpoint } from '../behavior/behavior.ts';
import { BACKLOG_LIMIT } from '../services/realtime.ts';
import { ValueMaker } from './values.ts';

export type MockedMessages = Pick<DocumentedMessages, 'endpoints' | 'definitions'>;

/** WebSocket endpoints that say what an AsyncAPI document says: each announced message once, and the first reply. */
export function messageSockets(
  { endpoints, definitions }: MockedMessages,
  credential: boolean,
): SocketEndpoint[] {
  const values = new ValueMaker(definitions, new SchemaBook(definitions));
  const byPath = Map.groupBy(endpoints, ({ target }) => target.replace(/\?.*$/, ''));
  return [...byPath].map(([template, [endpoint]]) => ({
    ...{ template, credential },
    converse: (socket) => {
      if (endpoint !== undefined) converse(socket, endpoint, values);
    },
  }));
}

function converse(socket: WebSocket, { messages, operations }: MessageEndpoint, values: ValueMaker): void {
  let serial = 0;
  const named = (names: readonly string[]) => messages.filter(({ name }) => names.includes(name));
  const say = (message: DocumentedMessage, id?: unknown) => {
    serial += 1;
    const made = message.schema === null ? 'conform' : values.of(message.schema, serial);
    const value =
      id === undefined || message.correlation === null
        ? made
        : (withIdIn(made, message.correlation, id) ?? made);
    const text = isJsonType(message.contentType) || typeof value !== 'string' ? JSON.stringify(value) : value;
    if (socket.bufferedAmount > BACKLOG_LIMIT) socket.terminate();
    else socket.send(text);
  };
  for (const { action, messages: names } of operations)
    if (action === 'receive') for (const message of named(names)) say(message);
  socket.on('message', (content) => {
    const text = String(content);
    const value = parseJson(text) ?? text;
    for (const operation of operations.filter(({ action }) => action === 'send')) {
      const own = named(operation.messages).find(({ schema }) => values.faultOf(value, schema) === null);
      const [reply] = own === undefined ? [] : named(operation.replies ?? []);
      if (own === undefined) continue;
      if (reply !== undefined)
        say(reply, own.correlation === null ? undefined : idIn(value, own.correlation));
      return;
    }
    const error = messages.find(({ name }) => /err|fail|reject/i.test(name));
    if (error !== undefined) say(error);
  });
}
