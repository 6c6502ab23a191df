import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { ResponseView } from '../../../harness/wire/exchange/response.ts';
import { fieldValue, isToken } from '../../../harness/wire/fields/grammar/field-grammar.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';
import { isQuotaField } from '../../../harness/wire/quota/quota.ts';
import { letsIn, type PagePolicy, SAFE_FOR_PAGES } from './page.ts';

/** What answers say of pages of other origins (Fetch §3.3). */

export const ALLOW_ORIGIN = 'access-control-allow-origin';
const ALLOW_CREDENTIALS = 'access-control-allow-credentials';
const ALLOW_METHODS = 'access-control-allow-methods';
const ALLOW_HEADERS = 'access-control-allow-headers';
const EXPOSE_HEADERS = 'access-control-expose-headers';
const MAX_AGE = 'access-control-max-age';

/** The origin of the page that a request was for; null for none. */
export function originOf({ exchange }: Reply): string | null {
  return fieldValue(exchange.request.fields, 'origin') ?? null;
}

export function isPreflight({ exchange: { request } }: Reply): boolean {
  return request.method === 'OPTIONS' && requested(request.fields, 'method') !== undefined;
}

const requested = (fields: Reply['exchange']['request']['fields'], what: 'method' | 'headers') =>
  fieldValue(fields, `access-control-request-${what}`);

/** Whether it is for a page that the policy names. */
export const isForNamed = (policy: PagePolicy | null) => (reply: Reply) => {
  const origin = originOf(reply);
  return policy !== null && origin !== null && letsIn(policy, origin);
};

/** Whether a page that the policy names may read it. */
export const isReadBy = (policy: PagePolicy | null) => (reply: Reply) =>
  isForNamed(policy)(reply) && !isPreflight(reply) && letsRead(reply, originOf(reply));

/** A header for pages as it stands, for messages. */
function shown(response: ResponseView, name: string): string {
  return `"${visible(response.field(name) ?? '', 80)}"`;
}

/** Fetch §3.3.3: `*`, `null` or one origin. Nothing at all is as good as no header. */
export function allowOriginFault({ response }: Reply): string | null {
  const value = response.field(ALLOW_ORIGIN) ?? '';
  return ['', '*', 'null'].includes(value) || isOrigin(value) ? null : shown(response, ALLOW_ORIGIN);
}

/** As browsers write it: of the web in small letters and without its default port; of an app with any host. */
function isOrigin(value: string): boolean {
  if (/^https?:/.test(value)) return !value.includes('*') && URL.parse(value)?.origin === value;
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s,/?#]+$/.test(value);
}

/** Fetch §3.3.3: `true`, in small letters; another word says nothing. */
export function allowCredentialsFault({ response }: Reply): string | null {
  const value = response.field(ALLOW_CREDENTIALS) ?? '';
  return /true/i.test(value) && value !== 'true' ? shown(response, ALLOW_CREDENTIALS) : null;
}

/** The header for pages that is no list of names; null for none. */
export function nameListFault({ response }: Reply): string | null {
  const bad = [ALLOW_METHODS, ALLOW_HEADERS, EXPOSE_HEADERS].find((name) =>
    response.elements(name).some((element) => !isToken(element)),
  );
  return bad === undefined ? null : `${bad}: ${shown(response, bad)}`;
}

export function saysHowLong({ response }: Reply): boolean {
  return response.has(MAX_AGE);
}

/** Fetch §3.3.3: seconds. Browsers take -1 for none. */
export function maxAgeFault({ response }: Reply): string | null {
  return /^(?:\d+|-1)$/.test(response.field(MAX_AGE) ?? '') ? null : shown(response, MAX_AGE);
}

/** A page of that origin may read the answer. */
export function letsRead({ response }: Reply, origin: string | null): boolean {
  const value = response.field(ALLOW_ORIGIN);
  return value === '*' || (origin !== null && value === origin);
}

/** Why the page that it is for may not read it; null if it may. */
export function unreadable(reply: Reply): string | null {
  if (letsRead(reply, originOf(reply))) return null;
  const { response } = reply;
  const value = response.has(ALLOW_ORIGIN) ? shown(response, ALLOW_ORIGIN) : 'none';
  return `${value} (status ${response.status})`;
}

