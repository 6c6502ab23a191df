import { createHash, randomBytes } from 'node:crypto';
import { HarnessError } from '../../base/exit.ts';
import { revealed } from '../../base/secret.ts';
import type { FieldLine, RecordedRequest } from '../exchange.ts';
import { fieldValues, isToken } from '../fields/grammar/field-grammar.ts';
import { type HttpRequest, RUN_FIELD, runFields } from '../request.ts';
import { type Address, targetBelow } from '../socket/address.ts';
import type { TransportOptions } from '../socket/options.ts';
import type { SentRequest } from '../socket/recording.ts';

export type Constant = Pick<TransportOptions, 'userAgent' | 'runId' | 'headers'>;

/** The fields that each request of a run has, without those that the request sets itself. */
export function constantFields(
  request: HttpRequest,
  { userAgent, runId, headers = [] }: Constant,
): FieldLine[] {
  const own = headers.map(([name, value]): FieldLine => [name, revealed(value)]);
  // With another User-Agent nothing tells that it is a run.
  const isDisguised = own.some(([name]) => name.toLowerCase() === 'user-agent');
  const fields = isDisguised ? own : [...runFields(userAgent, runId), ...own];
  return fields.filter(
    ([name]) =>
      fieldValues(request.fields, name).length === 0 &&
      !(request.withoutUserAgent && name.toLowerCase() === 'user-agent') &&
      !(request.withoutRunId && name === RUN_FIELD),
  );
}

/** A request as an HTTP client sends it. */
export interface OrdinaryRequest extends WrittenRequest {
  /** The connection is kept for the request after it, if the server keeps it as well. */
  readonly keepsAlive: boolean;
}

