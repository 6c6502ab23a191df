import { BlockList, isIP } from 'node:net';

/** Members whose value is a link even without a scheme and host. */
const LINK_MEMBERS =
  /^(?:href|url|uri|link|links|self|next|prev|previous|first|last|location)$|(?:_url|_uri|Url|Uri|Href)$/;
/**
 * Links in a parsed JSON body: absolute http(s) URLs wherever they stand, and paths in members that are named like
 * links. In the order of the body, each once, as sent. All of it is looked through, for its octets are bounded.
 */
export function findBodyLinks(value: unknown): readonly string[] {
  const links = new Set<string>();
  const waiting: { readonly member: string; readonly value: unknown }[] = [{ member: '', value }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next.value === 'string') {
      if (isLink(next.member, next.value)) links.add(next.value);
    } else if (Array.isArray(next.value)) {
      for (const item of next.value.toReversed()) waiting.push({ member: next.member, value: item });
    } else if (typeof next.value === 'object' && next.value !== null) {
      for (const [member, item] of Object.entries(next.value).reverse()) {
        waiting.push({ member, value: item });
      }
    }
  }
  return [...links];
}

function isLink(member: string, text: string): boolean {
  if (/^https?:\/\//i.test(text)) return URL.canParse(text);
  return LINK_MEMBERS.test(member) && /^\/(?!\/)\S*$/.test(text);
}

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
