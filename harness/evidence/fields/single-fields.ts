import type { FieldLine } from '../exchange.ts';
import { visible } from '../octets/visible.ts';

/** Fields of responses whose value is no list (RFC 9110, RFC 9111, RFC 9112): §5.3 allows one line of each. */
const SINGLE: ReadonlySet<string> = new Set([
  'age',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'server',
]);

/** The first of those fields that stands on several lines, with what these say; null when none does. */
export function repeatedField(fields: readonly FieldLine[]): string | null {
  const values = Map.groupBy(fields, ([name]) => name.toLowerCase());
  for (const [name, lines] of values) {
    const [first] = lines;
    if (first === undefined || lines.length < 2 || !SINGLE.has(name)) continue;
    return `${first[0]}: ${lines.map(([, value]) => `"${visible(value, 60)}"`).join(' and ')}`;
  }
  return null;
}
