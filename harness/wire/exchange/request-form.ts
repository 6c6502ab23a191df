import type { RecordedRequest } from '../exchange.ts';
import { fieldValue, fieldValues, isToken } from '../fields/grammar/field-grammar.ts';

/** Octets of a request line, and of all fields, that every server is to take (RFC 9112 §3 recommends 8,000 for the line). */
const SURELY_TAKEN = 8_000;
/** RFC 9112 §3.2.1: a path and a query, percent-encoded where it must be; §3.2.4: or `*`. */
const TARGET = /^(?:\*|(?:https?:\/)?\/(?:[\w\-.~!$&'()+,;=:@/?*[\]]|%(?!00)[0-9a-f]{2})*)$/i;
/** RFC 3986 §3.2.2, with a port. */
const HOST = /^(?:[\w\-.~!$&'()*+,;=%]+|\[[0-9a-f:.]+\])(?::\d*)?$/i;

/** RFC 9110 §9.3, RFC 5789, RFC 10008; some servers know no others. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'QUERY',
  'OPTIONS',
  'TRACE',
]);

/**
 * Whether every server reads a request: of a usual method, well-formed (RFC 9112 §2 to §6), no longer than all take, and with
 * nothing after it on the connection. Any other one may be refused before the service sees it.
 */
export function isOrdinary({ method, target, fields, hasBehind }: RecordedRequest): boolean {
  const hosts = fieldValues(fields, 'host');
  const lengths = fieldValues(fields, 'content-length');
  const codings = fieldValues(fields, 'transfer-encoding');
  const octets = fields.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  return (
    METHODS.has(method) &&
    TARGET.test(target) &&
    target.length <= SURELY_TAKEN &&
    octets <= SURELY_TAKEN &&
    fields.every(([name, value]) => isToken(name) && !/[\0\r\n]/.test(value)) &&
    fieldValues(fields, 'authorization').length <= 1 &&
    hosts.length === 1 &&
    HOST.test(hosts[0] ?? '') &&
    lengths.length + codings.length <= 1 &&
    /^\d*$/.test(lengths[0] ?? '') &&
    /^(?:chunked)?$/i.test(codings[0] ?? '') &&
    !hasBehind
  );
}

/** Whether the client takes JSON as gladly as anything else (RFC 9110 §12.5.1): it asks for no web page. */
export function asksForNoPage({ fields }: RecordedRequest): boolean {
  return !/\btext\/html\b/i.test(fieldValue(fields, 'accept') ?? '');
}
