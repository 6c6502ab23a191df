import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** What listens on the loopback interface. */

/** The port of a server on TCP that listens. */
export function portOf(server: { address(): AddressInfo | string | null }): number {
  return (server.address() as AddressInfo).port;
}

/** Has a server listen on a free port, and tells which. Rejects with the system's error. */
export async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
}

/** A port that was free a moment ago, for programs that cannot say which one they took. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  server.close();
  await once(server, 'close');
  return port;
}
