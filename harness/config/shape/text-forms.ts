import { isToken } from '../../wire/fields/grammar/field-grammar.ts';
import type { Fault } from './loaded.ts';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/;

/** Milliseconds of a duration such as `60s`, `250ms`, `1.5s`; null if it is none. The unit is demanded. */
export function parseDuration(text: string): number | null {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount === undefined || !isUnit(unit)) return null;
  const ms = Number(amount) * UNIT_MS[unit];
  return Math.round(ms * 1_000) % 1_000 === 0 ? Math.round(ms) : null;
}

/** The shortest whole form: 60000 ms is `60s`, 250 ms is `250ms`. Minutes stay seconds, as plans are quoted. */
export function formatDuration(ms: number): string {
  return ms % UNIT_MS.s === 0 ? `${ms / UNIT_MS.s}s` : `${ms}ms`;
}

function isUnit(unit: string | undefined): unit is keyof typeof UNIT_MS {
  return unit !== undefined && Object.hasOwn(UNIT_MS, unit);
}
const SIZE = /^(\d{1,6}(?:\.\d{1,3})?)([mg])$/i;

/** Bytes of a size such as `512m` or `1.5g`, in units of 1024 as container runtimes count; null when it is none. */
export function parseMemory(text: string): number | null {
  const [, amount, unit = ''] = SIZE.exec(text) ?? [];
  if (amount === undefined) return null;
  return Math.round(Number(amount) * (unit.toLowerCase() === 'g' ? 1024 ** 3 : 1024 ** 2));
}

/** Whether a text is a day of the calendar, as `2027-01-31`. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The address in its normal form, without a trailing slash. The text is never quoted: it may hold a password. */
export function baseUrl(text: string, fault: Fault): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url) throw fault('is not a URL', 'write an absolute address such as https://api.example');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw fault(`begins with ${url.protocol}`, 'write an address that begins with https:// or http://');
  withoutUser(url, fault, 'move it to `credentials:`');
  if (text.includes('?'))
    throw fault('holds a query', 'leave it out: paths are appended to the base address');
  if (text.includes('#')) throw fault('holds a fragment', 'leave it out: it is never sent');
  return url.href.replace(/\/+$/, '');
}

/** Addresses are printed, and so may not hold a password. */
export function withoutUser(url: URL, fault: Fault, remedy: string): URL {
  if (url.username === '' && url.password === '') return url;
  throw fault('holds a user name or password', remedy);
}

/** A path that is sent as it stands, below the base address. */
export function ownPath(text: string, fault: Fault): string {
  if (!/^\/[\x21-\x7e]*$/.test(text)) throw fault('is not a path', 'write a path such as /v1/orders');
  return text;
}

export function token(problem: string, remedy: string): (text: string, fault: Fault) => string {
  return (text, fault) => {
    if (!isToken(text)) throw fault(problem, remedy);
    return text;
  };
}
