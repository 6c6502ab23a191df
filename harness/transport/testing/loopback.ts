import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** A TCP server on this machine, at a port of its own, that does to each connection what a test says. */
export interface Loopback {
  readonly port: number;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Connections accepted so far. */
  accepted(): number;
  close(): Promise<void>;
}

type Handler = (socket: Socket, index: number) => void;

export function listen(handler: Handler): Promise<Loopback> {
  const open = new Set<Socket>();
  let accepted = 0;
  const server = createServer((socket) => {
    accept(socket);
  });
  const accept = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    socket.setNoDelay(true);
    handler(socket, accepted++);
  };
  return started(server, 'http', open, () => accepted);
}

export function listenTls(identity: { key: string; cert: string }, handler: Handler): Promise<Loopback> {
  const open = new Set<Socket>();
  let accepted = 0;
  const server = createTlsServer(identity, (socket) => {
    socket.on('error', () => undefined);
    handler(socket, accepted++);
  });
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  return started(server, 'https', open, () => accepted);
}

async function started(
  server: Server,
  scheme: string,
  open: Set<Socket>,
  accepted: () => number,
): Promise<Loopback> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    accepted,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Answers each request head on a connection with the same octets; a request without content is assumed. */
export function answerEach(answer: string | Uint8Array, seen?: (head: string) => void): Handler {
  return (socket) => {
    let pending = '';
    socket.on('data', (octets) => {
      pending += octets.toString('latin1');
      for (let end = pending.indexOf('\r\n\r\n'); end !== -1; end = pending.indexOf('\r\n\r\n')) {
        seen?.(pending.slice(0, end + 4));
        pending = pending.slice(end + 4);
        socket.write(answer);
      }
    });
  };
}
