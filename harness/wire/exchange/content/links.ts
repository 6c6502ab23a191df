import { BlockList, isIP } from 'node:net';
import { isJsonObject } from '../../../base/json-text.ts';

/**
 * Relations by which a client goes from one resource of an interface to the next (IANA's registry of link relations).
 * All others lead to what has a purpose and a place of its own: documentation, a licence, a status page, a picture.
 */
const NAVIGATION: ReadonlySet<string> = new Set([
  ...['self', 'item', 'items', 'collection', 'up', 'parent', 'edit', 'search'],
  ...['first', 'last', 'next', 'prev', 'previous', 'current', 'start'],
]);

/** Those that are the name of a link and of nothing else: what is called `parent` or `current` may be a path on a disk. */
const PLAIN: ReadonlySet<string> = new Set(['self', 'next', 'prev', 'previous']);

/** Members that say that they are an address, and not whose. */
const ADDRESS = /^(?:href|url|uri|link)$/;
/** Members that hold links by their relations, or one after the other. */
const LINKS = /^_?links?$/;
/** `next_url`, `nextHref`: the relation stands before it. */
const ADDRESS_ENDING = /(?:_url|_uri|_href|_link|Url|Uri|Href|Link)$/;

/** Whether a client goes on by a link of one of these relations. */
export function navigates(relations: readonly string[]): boolean {
  return relations.some((relation) => NAVIGATION.has(relation.toLowerCase()));
}

/**
 * Links in a parsed JSON body by which a client goes on: absolute http(s) URLs and paths. In the order of the body,
 * each once, as sent. All of it is looked through, for its octets are bounded.
 */
export function findBodyLinks(value: unknown): readonly string[] {
  const links = new Set<string>();
  const waiting: Node[] = [{ member: 'self', relation: 'self', value }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { relation, value: found } = next;
    if (typeof found === 'string') {
      if (navigates([relation]) && isAddress(found)) links.add(found);
    } else if (Array.isArray(found)) {
      for (const item of found.toReversed()) waiting.push({ ...next, value: item });
    } else if (isJsonObject(found)) {
      for (const [member, item] of Object.entries(found).reverse()) {
        waiting.push({ member, relation: relationOf(member, item, next, found.rel), value: item });
      }
    }
  }
  return [...links];
}

interface Node {
  readonly member: string;
  readonly relation: string;
  readonly value: unknown;
}

/** What a member of that node is to it, by its name, and by `rel` where that stands beside it; '' for no link. */
function relationOf(member: string, value: unknown, within: Node, rel: unknown): string {
  if (ADDRESS.test(member)) return typeof rel === 'string' ? rel : within.relation;
  if (ADDRESS_ENDING.test(member)) return member.replace(ADDRESS_ENDING, '');
  const isLink = typeof value !== 'string' || LINKS.test(within.member) || PLAIN.has(member);
  return isLink && !LINKS.test(member) ? member : '';
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) ? URL.canParse(text) : /^\/(?!\/)\S*$/.test(text);
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
