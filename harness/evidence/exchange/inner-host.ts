import { BlockList, isIP } from 'node:net';

/** RFC 1918, RFC 3927, RFC 4193, RFC 6598 and loopback: addresses of somebody's inner network. */
const INNER = new BlockList();
for (const [net, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
] as const) {
  INNER.addSubnet(net, prefix, 'ipv4');
}
INNER.addSubnet('fc00::', 7, 'ipv6');
INNER.addSubnet('fe80::', 10, 'ipv6');
INNER.addAddress('::1', 'ipv6');

/** RFC 6762, RFC 8375, RFC 9476 and the names that networks give themselves. */
const INNER_NAMES = /(?:^|\.)(?:internal|local|localdomain|localhost|lan|intranet|corp|home\.arpa)$/i;

/** Whether a host, as a URL has it, can be reached from its own network alone. */
export function isInnerHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(host);
  if (version !== 0) return INNER.check(host, version === 4 ? 'ipv4' : 'ipv6');
  return INNER_NAMES.test(host) || !host.includes('.');
}
