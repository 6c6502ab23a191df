import { once } from 'node:events';
import { type AddressInfo, BlockList, createServer, isIP, type Server } from 'node:net';

/** The loopback interface: servers on it, and the hosts that mean it. */

/** The port of a listening TCP server. */
export function portOf(server: { address(): AddressInfo | string | null }): number {
  return (server.address() as AddressInfo).port;
}

/** Makes a server listen on a free port. Resolves with the port; rejects with the system's error. */
export async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
}

/** Ports that this process has given out, in use or not. */
const given = new Set<number>();

/** A port that was free a moment ago, for programs that cannot report the port they chose. Each is given out once. */
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

/** Whether a host is this machine (names: RFC 6761 §6.3); an IPv6 address may have brackets. */
export function isLoopback(hostname: string): boolean {
  const host = withoutBrackets(hostname);
  const family = isIP(host);
  if (family !== 0) return LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4');
  return /^(?:.+\.)?localhost\.?$/i.test(host);
}

/** The host to dial: an IPv6 address without the brackets of a URL. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
