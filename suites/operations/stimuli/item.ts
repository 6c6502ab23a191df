import { isJsonObject, type JsonObject } from '../../../harness/base/json-text.ts';
import type { Facets } from '../../../harness/config/operation/call/call.ts';
import type { Lifecycle } from '../../../harness/config/operation/lifecycle.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';

/** The item that a reply carries; null where it carries none. */
export function itemOf(reply: Reply): JsonObject | null {
  if (!reply.served) return null;
  const { value } = reply.response.json;
  return isJsonObject(value) ? value : null;
}

/** The name of an item, as it stands in its path; null where it has none. */
export function idOf(item: JsonObject | null, { idMember }: Pick<Lifecycle, 'idMember'>): string | null {
  const id = item?.[idMember];
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? String(id) : null;
}

/** The name of the item that a reply carries; null where it carries none. */
export function idIn(reply: Reply | undefined, lifecycle: Pick<Lifecycle, 'idMember'>): string | null {
  return reply === undefined ? null : idOf(itemOf(reply), lifecycle);
}

/** The name of the item that a creation says it has made: in the body, or in Location; null for none. */
export function createdId(created: Reply | undefined, lifecycle: Pick<Lifecycle, 'idMember'>): string | null {
  if (created === undefined || !created.served) return null;
  const { location } = created.response;
  return idIn(created, lifecycle) ?? (location && idInPlace(location, created, lifecycle));
}

/** The query names the item, PostgREST's operator before it, or else the last segment of the path. */
function idInPlace(
  { pathname, searchParams }: URL,
  created: Reply,
  { idMember }: Pick<Lifecycle, 'idMember'>,
): string | null {
  const named = searchParams.get(idMember)?.replace(/^eq\./, '');
  if (named) return named;
  // The address of the collection names no item.
  const collection = new URL(created.exchange.request.url).pathname;
  const [place, above] = [pathname, collection].map((path) => path.split('/').filter(Boolean));
  const last = place?.join('/') === above?.join('/') ? undefined : place?.at(-1);
  if (last === undefined) return null;
  try {
    return decodeURIComponent(last);
  } catch {
    return null;
  }
}

/** The names of the items of a list. */
export function idsIn(
  list: readonly unknown[],
  lifecycle: Pick<Lifecycle, 'idMember'>,
): readonly (string | null)[] {
  return list.map((item) => idOf(isJsonObject(item) ? item : null, lifecycle));
}

/** Names that mean something elsewhere, so that no value can be made up for them. */
const REFERENCE =
  /(?:id|ids|ref|uri|url|href|link|key|code|parent|owner|user|email|phone|status|state|type)$/i;

/** Text of which nothing more is demanded than a length. */
function isFreeText({ type, keywords }: Facets): boolean {
  return (
    type === 'string' &&
    !('format' in keywords) &&
    !('pattern' in keywords) &&
    !('enum' in keywords) &&
    !('const' in keywords)
  );
}

/** A value for a member that the documents leave optional; undefined where it is better left out. */
function madeUp(name: string, facets: Facets): unknown {
  const { type, keywords } = facets;
  if (REFERENCE.test(name) || 'enum' in keywords || 'const' in keywords) return undefined;
  if (type === 'boolean') return true;
  if (type === 'integer') {
    const { minimum = 1, maximum = Number.POSITIVE_INFINITY, multipleOf } = keywords;
    const value = Math.max(Number(minimum), 1);
    return multipleOf === undefined && value <= Number(maximum) ? value : undefined;
  }
  return isFreeText(facets) && fits('conform', facets) ? 'conform' : undefined;
}

function fits(
  text: string,
  { keywords: { minLength = 0, maxLength = Number.POSITIVE_INFINITY } }: Facets,
): boolean {
  return text.length >= Number(minLength) && text.length <= Number(maxLength);
}

