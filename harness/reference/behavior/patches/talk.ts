import type { WebSocket } from 'ws';
import { type JsonObject, parseJsonObject } from '../../../base/json-text.ts';
import type { Patch } from './patch.ts';
import { conversing, onAccepted } from './websocket.ts';

/** The words of a service that keeps `harness/proof/config/talk.asyncapi.yaml`. */
interface Talk {
  /** Sent first. */
  readonly greeting: readonly object[];
  readonly ping: (message: JsonObject) => readonly object[];
  readonly subscribe: (message: JsonObject) => readonly object[];
  /** Upon a message that fits nothing. */
  readonly otherwise: (socket: WebSocket) => readonly object[];
  readonly send: (socket: WebSocket, message: object) => void;
}

export const EVENT = { type: 'event', topic: 'conform', count: 1 };
export const FAILURE = { type: 'error', reason: 'unknown message' };

const CONFORMING: Talk = {
  greeting: [],
  ping: ({ id }) => [{ type: 'pong', id }],
  subscribe: ({ id, topic }) => [{ type: 'subscribed', id, topic }, EVENT],
  otherwise: () => [FAILURE],
  send: (socket, message) => socket.send(JSON.stringify(message)),
};

/** Says what its document says, but for this. */
export const talking = (change: Partial<Talk> = {}): Patch =>
  onAccepted((verdict) =>
    conversing(verdict, (socket) => {
      const talk = { ...CONFORMING, ...change };
      for (const message of talk.greeting) talk.send(socket, message);
      socket.on('message', (content) => {
        const message = parseJsonObject(String(content)) ?? {};
        const isFit = typeof message.id === 'string';
        const answers =
          isFit && message.type === 'ping'
            ? talk.ping(message)
            : isFit && message.type === 'subscribe' && typeof message.topic === 'string'
              ? talk.subscribe(message)
              : talk.otherwise(socket);
        for (const answer of answers) talk.send(socket, answer);
      });
    }),
  );
