import type { WebSocket } from 'ws';
import type { ReceivedRequest } from '../http/message.ts';
import type { Route } from '../http/routes.ts';

/** An address where WebSocket connections are taken. */
export interface SocketEndpoint {
  /** Path with `:name` segments, e.g. `/app/:key`. */
  readonly template: string;
  /** Demand a credential on the opening handshake. */
  readonly credential: boolean;
  /** Speaks the endpoint's dialect on an open connection. */
  readonly converse: (
    socket: WebSocket,
    request: ReceivedRequest,
    parameters: Readonly<Record<string, string>>,
  ) => void;
}

/** What one of the three services offers; everything else is the kernel's. */
export interface Service {
  readonly name: string;
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketEndpoint[];
}