/** The documented body, and a value for each optional member that one can be made up for. */
export function fullBody({ body, writable }: Lifecycle): JsonObject {
  const more = Object.entries(writable).flatMap(([name, facets]) => {
    const value = name in body ? undefined : madeUp(name, facets);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...body, ...Object.fromEntries(more) };
}

/** Another value that the documents allow as well; undefined where there is none for certain. */
function otherValue(value: unknown, name: string, facets: Facets, mark: string): unknown {
  const { type, keywords } = facets;
  if (type === 'boolean' && typeof value === 'boolean') return !value;
  if (REFERENCE.test(name)) return undefined;
  if (type === 'integer' && typeof value === 'number' && !('enum' in keywords) && !('multipleOf' in keywords))
    return value + 1 <= Number(keywords.maximum ?? Number.POSITIVE_INFINITY) ? value + 1 : undefined;
  if (!isFreeText(facets) || typeof value !== 'string') return undefined;
  return [`${value} ${mark}`, mark].find((text) => text !== value && fits(text, facets));
}

/** Members that can be changed, with another value for each: texts first, for they are stored as they are. */
export function changesOf(body: JsonObject, { writable }: Lifecycle, mark: string): JsonObject {
  const changed = Object.entries(body).flatMap(([name, value]) => {
    const facets = writable[name];
    const other = facets && otherValue(value, name, facets, mark);
    return other === undefined ? [] : [[name, other] as const];
  });
  const isText = ([, value]: readonly [string, unknown]) => typeof value === 'string';
  return Object.fromEntries([...changed.filter(isText), ...changed.filter((each) => !isText(each))]);
}

/** Members of a change, and one beside them that breaks its schema. */
export interface HalfBroken {
  readonly sound: JsonObject;
  readonly broken: JsonObject;
}

/** A change that must be refused, although a part of it could be carried out; null where none is known for certain. */
export function brokenChange(body: JsonObject, lifecycle: Lifecycle): HalfBroken | null {
  const [sound] = Object.entries(changesOf(body, lifecycle, 'refused')).filter(([name, value]) =>
    isComparable(name, value, lifecycle),
  );
  const broken = Object.entries(lifecycle.writable).find(
    ([name, { type }]) => name !== sound?.[0] && (type === 'integer' || type === 'boolean'),
  );
  if (sound === undefined || broken === undefined) return null;
  return { sound: Object.fromEntries([sound]), broken: { [broken[0]]: ['conform'] } };
}

/** What no service gives by itself, by type and format. */
const STAMPS: Readonly<Record<string, unknown>> = {
  string: 'conform',
  integer: 1_000_003,
  'string date-time': '2001-02-03T04:05:06Z',
  'string date': '2001-02-03',
};

/** A value for the first member that is documented as readOnly, but for the id; empty where there is none. */
export function stampOf({ readable, idMember }: Lifecycle): JsonObject {
  for (const [name, { type, keywords }] of Object.entries(readable)) {
    if (keywords.readOnly !== true || name === idMember || 'enum' in keywords) continue;
    const stamp = STAMPS[[type, keywords.format].filter(Boolean).join(' ')];
    if (stamp !== undefined) return { [name]: stamp };
  }
  return {};
}

/** Two members that an item need not have, and whose absence shows. */
export function optionalMembers(
  body: JsonObject,
  lifecycle: Lifecycle,
): { readonly leftOut: string | null; readonly emptied: string | null } {
  const [leftOut = null, second = null] = Object.entries(body)
    .filter(([name, value]) => !lifecycle.required.includes(name) && isComparable(name, value, lifecycle))
    .filter(([name]) => !('default' in (lifecycle.writable[name]?.keywords ?? {})))
    .filter(([name]) => !('default' in (lifecycle.readable[name]?.keywords ?? {})))
    .map(([name]) => name);
  return { leftOut, emptied: second ?? (lifecycle.replace === null ? leftOut : null) };
}

/** Letters of two and three bytes, an emoji, and a combining sequence; no space at an end. */
const UNUSUAL = 'Größe 漢字 👍🏽 cafe\u0301';
/** Longer texts are not written. */
const LONGEST = 2_000;

/** The body with each free text replaced, up to its documented length; the same body if it has none. */
export function unusualBody(body: JsonObject, lifecycle: Lifecycle): JsonObject {
  const texts = Object.entries(changesOf(body, lifecycle, UNUSUAL)).flatMap(([name, value]) => {
    const { maxLength } = lifecycle.writable[name]?.keywords ?? {};
    if (typeof value !== 'string') return [];
    const length = typeof maxLength === 'number' && maxLength <= LONGEST ? maxLength : value.length;
    return [[name, value.padEnd(length, 'é')] as const];
  });
  return texts.length === 0 ? body : { ...body, ...Object.fromEntries(texts) };
}

/** Text that differs in its normal form only (Unicode Standard Annex 15), or in spaces around it, is the same. */
export function textLossIn(written: JsonObject, read: JsonObject, lifecycle: Lifecycle): string | null {
  const plain = (object: JsonObject) =>
    Object.fromEntries(
      Object.entries(object).map(([name, value]) => [
        name,
        typeof value === 'string' ? value.normalize('NFC').trim() : value,
      ]),
    );
  return lossIn(plain(written), plain(read), lifecycle);
}

/**
 * The first member of what was written that is another in what was read, in words; null where none is. Only what is
 * documented to be read, and what has one form: dates, addresses and other formats may be written otherwise.
 */
export function lossIn(
  written: JsonObject,
  read: JsonObject,
  { writable, readable }: Lifecycle,
): string | null {
  for (const [name, value] of Object.entries(written)) {
    if (isComparable(name, value, { writable, readable }) && read[name] !== value)
      return `${JSON.stringify(name)} ${told(read[name])} where ${told(value)} was written`;
  }
  return null;
}

/** The names of the items of a list that are as they were written; none where nothing of it can be compared. */
export function idsOfCopies(
  list: readonly unknown[],
  written: JsonObject,
  lifecycle: Lifecycle,
): readonly (string | null)[] {
  if (!hasComparable(written, lifecycle)) return [];
  const copies = list.filter((item) => isJsonObject(item) && lossIn(written, item, lifecycle) === null);
  return idsIn(copies, lifecycle);
}

/** Whether anything in it is read as it was written. */
export function hasComparable(written: JsonObject, lifecycle: Lifecycle): boolean {
  return Object.entries(written).some(([name, value]) => isComparable(name, value, lifecycle));
}

function isComparable(
  name: string,
  value: unknown,
  { writable, readable }: Pick<Lifecycle, 'writable' | 'readable'>,
): boolean {
  const [sent, answered] = [writable[name], readable[name]];
  if (!sent || !answered || answered.keywords.writeOnly === true || value === null) return false;
  const isPlain = ['string', 'integer', 'boolean'].includes(sent.type ?? '') && sent.type === answered.type;
  return isPlain && !('format' in sent.keywords) && !('format' in answered.keywords);
}

/** Ids may be given for each account by itself: the values have to be the same as well. */
export function isSameItem(own: JsonObject, other: unknown, lifecycle: Lifecycle): boolean {
  if (!isJsonObject(other) || idOf(own, lifecycle) !== idOf(other, lifecycle)) return false;
  return lossIn(own, other, lifecycle) === null;
}

function told(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length <= 60 ? text : `${text.slice(0, 50)}…`;
}
