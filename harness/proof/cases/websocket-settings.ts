import type { Heartbeat } from '../../config/blocks/heartbeat.ts';
import { heartbeatOfSubprotocols } from '../../config/blocks/subprotocol.ts';
import type { WebSocketConfig } from '../../config/blocks/websocket.ts';
import type { Adapt, Setting } from './setting.ts';

function withoutMessages({ exchange: _, ...endpoint }: WebSocketConfig): WebSocketConfig {
  return { ...endpoint, echo: false };
}

export const inWebSocket =
  (change: Partial<WebSocketConfig>): Adapt =>
  ({ websocket, ...config }) => ({ ...config, websocket: websocket && { ...websocket, ...change } });

const SUBPROTOCOLS = ['graphql-transport-ws'];
const GRAPHQL = {
  subprotocols: SUBPROTOCOLS,
  keepsIdleMs: 1_200,
  ...withHeartbeat(heartbeatOfSubprotocols(SUBPROTOCOLS)),
};

function withHeartbeat(heartbeat: Heartbeat | null): Pick<WebSocketConfig, 'heartbeat'> {
  return heartbeat === null ? {} : { heartbeat };
}

/** A JSON object with this type. */
function ofType(type: string): object {
  return { type: 'object', properties: { type: { const: type } }, required: ['type'] };
}

const REALTIME = ['realtime'] as const;

/** What is said over a WebSocket, and with which key it is opened. */
export const WEBSOCKET_SETTINGS: readonly Setting[] = [
  // The handshake carries the key elsewhere than other requests do.
  {
    name: 'key in subprotocol',
    words: 'websocket: { credential: { in: subprotocol, prefix: bearer. } }',
    adapt: inWebSocket({
      credential: { in: 'subprotocol', prefix: 'bearer.', encoding: 'base64url' },
      subprotocols: ['echo.v1'],
    }),
    conforming: [],
  },
  {
    name: 'key in token',
    words: 'websocket: { credential: { in: query, name: token } }',
    adapt: inWebSocket({ credential: { in: 'query', name: 'token' }, subprotocols: ['echo.v1'] }),
    conforming: [],
  },
  {
    // Nothing is known of what may be said.
    name: 'no messages',
    words: 'websocket: { echo: false, exchange: null }',
    adapt: ({ websocket, ...config }) => ({ ...config, websocket: websocket && withoutMessages(websocket) }),
    conforming: REALTIME,
  },
  {
    // A client logs in before it says anything else.
    name: 'login by message',
    words: 'websocket: { echo: false, login: { send: …, expect: … } }',
    adapt: inWebSocket({
      echo: false,
      login: {
        send: '{"login":"conform"}',
        expect: { type: 'object', properties: { login: { const: 'conform' } }, required: ['login'] },
      },
    }),
    conforming: REALTIME,
  },
  {
    // A bad credential has a close code of its own.
    name: 'close code',
    words: 'websocket: { refusalCode: 4401 }',
    adapt: inWebSocket({ refusalCode: 4401 }),
    conforming: [],
  },
  {
    // A silent connection must last.
    name: 'idle',
    words: 'websocket: { keepsIdle: 1.2s }',
    adapt: inWebSocket({ keepsIdleMs: 1_200 }),
    conforming: REALTIME,
  },
  {
    // The service sends heartbeats of its own.
    name: 'heartbeat',
    words: 'websocket: { heartbeat: { receive: { type: ping }, answer: { type: pong } } }',
    adapt: inWebSocket({ heartbeat: { receive: { type: 'ping' }, answer: '{"type":"pong"}' } }),
    conforming: REALTIME,
  },
  {
    // A subprotocol of which it is known how a client keeps its connection.
    name: 'graphql',
    words:
      'websocket: { echo: false, exchange: null, subprotocols: [graphql-transport-ws], keepsIdle: 1.2s }',
    adapt: ({ websocket, ...config }) => ({
      ...config,
      websocket: websocket && { ...withoutMessages(websocket), ...GRAPHQL },
    }),
    conforming: REALTIME,
  },
  {
    name: 'graphql with login',
    words:
      'websocket: { echo: false, subprotocols: [graphql-transport-ws], keepsIdle: 1.2s, login: { send: { type: connection_init }, expect: … }, exchange: … }',
    adapt: inWebSocket({
      ...GRAPHQL,
      echo: false,
      login: { send: '{"type":"connection_init"}', expect: ofType('connection_ack') },
      exchange: [
        { send: '{"id":"a","type":"subscribe","payload":{"query":"{conform}"}}', expect: ofType('next') },
      ],
    }),
    conforming: [],
  },
  {
    // Pages of one origin alone may connect.
    name: 'origin',
    words: 'websocket: { origin: https://app.example }',
    adapt: inWebSocket({ origin: 'https://app.example' }),
    conforming: REALTIME,
  },
];
