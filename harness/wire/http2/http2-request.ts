import type { OutgoingHttpHeaders } from 'node:http2';
import type { FieldLine } from '../exchange.ts';
import { fieldValues, isToken } from '../fields/grammar/field-grammar.ts';
import { type Constant, constantFields, declaredLength } from '../http/request.ts';
import type { HttpRequest } from '../request.ts';
import { type Address, targetBelow } from '../socket/address.ts';
import type { SentRequest } from '../socket/recording.ts';

/** RFC 9113 §8.2.2: they are about a connection of HTTP/1.1, and make a message malformed. */
const OF_THE_CONNECTION = /^(?:keep-alive|proxy-connection|transfer-encoding|upgrade|http2-settings)$/i;

/** RFC 3986 §3.2.2, with a port. */
const AUTHORITY = /^(?:[\w\-.~!$&'()*+,;=%]+|\[[\da-f:.]+\])(?::\d*)?$/i;

/** A scheme without its credential: no space is left behind it (RFC 9113 §8.2.1). */
const BARE_SCHEME = /^[\w-]+ $/;

/** Why a request cannot be sent over HTTP/2, in words; null if it can. */
export function unsayable({ method, target, fields }: HttpRequest): string | null {
  const only = (what: string) => `${what} is of HTTP/1.1 alone`;
  const own = fields.find(([name]) => OF_THE_CONNECTION.test(name));
  if (own !== undefined) return only(`the header ${own[0]}`);
  if (fieldValues(fields, 'connection').some((value) => !/^(?:close|keep-alive)$/i.test(value)))
    return only('the header Connection');
  const hosts = fieldValues(fields, 'host');
  if (hosts.length > 1) return only('a second Host');
  // A server resets the stream of a malformed request, and need not answer it (§8.1.1).
  if (!hosts.every((host) => AUTHORITY.test(host))) return only('a Host that is none');
  if (fields.some(([, value]) => /^[\t ]|[\t ]$/.test(value) && !BARE_SCHEME.test(value)))
    return only('white space around a value');
  const lengths = fieldValues(fields, 'content-length');
  if (lengths.length > 0) return only('a Content-Length of its own');
  const isReadable =
    isToken(method) &&
    (/^\/[!-\xff]*$/.test(target) || target === '*') &&
    fields.every(([name, value]) => isToken(name) && /^[\t -~\x80-\xff]*$/.test(value));
  return isReadable ? null : only('such a request line or header');
}

/** A request as an HTTP/2 client sends it. */
export interface Http2Request extends SentRequest {
  readonly headers: OutgoingHttpHeaders;
}

/**
 * Writes a request for the library. It is recorded with Host in place of `:authority` (RFC 9113 §8.3.1), so that it reads
 * like any other; lines of one name stand together, as they are sent.
 */
export function writeHttp2(request: HttpRequest, address: Address, constant: Constant): Http2Request {
  const { method } = request;
  const target = targetBelow(address, request.target);
  const [authority = address.authority] = fieldValues(request.fields, 'host');
  const own = request.fields.filter(([name]) => !/^(?:host|connection|content-length)$/i.test(name));
  const body = request.body && request.body.length > 0 ? request.body : null;
  const length = declaredLength(method, body);
  const lines: FieldLine[] = [...constantFields(request, constant), ...own];
  if (length !== null) lines.push(['content-length', String(length)]);
  const values = new Map<string, string[]>();
  for (const [name, value] of lines) {
    const lower = name.toLowerCase();
    const sent = BARE_SCHEME.test(value) ? value.trimEnd() : value;
    values.set(lower, [...(values.get(lower) ?? []), sent]);
  }
  const fields = [...values].flatMap(([name, each]) => each.map((value) => [name, value] as const));
  const headers: OutgoingHttpHeaders = Object.assign(Object.create(null), {
    ':method': method,
    ':scheme': address.secure ? 'https' : 'http',
    ':authority': authority,
    ':path': target,
  });
  for (const [name, each] of values) headers[name] = each.length === 1 ? each[0] : each;
  return { method, target, httpVersion: '2', fields: [['host', authority], ...fields], body, headers };
}
