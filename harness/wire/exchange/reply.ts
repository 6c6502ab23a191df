import { NO_RESPONSE } from '../../base/finding.ts';
import { Violation } from '../../base/verdict.ts';
import type { Exchange, RecordedRequest } from '../exchange.ts';
import { fieldValue, fieldValues, isToken } from '../fields/grammar/field-grammar.ts';
import { type FramingMatter, faultOfMatter } from './framing-faults.ts';
import { type ResponseView, viewResponse } from './response.ts';

/** What a service answered to one stimulus, as checks read it. */
export class Reply {
  readonly exchange: Exchange;
  #view: ResponseView | undefined;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
  }

  get evidence(): string {
    return this.exchange.id;
  }

  /** The request, for messages: `GET /v1/resources without a credential`. */
  get to(): string {
    return `${this.exchange.request.method} ${this.exchange.purpose}`;
  }

  /** Of the response; null when none came. */
  get status(): number | null {
    return this.exchange.response?.status ?? null;
  }

  /** The first fault of that kind in a message read from the raw socket; null when there is none. */
  framingFault(matter: FramingMatter): string | null {
    return faultOfMatter(this.exchange.response?.framingFaults ?? [], matter);
  }

  /** It was sent in a form that every server reads: nothing about it is malformed, unheard of or overlong. */
  get isOrdinary(): boolean {
    return isOrdinary(this.exchange.request);
  }

  /** It was read octet by octet: a response, or octets in place of one. */
  get isFramingSeen(): boolean {
    const { request, response, failure } = this.exchange;
    if (request.httpVersion === '2') return false;
    if (response !== null) return response.framingFaults !== null;
    return failure?.kind === 'malformed' || failure?.kind === 'fields-too-large';
  }

  /** A whole response came. */
  get answered(): boolean {
    return this.exchange.response !== null && this.exchange.failure === null;
  }

  /** A response came whose body is longer than the limit of reading: that is no fault. */
  get cut(): boolean {
    return this.exchange.response !== null && this.exchange.failure?.kind === 'body-too-large';
  }

  /**
   * The statuses of all responses on the connection, in their order. A 408 behind another one is none: an idle connection
   * may get one before it is closed (RFC 9110 §15.5.9).
   */
  get statuses(): readonly number[] {
    const { response, further = [] } = this.exchange;
    if (response === null) return [];
    const others = further.map(({ status }) => status).filter((status) => status !== 408);
    return [response.status, ...others];
  }

  /**
   * Another request than the first was answered. A 400 behind the first response refuses the rest of the message, and no
   * other request: a hidden one is well formed.
   */
  get answersAnother(): boolean {
    return this.statuses.slice(1).some((status) => status !== 400);
  }

  /** The connection stood for a while behind the last response. */
  get staysOpen(): boolean {
    return this.exchange.connection?.afterwards === 'open';
  }

  /** By its status: content that ends too early was handed out up to there. */
  get served(): boolean {
    const status = this.status ?? 0;
    return status >= 200 && status < 300;
  }

  /** Why octets came in answer to an ordinary request, but no HTTP response; null otherwise. */
  get unreadMessage(): string | null {
    const { response, failure } = this.exchange;
    const isUnread = failure?.kind === 'malformed' || failure?.kind === 'fields-too-large';
    return response === null && isUnread && this.isOrdinary ? failure.message : null;
  }

  /** The response; asking for one that never came is a violation of whatever promised it. */
  get response(): ResponseView {
    if (this.exchange.response === null) {
      const got = `${NO_RESPONSE} (${this.exchange.failure?.message ?? 'no reason known'})`;
      throw Violation.of({ expected: 'a response', got }, this.evidence);
    }
    this.#view ??= viewResponse(this.exchange);
    return this.#view;
  }

  // --- beside another one ---

  /** The same content, octet by octet. */
  hasSameContentAs(other: Reply): boolean {
    return Buffer.compare(this.response.content, other.response.content) === 0;
  }

  /** In the same content codings, or both in none. */
  hasSameCodingAs(other: Reply): boolean {
    return String(this.response.contentCodings) === String(other.response.contentCodings);
  }

  /** Both have a strong entity tag (RFC 9110 §8.8.1), and it is the same. */
  sharesStrongTagWith(other: Reply): boolean {
    const { entityTag } = this.response;
    return entityTag !== null && !entityTag.startsWith('W/') && entityTag === other.response.entityTag;
  }

  /** A 206 whose octets can be compared with those of the whole: neither has a content coding. */
  isPartOf(whole: Reply): boolean {
    const isPlain = [this, whole].every(({ response }) => response.contentCodings.length === 0);
    return this.status === 206 && isPlain;
  }

  /** The fault of the octets of a part of the whole, by where it says that they begin; null for none. */
  partFault(whole: Reply): string | null {
    const { contentRange, content } = this.response;
    if (contentRange === null) return null;
    const { first, last } = contentRange;
    const meant = whole.response.content.subarray(first, last + 1);
    return Buffer.compare(meant, content) === 0 ? null : `other octets than ${first} to ${last}`;
  }
}

/** Names the first reply that is no HTTP response, though its request was ordinary; null for none. */
export function unreadMessageIn(replies: readonly Reply[]): string | null {
  const unread = replies.find(({ unreadMessage }) => unreadMessage !== null);
  return unread === undefined ? null : `${unread.to} cannot be judged: ${unread.unreadMessage}`;
}

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
export function isOrdinary({ method, target, fields, spelled, hasBehind }: RecordedRequest): boolean {
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
    !spelled &&
    !hasBehind
  );
}

/** Whether the client takes JSON as gladly as anything else (RFC 9110 §12.5.1): it asks for no web page. */
export function asksForNoPage({ fields }: RecordedRequest): boolean {
  return !/\btext\/html\b/i.test(fieldValue(fields, 'accept') ?? '');
}
