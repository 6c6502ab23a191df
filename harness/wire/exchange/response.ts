import { isIP } from 'node:net';
import { HarnessError } from '../../base/exit.ts';
import type { Conversation } from '../conversation.ts';
import type { Exchange, FieldLine } from '../exchange.ts';
import { type CacheControl, readCacheControl } from '../fields/cache-control.ts';
import { isToken } from '../fields/grammar/field-grammar.ts';
import {
  type HttpDate,
  type RetryAfter,
  readHttpDate,
  readRetryAfter,
  retryAfterMs,
} from '../fields/grammar/http-date.ts';
import { findBodyLinks, type LinkReading, navigates, parseLinks } from '../fields/link.ts';
import { type ChallengeReading, parseChallenges } from '../fields/security/challenge.ts';
import {
  acceptQueryFault,
  lifecycleFault,
  partialFault,
  readContentRange,
  readTransportSecurity,
  type TransportSecurity,
} from '../fields/single-fields.ts';
import { namesPolicies, violatedPoliciesFault } from '../json/problem.ts';
import { latin1Text, visible } from '../octets/utf8.ts';
import { type QuotaReading, readQuota } from '../quota/quota.ts';
import { NAMED_POLICIES } from '../quota/ratelimit-named.ts';
import { isCredential } from '../redaction/marker.ts';
import { findInternals, findSecretPlaces, isInnerHost, SEARCHED, type SecretPlace } from './content/leaks.ts';
import { keep, ResponseMessage } from './response-message.ts';

/** Fields that carry an identifier of the request, in the order in which they are looked for. */
const REQUEST_ID_FIELDS = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-amz-request-id',
  'x-trace-id',
  'cf-ray',
  'traceparent',
] as const;

/** Fields that name the software behind a response. */
const PRODUCT_FIELD = /^(?:server|x-powered-by|x-aspnet(?:mvc)?-version|x-generator)$/i;
const VERSION_FIELD = /^(?:x-)?(?:[a-z]+-)?api-version$|^(?:content|x)-version$/i;
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
/** Without repeated slashes and the one at its end. */
const samePlace = (pathname: string): string => pathname.replace(/\/+/g, '/').replace(/(?<=.)\/$/, '');
/** The same host, over TLS in place of none. */
const isUpgrade = (here: URL, there: URL): boolean =>
  there.protocol === 'https:' && here.protocol === 'http:' && there.hostname === here.hostname;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/** Usual methods in small letters, which are others (RFC 9110 §9.1). */
const SMALL: ReadonlySet<string> = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options']);

/**
 * The response of an exchange, or of a conversation's handshake, as checks read it. Throws HarnessError when none came:
 * ask for `exchange.response` first.
 */
export function viewResponse(evidence: Exchange | Conversation): ResponseView {
  const { request, response } = evidence.kind === 'exchange' ? evidence : evidence.handshake;
  if (response === null) throw new HarnessError(`${evidence.id} has no response to read`);
  return new ResponseView(evidence, request, response);
}

/**
 * Everything a check asks of a response, each worked out when it is first asked for. Field names are taken in any
 * letter case. A malformed field never throws: the property with `fault` in its name describes it.
 */
export class ResponseView extends ResponseMessage {
  // --- what it tells of the service ---

  /** What the content tells of the service's insides (stack trace, file path, SQL …); null for nothing. */
  get internals(): string | null {
    return findInternals(this.text ?? latin1Text(this.content));
  }

  /** Why `internals` has not looked at all of the content; null when it has. */
  get unsearched(): string | null {
    const { length } = this.content;
    return this.unread ?? (length > SEARCHED ? `${SEARCHED} of its ${length} octets are searched` : null);
  }

  /** The first field that tells a product and its version, with its value; null when none does. */
  get productVersion(): string | null {
    const telling = this.fields.find(([name, value]) => PRODUCT_FIELD.test(name) && /\d+\.\d+/.test(value));
    return telling === undefined ? null : `${telling[0]}: ${visible(telling[1], 80)}`;
  }

  // --- authentication ---

