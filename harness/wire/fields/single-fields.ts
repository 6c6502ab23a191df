import { parseItem, parseList, Token } from 'structured-headers';
import type { FieldLine } from '../exchange.ts';
import { visible } from '../octets/utf8.ts';
import { FieldReader, trimSpace } from './grammar/field-grammar.ts';
import { readHttpDate } from './grammar/http-date.ts';
import { structured } from './grammar/structured-field.ts';

/** Fields of responses whose value is no list (RFC 9110, 9111, 9112, 6797): RFC 9110 §5.3 allows one line of each. */
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
  'strict-transport-security',
]);

/** Numbers of a quota: a list of them is no number. */
const QUOTA = /^(?:x-)?rate-?limit-[a-z-]+$/;
const NUMBER = /^\d+(?:\.\d+)?$/;

function isSingle(name: string, lines: readonly FieldLine[]): boolean {
  return SINGLE.has(name) || (QUOTA.test(name) && lines.every(([, value]) => NUMBER.test(trimSpace(value))));
}

/** The first of those fields that stands on several lines, with what these say; null when none does. */
export function repeatedField(fields: readonly FieldLine[]): string | null {
  const values = Map.groupBy(fields, ([name]) => name.toLowerCase());
  for (const [name, lines] of values) {
    const [first] = lines;
    if (first === undefined || lines.length < 2 || !isSingle(name, lines)) continue;
    return `${first[0]}: ${lines.map(([, value]) => `"${visible(value, 60)}"`).join(' and ')}`;
  }
  return null;
}

/** The octets that a 206 has, counted from 0, both ends included (RFC 9110 §14.4). */
interface ContentRange {
  readonly first: number;
  readonly last: number;
  /** Of the whole; null if unknown. */
  readonly total: number | null;
}

const RANGE = /^bytes (\d{1,15})-(\d{1,15})\/(?:(\d{1,15})|\*)$/i;

/** Reads the Content-Range of a 206; null when it is none. */
export function readContentRange(value: string): ContentRange | null {
  const [whole, first, last, total] = RANGE.exec(value) ?? [];
  return whole === undefined
    ? null
    : { first: Number(first), last: Number(last), total: total === undefined ? null : Number(total) };
}

/**
 * The fault of a 206 to a request for one range of octets that begins at 0: RFC 9110 §15.3.7.1 has it tell in
 * Content-Range (§14.4) which octets these are. `octets`: how many came as its content.
 */
export function partialFault(contentRange: string | undefined, octets: number): string | null {
  if (contentRange === undefined) return 'no Content-Range';
  const shown = `Content-Range: ${visible(contentRange, 60)}`;
  const range = readContentRange(contentRange);
  if (range === null) return shown;
  const { first, last, total } = range;
  const count = last - first + 1;
  const isWithin = count > 0 && (total === null || last < total);
  if (!isWithin || first !== 0) return shown;
  return count === octets ? null : `${shown} with ${octets} octets`;
}

/** Fields with which a response announces the end of what it offers. */
type LifecycleField = 'Deprecation' | 'Sunset';

/** What keeps a value from being in the form of its field. */
const FORMS: Readonly<Record<LifecycleField, (value: string, now: Date) => string | null>> = {
  /** RFC 9745 §2.1: a structured field, an Item that is a Date (RFC 9651 §3.3.7). */
  Deprecation(value) {
    const [, rest] = /^@-?[0-9]{1,15}(?=$|[ ;])(.*)$/.exec(value) ?? [];
    if (rest === undefined) return 'not a Date';
    // The library takes no parameters behind a Date; behind an Integer they are the same.
    return structured(() => parseItem(`0${rest}`)) === null ? 'no structured field' : null;
  },
  /** RFC 8594 §3: an HTTP-date. */
  Sunset(value, now) {
    const date = readHttpDate(value, now);
    return date.kind === 'date' ? null : date.reason;
  },
};

/** The fault of a Deprecation or Sunset field value, in one line; null for none. */
export function lifecycleFault(name: LifecycleField, value: string, now: Date): string | null {
  const fault = FORMS[name](value, now);
  return fault === null ? null : `"${visible(value, 60)}", ${fault}`;
}

/** The fault of Accept-Query (RFC 10008 §3: a list of media ranges, as tokens or strings); null for none. */
export function acceptQueryFault(value: string): string | null {
  const shown = `"${visible(value, 80)}"`;
  const members = structured(() => parseList(value));
  if (members === null) return `${shown}, which is no structured field`;
  const isStrange = members.some(([member]) => {
    const range = member instanceof Token ? member.toString() : member;
    return typeof range !== 'string' || !/^[^\s/]+\/[^\s/]+$/.test(range);
  });
  return isStrange ? `${shown}, which is no list of media types` : null;
}

/** What all language tags have in common, those of before the present grammar included (RFC 5646 §2.1, §2.2.8). */
const LANGUAGE_TAG = /^[a-z]{1,8}(?:-[a-z\d]{1,8})*$/i;

/** The member of a Content-Language that is no language tag (RFC 9110 §8.5); null for nothing. Recipients pass over empty members. */
export function contentLanguageFault(value: string): string | null {
  const members = value.split(',').map(trimSpace);
  const wrong = members.find((member) => member !== '' && !LANGUAGE_TAG.test(member));
  if (wrong !== undefined) return `"${visible(wrong, 40)}", which is no language tag`;
  return members.every((member) => member === '') ? 'an empty value' : null;
}

/** What Strict-Transport-Security says (RFC 6797 §6.1). */
export interface TransportSecurity {
  /** How long browsers go by it; null if that is absent, or malformed. */
  readonly maxAgeSeconds: number | null;
  /** What breaks the grammar; null for nothing. */
  readonly fault: string | null;
}

/** Reads the value of one field line; never throws. Unknown directives are in order (§6.1 rule 5). */
export function readTransportSecurity(value: string): TransportSecurity {
  const reader = new FieldReader(value);
  const seen = new Map<string, string>();
  const malformed = (fault: string): TransportSecurity => ({
    maxAgeSeconds: null,
    fault: `${fault} in "${visible(value, 80)}"`,
  });
  while (true) {
    reader.skipSpace();
    const name = reader.token()?.toLowerCase();
    if (name !== undefined) {
      reader.skipSpace();
      const isArgued = reader.takeChar('=');
      reader.skipSpace();
      const argument = isArgued ? reader.word() : '';
      if (argument === null) return malformed(`no value of ${name}`);
      if (seen.has(name)) return malformed(`${name} twice`);
      seen.set(name, argument);
      reader.skipSpace();
    }
    if (reader.done) break;
    if (!reader.takeChar(';')) return malformed(`${reader.rest()} where ; should be`);
  }
  const maxAge = seen.get('max-age');
  if (maxAge === undefined) return malformed('no max-age');
  if (!/^\d+$/.test(maxAge)) return malformed('no number of seconds as max-age');
  return { maxAgeSeconds: Number(maxAge), fault: null };
}
