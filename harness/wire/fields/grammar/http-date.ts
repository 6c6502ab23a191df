import { visible } from '../../octets/utf8.ts';

/** A moment by RFC 9110 §5.6.7, in whichever of its three forms. */
export type HttpDate =
  | {
      readonly kind: 'date';
      readonly at: Date;
      /** A sender must use `imf-fixdate`; a recipient must understand all three. */
      readonly form: 'imf-fixdate' | 'rfc850' | 'asctime';
    }
  | { readonly kind: 'invalid'; readonly reason: string };

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const weekday = `(?<weekday>${DAYS.join('|')})`;
const longWeekday = '(?<weekday>Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday)';
const month = `(?<month>${MONTHS.join('|')})`;
const day = '(?<day>[0-9]{2})';
const time = '(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})';
const FORMS = [
  { form: 'imf-fixdate', pattern: `${weekday}, ${day} ${month} (?<year>[0-9]{4}) ${time} GMT` },
  { form: 'rfc850', pattern: `${longWeekday}, ${day}-${month}-(?<year>[0-9]{2}) ${time} GMT` },
  { form: 'asctime', pattern: `${weekday} ${month} (?<day>[0-9]{2}| [0-9]) ${time} (?<year>[0-9]{4})` },
] as const;
const PATTERNS = FORMS.map(({ form, pattern }) => ({ form, pattern: new RegExp(`^${pattern}$`) }));

/**
 * Reads an HTTP-date, strictly: case, white space and the name of the day count. `now` settles the century of the
 * two-digit years in the RFC 850 form.
 */
export function readHttpDate(value: string, now: Date): HttpDate {
  for (const { form, pattern } of PATTERNS) {
    const groups = pattern.exec(value)?.groups;
    if (groups) {
      const year = form === 'rfc850' ? fullYear(Number(groups.year), now) : Number(groups.year);
      return momentOf(groups, year, form);
    }
  }
  return { kind: 'invalid', reason: 'none of the three forms of an HTTP-date' };
}

type DateForm = (typeof FORMS)[number]['form'];

function momentOf(groups: Readonly<Record<string, string>>, year: number, form: DateForm): HttpDate {
  const invalid = (reason: string): HttpDate => ({ kind: 'invalid', reason });
  const number = (name: string) => Number(groups[name]);
  const [day, hour, minute, second] = [number('day'), number('hour'), number('minute'), number('second')];
  // 60 is a leap second.
  if (hour > 23 || minute > 59 || second > 60) return invalid('there is no such time of day');
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, MONTHS.indexOf(groups.month ?? ''), day);
  if (midnight.getUTCDate() !== day) return invalid('there is no such day in that month');
  const weekday = DAYS[midnight.getUTCDay()] ?? '';
  if (!groups.weekday?.startsWith(weekday))
    return invalid(`that day is not ${groups.weekday} but ${weekday}`);
  const at = new Date(midnight.getTime() + ((hour * 60 + minute) * 60 + second) * 1000);
  return { kind: 'date', at, form };
}

/** §5.6.7: what seems more than 50 years ahead is the latest past year with those digits. */
function fullYear(twoDigits: number, now: Date): number {
  const thisYear = now.getUTCFullYear();
  const sameCentury = Math.floor(thisYear / 100) * 100 + twoDigits;
  return sameCentury > thisYear + 50 ? sameCentury - 100 : sameCentury;
}

/** Retry-After by RFC 9110 §10.2.3. */
export type RetryAfter = { readonly kind: 'delay'; readonly seconds: number } | HttpDate;

/**
 * Reads a Retry-After field value: `1*DIGIT` seconds or an HTTP-date; `2.5`, `-1`, `3s`, ISO 8601 and lists are
 * invalid. More seconds than Number.MAX_SAFE_INTEGER are read as that many. `now` settles two-digit years.
 */
export function readRetryAfter(value: string, now: Date): RetryAfter {
  if (/^[0-9]+$/.test(value)) {
    return { kind: 'delay', seconds: Math.min(Number(value), Number.MAX_SAFE_INTEGER) };
  }
  const date = readHttpDate(value, now);
  if (date.kind === 'date') return date;
  const looksLikeDate = /^[A-Z][a-z]{2,8},? .{0,20}[0-9]{2}:[0-9]{2}/.test(value);
  const reason = looksLikeDate ? date.reason : 'neither whole seconds nor an HTTP-date';
  return { kind: 'invalid', reason: `${reason}: "${visible(value, 60)}"` };
}

/** The moments that a Retry-After is measured from. */
interface ResponseMoments {
  /** When the response was received. */
  readonly receivedAt: Date;
  /** The response's own Date: its clock made the date in Retry-After. null without a valid one. */
  readonly date: Date | null;
}

/**
 * Milliseconds to wait, from the receipt of the response: a delay counts from there, a date is compared with the
 * response's own Date so that a skewed clock does no harm. Never negative; null for an invalid value.
 */
export function retryAfterMs(retryAfter: RetryAfter, { receivedAt, date }: ResponseMoments): number | null {
  switch (retryAfter.kind) {
    case 'delay':
      return retryAfter.seconds * 1000;
    case 'date':
      return Math.max(0, retryAfter.at.getTime() - (date ?? receivedAt).getTime());
    case 'invalid':
      return null;
  }
}