  /** WWW-Authenticate (RFC 9110 §11.6.1). */
  get challenges(): ChallengeReading {
    return keep(this, 'challenges', parseChallenges(this.fieldLines('www-authenticate')));
  }

  /** Their fault, `none` where there are none; null when there is a well-formed one. */
  get challengeFault(): string | null {
    const { challenges, faults } = this.challenges;
    return faults[0] ?? (challenges.length > 0 ? null : 'none');
  }

  /** The error code that a Bearer challenge tells (RFC 6750 §3.1), made visible; null for none. */
  get bearerError(): string | null {
    const bearer = this.challenges.challenges.find(({ scheme }) => scheme.toLowerCase() === 'bearer');
    const error = bearer?.parameters.get('error');
    return error === undefined ? null : visible(error, 60);
  }

  /** Where in the response a secret, or part of one, was found and redacted. */
  get secretPlaces(): readonly SecretPlace[] {
    const isDecoded = this.codingFault === null && this.codingLimit === null;
    const octets = isDecoded ? this.content : this.body.bytes;
    return keep(this, 'secretPlaces', findSecretPlaces(this.response, octets));
  }

  /** The first place with a credential of the service in words, e.g. `the field X-Echo`; null when there is none. */
  get credentialTrace(): string | null {
    return this.secretPlaces.find(isCredential)?.place ?? null;
  }

  // --- TLS ---

  /** It came over TLS from a host with a name: of others browsers keep no policy (RFC 6797 §8.1.1). */
  get isOfSecureHost(): boolean {
    const { protocol, hostname } = URL.parse(this.request.url) ?? {};
    return (
      (protocol === 'https:' || protocol === 'wss:') && isIP(hostname?.replace(/^\[|\]$/g, '') ?? '') === 0
    );
  }

  /** Strict-Transport-Security (RFC 6797 §6.1), of several lines the first (§8.1); null when absent. */
  get transportSecurity(): TransportSecurity | null {
    const [value] = this.fieldLines('strict-transport-security');
    return value === undefined ? null : readTransportSecurity(value);
  }

  // --- time, caching, quota ---

