import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** An HTTP server on this machine, at a port of its own, that WebSockets can be opened to. */
interface WsEndpoint {
  /** `http://127.0.0.1:PORT`, or `https:` */
  readonly url: string;
  /** Whoever is still connected is cut off. */
  stop(): Promise<void>;
}

/** An endpoint by `ws` that does to each connection what a test says; over TLS where it has an identity. */
export function startWsEndpoint(
  converse: (socket: WebSocket) => void,
  identity?: { readonly key: string; readonly cert: string },
): Promise<WsEndpoint> {
  const server = identity ? createTlsServer(identity) : createServer();
  server.on('request', (_request, response) => response.writeHead(426).end());
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('error', () => undefined);
    converse(socket);
  });
  return serveSockets(server, sockets, identity ? 'https' : 'http');
}

/** Starts a server whose upgrades lead to these sockets. */
export async function serveSockets(
  server: Server,
  sockets: WebSocketServer,
  scheme: 'http' | 'https' = 'http',
): Promise<WsEndpoint> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    async stop() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sends every message back as it came. */
export function echoing(socket: WebSocket): void {
  socket.on('message', (content, isBinary) => socket.send(content, { binary: isBinary }));
}