/** RFC 9110 §8.6: methods for which a Content-Length is sent even without content. */
const CONTENT_METHODS = new Set(['PUT', 'POST', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']);
/** The Content-Length of a request; null for none. */
export function declaredLength(method: string, body: Uint8Array | null): number | null {
  return body?.length ?? (CONTENT_METHODS.has(method) ? 0 : null);
}

/** Fields that change how a message is framed or answered. */
const NOT_ORDINARY = ['expect', 'keep-alive', 'transfer-encoding', 'upgrade'];

/**
 * Writes a request as HTTP clients do: Host and Connection first, then Content-Length last.
 * @throws HarnessError for one that only the raw socket can send.
 */
export function writeOrdinary(request: HttpRequest, address: Address, constant: Constant): OrdinaryRequest {
  const { method } = request;
  const target = targetBelow(address, request.target);
  const connection = fieldValues(request.fields, 'connection');
  const [host = address.authority, ...otherHosts] = fieldValues(request.fields, 'host');
  const own = request.fields.filter(([name]) => !/^(?:host|connection|content-length)$/i.test(name));
  const lines = [...constantFields(request, constant), ...own];
  const body = request.body && request.body.length > 0 ? request.body : null;
  const length = declaredLength(method, body);
  const closes = method === 'HEAD' || connection.some((value) => value.toLowerCase() === 'close');
  const fields: FieldLine[] = [
    ['host', host],
    ['connection', closes ? 'close' : 'keep-alive'],
    ...lines,
    ...(length === null ? [] : [['content-length', String(length)] as const]),
  ];
  const isOrdinary =
    otherHosts.length === 0 &&
    connection.every((value) => /^(?:close|keep-alive)$/i.test(value)) &&
    isToken(method) &&
    /^(?:\/|https?:\/\/)[!-\xff]*$/.test(target) &&
    fields.every(([name, value]) => isToken(name) && /^[\t -~\x80-\xff]*$/.test(value)) &&
    lines.every(([name]) => !NOT_ORDINARY.includes(name.toLowerCase()));
  if (!isOrdinary) throw new HarnessError(`only the raw socket sends such a request: ${method} ${target}`);
  const octets = octetsOf(`${method} ${target} HTTP/1.1`, fields, body);
  // A server that reads no content on such a method takes it for the next request.
  const keepsAlive = !closes && (body === null || CONTENT_METHODS.has(method));
  return { method, target, fields, body, octets, keepsAlive };
}

function octetsOf(
  line: string,
  fields: readonly FieldLine[],
  body: Uint8Array | null,
  spelled: readonly string[] = [],
): Uint8Array {
  const isBare = spelled.includes('bare-colon');
  const tab = spelled.includes('tabbed-values') ? '\t' : '';
  const spaces = spelled.includes('wide-values') ? '  ' : '';
  const isPadded = tab !== '' || spaces !== '';
  const lines = fields.map(([name, value], index) => {
    const written = spelled.includes('upper-names') ? name.toUpperCase() : name;
    // With both, every other line is bare, the last one among them.
    if (isPadded && (!isBare || (fields.length - index) % 2 === 0))
      return `${written}:${tab}${spaces}${value}${tab}${spaces}`;
    return `${written}:${isBare ? '' : ' '}${value}`;
  });
  const first = spelled.includes('empty-line') ? `\r\n${line}` : line;
  const head = [first, ...lines, '\r\n'].join('\r\n');
  const octets = Buffer.from(head, 'latin1');
  return body ? Buffer.concat([octets, body]) : octets;
}

/** How `writeRequest` departs from an ordinary HTTP/1.1 request. */
export interface RequestForm {
  readonly httpVersion?: '1.1' | '1.0';
  /** The `Connection` field, where the request sets none; null for none. `close` when left out. */
  readonly connection?: string | null;
  /** Adds no Host field. */
  readonly withoutHost?: boolean;
  /** Further requests right behind the content of this one, in the same octets. */
  readonly behind?: readonly Behind[];
  /** Content-Length, where the request sets none: of its own content, or of the requests behind it as well. */
  readonly declares?: 'content' | 'everything';
  /** Lawful spellings of the lines. */
  readonly spelled?: RecordedRequest['spelled'];
  /** Sent octet by octet. */
  readonly piecemeal?: boolean;
}

/** A request behind another one: without content and without a credential. `target` as for the other. */
interface Behind {
  readonly method: string;
  readonly target: string;
  readonly fields?: readonly FieldLine[];
}

/** The lines of a request and its octets, for the raw socket. `target` is sent as it is given. */
interface WrittenRequest extends SentRequest {
  readonly octets: Uint8Array;
}

/** Writes a request out (RFC 9112 §3), with whatever its method, target and fields hold; nothing is checked. */
export function writeRequest(
  request: HttpRequest,
  target: string,
  address: Address,
  constant: Constant,
  form: RequestForm = {},
): WrittenRequest {
  const behind = (form.behind ?? []).map((each) => writeBehind(each, address, constant));
  const content = request.body ?? null;
  const body = behind.length === 0 ? content : Buffer.concat([content ?? Buffer.alloc(0), ...behind]);
  const declared = form.declares === 'everything' ? body : content;
  const fields = ordinaryFields(request, declared, address, constant, form);
  return {
    method: request.method,
    target,
    fields,
    body,
    octets: octetsOf(
      `${request.method} ${target} HTTP/${form.httpVersion ?? '1.1'}`,
      fields,
      body,
      form.spelled,
    ),
    ...(form.httpVersion === '1.0' && { httpVersion: form.httpVersion }),
    ...(form.piecemeal && { piecemeal: true }),
    ...(form.spelled && { spelled: form.spelled }),
    ...(behind.length > 0 && { hasBehind: true }),
  };
}

function writeBehind({ method, target, fields = [] }: Behind, address: Address, constant: Constant): Buffer {
  const request = { method, target: targetBelow(address, target), fields };
  return Buffer.from(writeRequest(request, request.target, address, constant).octets);
}

function ordinaryFields(
  request: HttpRequest,
  declared: Uint8Array | null,
  address: Address,
  constant: Constant,
  form: RequestForm,
): FieldLine[] {
  const own = (name: string) => fieldValues(request.fields, name).length > 0;
  const connection = form.connection === undefined ? 'close' : form.connection;
  const fields: FieldLine[] = [];
  if (!own('host') && !form.withoutHost) fields.push(['Host', address.authority]);
  if (!own('connection') && connection !== null) fields.push(['Connection', connection]);
  fields.push(...constantFields(request, constant), ...request.fields);
  const isUndeclared = own('transfer-encoding') && form.declares !== 'everything';
  if (declared && !own('content-length') && !isUndeclared) {
    fields.push(['Content-Length', String(declared.length)]);
  }
  return fields;
}

/** RFC 6455 §1.3 */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const KEY_OCTETS = 16;

interface HandshakeParts {
  /** Below the endpoint's address, as it is to be sent. */
  readonly target: string;
  readonly origin?: string | null;
  /** Offered in this order. */
  readonly subprotocols?: readonly string[];
}

/** A well-formed opening handshake (RFC 6455 §4.1); what a probe wants wrong it changes in the result. */
export function handshakeRequest({ target, origin, subprotocols = [] }: HandshakeParts): HttpRequest {
  const fields: FieldLine[] = [
    ['Upgrade', 'websocket'],
    ['Connection', 'Upgrade'],
    ['Sec-WebSocket-Key', randomKey()],
    ['Sec-WebSocket-Version', '13'],
  ];
  if (origin) fields.push(['Origin', origin]);
  if (subprotocols.length > 0) fields.push(['Sec-WebSocket-Protocol', subprotocols.join(', ')]);
  return { method: 'GET', target, fields };
}

/** 16 random octets in base64 (§4.1). */
export function randomKey(): string {
  return randomBytes(KEY_OCTETS).toString('base64');
}

/** The `Sec-WebSocket-Accept` that a key calls for (§4.2.2). */
export function acceptFor(key: string): string {
  return createHash('sha1')
    .update(key + GUID)
    .digest('base64');
}

/** The same for the key of a request; null unless it has one field with 16 octets in base64. */
export function expectedAccept(fields: readonly FieldLine[]): string | null {
  const [key, ...others] = fieldValues(fields, 'sec-websocket-key');
  if (key === undefined || others.length > 0) return null;
  const octets = Buffer.from(key, 'base64');
  return octets.length === KEY_OCTETS && octets.toString('base64') === key ? acceptFor(key) : null;
}