  #timeIn(name: string): HttpDate | null {
    return this.fieldAs(name, (value) => readHttpDate(value, this.receivedAt));
  }

  #momentIn(name: string): Date | null {
    const date = this.#timeIn(name);
    return date?.kind === 'date' ? date.at : null;
  }

  /** Date (RFC 9110 §6.6.1); null when absent or malformed. */
  get date(): Date | null {
    return this.#momentIn('date');
  }

  /** The fault of Date, an obsolete form included; null when it is right or absent. */
  get dateFault(): string | null {
    const date = this.#timeIn('date');
    if (date === null) return null;
    if (date.kind === 'invalid') return date.reason;
    return date.form === 'imf-fixdate' ? null : `the obsolete ${date.form} form`;
  }

  /** The fault of Deprecation (RFC 9745) or Sunset (RFC 8594); null if it has none, or is absent. */
  lifecycleFault(name: 'Deprecation' | 'Sunset'): string | null {
    return this.fieldAs(name, (value) => lifecycleFault(name, value, this.receivedAt));
  }

  /** ETag where it is no entity tag (RFC 9110 §8.8.3); null when it is one, or absent. */
  get etagFault(): string | null {
    return this.fieldAs('etag', (value) => (ENTITY_TAG.test(value) ? null : visible(value, 80)));
  }

  /** ETag (RFC 9110 §8.8.3) as it can be repeated in a precondition; null when absent or malformed. */
  get entityTag(): string | null {
    return this.fieldAs('etag', (value) => (ENTITY_TAG.test(value) ? value : null));
  }

  /** The fault of this 206 (RFC 9110 §15.3.7), for one range that begins at 0; null for none. */
  get partialFault(): string | null {
    return partialFault(this.field('content-range'), this.body.received);
  }

  /** Content-Range of a 206 (RFC 9110 §14.4); null when absent or malformed. */
  get contentRange(): ReturnType<typeof readContentRange> {
    return readContentRange(this.field('content-range') ?? '');
  }

  /** Last-Modified (RFC 9110 §8.8.2); null when absent or malformed. */
  get lastModified(): Date | null {
    return this.#momentIn('last-modified');
  }

  /** Last-Modified where it is no IMF-fixdate; null when it is one, or absent. */
  get lastModifiedFault(): string | null {
    return this.#writtenFault('last-modified');
  }

  /**
   * Expires (RFC 9111 §5.3) where it is no IMF-fixdate; null when it is one, or absent. `0` and `-1` are meant to be no
   * date: caches take them for the past, as the service does.
   */
  get expiresFault(): string | null {
    return /^(?:0|-1)$/.test(this.field('expires') ?? '') ? null : this.#writtenFault('expires');
  }

  /** Whether Expires is later than Date (RFC 9111 §4.2.1): one in the past, such as `0`, gives a cache no time. */
  get expiresLater(): boolean {
    const expires = this.#momentIn('expires');
    return expires !== null && Number(expires) > Number(this.date ?? this.receivedAt);
  }

  #writtenFault(name: string): string | null {
    const date = this.#timeIn(name);
    if (date === null || (date.kind === 'date' && date.form === 'imf-fixdate')) return null;
    return visible(this.field(name) ?? '', 60);
  }

  /** Retry-After (RFC 9110 §10.2.3); null when absent. */
  get retryAfter(): RetryAfter | null {
    return this.fieldAs('retry-after', (value) => readRetryAfter(value, this.receivedAt));
  }

  /** Milliseconds to wait from receipt, by Retry-After; null when absent or invalid. */
  get retryAfterMs(): number | null {
    return this.retryAfter && retryAfterMs(this.retryAfter, this);
  }

  /** Cache-Control (RFC 9111 §5.2). */
  get cacheControl(): CacheControl {
    return keep(this, 'cacheControl', readCacheControl(this.fieldLines('cache-control')));
  }

  /** What the quota fields tell, in whichever dialect. */
  get quota(): QuotaReading {
    return readQuota(this.fields, this);
  }

  /** It is a problem of a quota, and says which policies are spent (draft-ietf-httpapi-ratelimit-headers-11). */
  get isQuotaProblem(): boolean {
    return this.isProblem && namesPolicies(this.json.value);
  }

  /** The fault of those policies; null for none. `served`: the quota of an earlier answer. */
  violatedPoliciesFault(served: QuotaReading): string | null {
    const problem = this.json.value;
    const announced = [this.quota, served].flatMap(({ dialect, policies }) =>
      dialect === NAMED_POLICIES.name ? policies.flatMap(({ name }) => name ?? []) : [],
    );
    return namesPolicies(problem) ? violatedPoliciesFault(problem, announced) : null;
  }

  // --- where else ---

  /** Location (RFC 9110 §10.2.2), resolved against the request's URL; null when absent or no URI reference. */
  get location(): URL | null {
    return this.fieldAs('location', (value) => URL.parse(value, this.request.url));
  }

  /** The redirect that this is, in words; null for none. */
  get redirect(): string | null {
    const redirects = this.status >= 300 && this.status < 400 && this.status !== 304;
    return redirects ? `status ${this.status} to ${this.field('location') ?? 'nowhere'}` : null;
  }

  /** Where the request went, and where Location leads, if that is another origin; else null. */
  get #elsewhere(): { readonly here: URL; readonly there: URL } | null {
    const here = URL.parse(this.request.url);
    const there = this.location;
    return here === null || there === null || here.origin === there.origin ? null : { here, there };
  }

  /** The origin to which it redirects the very same request, over TLS in place of none; null where it does not. */
  get overTls(): string | null {
    if (this.redirect === null || this.#elsewhere === null) return null;
    const { here, there } = this.#elsewhere;
    const isSame = there.pathname === here.pathname && there.search === here.search;
    return isSame && isUpgrade(here, there) ? there.origin : null;
  }

  /** In the words of nginx, Apache, Go and others, for HTTP at a port of HTTPS. */
  get expectsTls(): boolean {
    const said = /HTTP request (?:was sent )?to (?:an )?HTTPS|speaking plain HTTP to an SSL-enabled/i;
    return this.status === 400 && said.test(this.text?.slice(0, 2_000) ?? '');
  }

  /** The same where it leads to another origin, but for the very same place over TLS. */
  get foreignRedirect(): string | null {
    if (this.#elsewhere === null) return null;
    const { here, there } = this.#elsewhere;
    return isUpgrade(here, there) ? null : this.redirect;
  }

  /**
   * The same where it leads to an inner network from outside of it, or to the same path of the same host at another port
   * or without TLS: to where a service stands behind its proxy.
   */
  get innerRedirect(): string | null {
    if (this.#elsewhere === null) return null;
    const { here, there } = this.#elsewhere;
    if (there.hostname === here.hostname) {
      const isSame = samePlace(here.pathname) === samePlace(there.pathname);
      return isSame && !isUpgrade(here, there) ? this.redirect : null;
    }
    const isOutside = !isInnerHost(here.hostname) || LOOPBACK.test(here.hostname);
    const isInner = isInnerHost(there.hostname) && !LOOPBACK.test(there.hostname);
    return isOutside && isInner ? this.redirect : null;
  }

  /** The Link field (RFC 8288), with links as sent. */
  get link(): LinkReading {
    return keep(this, 'link', parseLinks(this.fieldLines('link')));
  }

  /**
   * Where a client goes on: targets of Location, and of such links in the Link field and in a JSON body, resolved
   * against the request's URL.
   */
  get linkTargets(): readonly URL[] {
    const inField = this.link.links
      .filter(({ relations }) => navigates(relations))
      .map(({ target }) => target);
    const inBody = this.isJson ? findBodyLinks(this.json.value) : [];
    const targets = [...this.fieldLines('location'), ...inField, ...inBody];
    const urls = targets.flatMap((target) => URL.parse(target, this.request.url) ?? []);
    return keep(this, 'linkTargets', urls);
  }

  /** Paths of those targets that stay at the request's origin, each once. */
  get sameOriginLinks(): readonly string[] {
    const origin = URL.parse(this.request.url)?.origin;
    const own = this.linkTargets.filter((url) => url.origin === origin);
    return [...new Set(own.map(({ pathname }) => pathname))];
  }

  /** The first of those targets on a host of an inner network, if that is not where the request went; else null. */
  get innerLink(): URL | null {
    const own = URL.parse(this.request.url)?.hostname ?? '';
    const isOwn = (hostname: string) => hostname === own || (LOOPBACK.test(own) && LOOPBACK.test(hostname));
    return this.linkTargets.find(({ hostname }) => isInnerHost(hostname) && !isOwn(hostname)) ?? null;
  }

  /** Field names of Vary (RFC 9110 §12.5.5) in lower case, or `*`; empty when it is absent or empty. */
  get vary(): readonly string[] {
    return this.elements('vary').map((name) => name.toLowerCase());
  }

  /** Methods of the Allow field (RFC 9110 §10.2.1); empty when it is absent or empty. */
  get allow(): readonly string[] {
    return this.elements('allow');
  }

  /** Allow where it is no list of methods (RFC 9110 §10.2.1), or writes a usual one in small letters (§9.1); else null. */
  get allowFault(): string | null {
    const wrong = this.allow.find((method) => !isToken(method) || SMALL.has(method));
    return wrong === undefined ? null : visible(this.field('allow') ?? '', 80);
  }

  /** The fault of Accept-Query (RFC 10008 §3); null if it has none, or is absent. */
  get acceptQueryFault(): string | null {
    return this.fieldAs('accept-query', acceptQueryFault);
  }

  /** Fields that say which version answers. */
  get versionFields(): readonly FieldLine[] {
    return this.fields.filter(([name]) => VERSION_FIELD.test(name));
  }

  /** The field that identifies the request, and its value; null when none of the usual ones is there. */
  get requestId(): { readonly field: string; readonly value: string } | null {
    const field = REQUEST_ID_FIELDS.find((name) => this.has(name));
    return field === undefined ? null : { field, value: this.field(field) ?? '' };
  }
}