export function allowsAny({ response }: Reply): boolean {
  return response.field(ALLOW_ORIGIN) === '*';
}

export function allowsCredentials({ response }: Reply): boolean {
  return response.field(ALLOW_CREDENTIALS) === 'true';
}

/** Fetch §2.2.2: a page may read these anyway. */
const READABLE: ReadonlySet<string> = new Set(
  'cache-control content-language content-length content-type expires last-modified pragma'.split(' '),
);

/** The names of the headers in the answer that are meant, and that no page may read anyway. */
function fieldsFor({ response }: Reply, isMeant: (name: string) => boolean): readonly string[] {
  const names = response.fields.map(([name]) => name.toLowerCase());
  return names.filter((name) => isMeant(name) && !READABLE.has(name));
}

const stated = (policy: PagePolicy | null) => (name: string) => policy?.exposed.includes(name) ?? false;
/** Those of quotas, which the policy does not name. */
const ofQuota = (policy: PagePolicy | null) => (name: string) =>
  (isQuotaField(name) || name === 'retry-after') && !stated(policy)(name);

/** The first of these headers that the page may not read; null for none. */
function hiddenField(reply: Reply, policy: PagePolicy | null, isMeant: (name: string) => boolean) {
  const exposed = reply.response.elements(EXPOSE_HEADERS).map((name) => name.toLowerCase());
  const hidden = fieldsFor(reply, isMeant).find(
    (name) => !exposed.includes(name) && !isAnyFor(exposed, policy, name),
  );
  return hidden === undefined ? null : `${hidden} is not exposed`;
}

/** Fetch §3.3.3: with credentials * is a name like any other, and it never stands for Authorization. */
function isAnyFor(listed: readonly string[], policy: PagePolicy | null, name: string): boolean {
  return listed.includes('*') && policy?.credentials !== true && name !== 'authorization';
}

export function hasStated(reply: Reply, policy: PagePolicy | null): boolean {
  return fieldsFor(reply, stated(policy)).length > 0;
}

export function hiddenStated(reply: Reply, policy: PagePolicy | null): string | null {
  return hiddenField(reply, policy, stated(policy));
}

export function hasQuota(reply: Reply, policy: PagePolicy | null): boolean {
  return fieldsFor(reply, ofQuota(policy)).length > 0;
}

export function hiddenQuota(reply: Reply, policy: PagePolicy | null): string | null {
  return hiddenField(reply, policy, ofQuota(policy));
}

/** The method that a preflight asked for, if it does not get it. */
export function refusedMethod(reply: Reply, policy: PagePolicy | null): string | null {
  const asked = requested(reply.exchange.request.fields, 'method') ?? '';
  const allowed = reply.response.elements(ALLOW_METHODS);
  if (SAFE_FOR_PAGES.has(asked) || allowed.includes(asked) || isAnyFor(allowed, policy, asked)) return null;
  return `${asked} not in ${shown(reply.response, ALLOW_METHODS)}`;
}

/** The headers that a preflight asked for and does not get. */
export function refusedHeaders(reply: Reply, policy: PagePolicy | null): string | null {
  const asked = (requested(reply.exchange.request.fields, 'headers') ?? '').split(',').filter(Boolean);
  const allowed = reply.response.elements(ALLOW_HEADERS).map((name) => name.toLowerCase());
  const refused = asked.filter((name) => !allowed.includes(name) && !isAnyFor(allowed, policy, name));
  return refused.length === 0 ? null : `${refused.join(', ')} not in ${shown(reply.response, ALLOW_HEADERS)}`;
}

/** Whether two answers to the same request allow different origins. A wildcard that only pages get harms few. */
export function differsByOrigin(one: Reply, other: Reply): boolean {
  const alike =
    one.exchange.request.method === other.exchange.request.method &&
    one.exchange.request.url === other.exchange.request.url &&
    one.status === other.status;
  const [allowed, otherwise] = [one, other].map(({ response }) => response.field(ALLOW_ORIGIN) ?? '*');
  return alike && allowed !== otherwise;
}

/** A cache may give it to another page. */
export function mayBeShared({ response }: Reply): boolean {
  const { vary } = response;
  return !response.cacheControl.has('no-store') && !vary.includes('origin') && !vary.includes('*');
}
