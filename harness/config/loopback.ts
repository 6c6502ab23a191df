import { BlockList } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether a URL leads to this machine and nowhere else (RFC 6761 §6.3 for `localhost`). */
export function isLoopback(url: URL): boolean {
  const host = url.hostname.replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return host.startsWith('[') ? LOOPBACK.check(host.slice(1, -1), 'ipv6') : LOOPBACK.check(host, 'ipv4');
}
