import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { InconclusiveError } from '../base/exit.ts';
import { listening } from '../base/loopback.ts';
import type { UnixSocketProvider } from '../config/provider/provider.ts';
import type { RunningProvider } from './provider.ts';

/** Milliseconds to connect to a socket of this machine. */
const CONNECT_MS = 1_000;
const POLL_MS = 100;

/**
 * Makes a service on a Unix domain socket, such as one behind a reverse proxy on the same machine, reachable at a port
 * of the loopback interface. Octets pass unchanged in both directions, and so do ends and resets.
 *
 * @throws InconclusiveError when no service listens there.
 */
export async function startUnixSocket({ path }: UnixSocketProvider): Promise<RunningProvider> {
  const refused = await whyRefused(path);
  if (refused !== null) throw new InconclusiveError(`no service listens on the socket ${path}: ${refused}`);
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const service = connect({ path, allowHalfOpen: true });
    join(client, service);
    for (const each of [client, service]) {
      open.add(each);
      each.on('close', () => open.delete(each));
    }
  });
  const port = await listening(server);
  let stopped = false;
  return {
    kind: 'unixSocket',
    url: `http://127.0.0.1:${port}`,
    async stop() {
      stopped = true;
      server.close();
      for (const each of open) each.destroy();
    },
    async ending(patienceMs) {
      for (const until = performance.now() + patienceMs; !stopped; await pause(POLL_MS)) {
        const why = await whyRefused(path);
        if (why !== null) return stopped ? null : `no service listens on the socket ${path} any more: ${why}`;
        if (performance.now() + POLL_MS > until) break;
      }
      return null;
    },
  };
}

function join(client: Socket, service: Socket): void {
  client.pipe(service).pipe(client);
  // A reset must not look like an orderly end to the other side.
  client.on('error', () => service.destroy());
  service.on('error', () => client.resetAndDestroy());
  client.on('close', () => service.destroySoon());
  service.on('close', () => client.destroySoon());
}

/** null if a service listens. */
function whyRefused(path: string): Promise<string | null> {
  const socket = connect({ path, timeout: CONNECT_MS });
  return new Promise((resolve) => {
    const settle = (why: string | null) => {
      socket.destroy();
      resolve(why);
    };
    socket.once('connect', () => settle(null));
    socket.once('timeout', () => settle('it does not answer'));
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
  });
}
