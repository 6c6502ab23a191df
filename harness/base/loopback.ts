import { once } from 'node:events';
import { type AddressInfo, BlockList, createServer, isIP, type Server } from 'node:net';

/** The loopback interface: what listens there, and which hosts are there. */

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

/** Ports that this process has given away, whether they are taken yet or not. */
const given = new Set<number>();

/** A port that was free a moment ago, for programs that cannot say which one they took; each is given once. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  server.close();
  await once(server, 'close');
  if (given.has(port)) return freePort();
  given.add(port);
  return port;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
LOOPBACK.addSubnet('::ffff:127.0.0.0', 104, 'ipv6');

/**
 * Whether what is sent to a host stays on this machine (RFC 6761 §6.3 for the names). An IPv6 address may stand in
 * brackets, as in a URL.
 */
export function isLoopback(hostname: string): boolean {
  const host = withoutBrackets(hostname);
  const family = isIP(host);
  if (family !== 0) return LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4');
  return /^(?:.+\.)?localhost\.?$/i.test(host);
}

/** A host as it is dialled: an IPv6 address without the brackets that it has in a URL. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
