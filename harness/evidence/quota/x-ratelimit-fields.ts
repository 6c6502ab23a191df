import { ParseError, parseList } from 'structured-headers';
import type { FieldLine } from '../exchange.ts';
import { trimSpace } from '../fields/grammar/field-grammar.ts';
import { visible } from '../octets/visible.ts';
import {
  type QuotaDialect,
  QuotaNotes,
  type QuotaOccasion,
  type QuotaPolicy,
  type QuotaReading,
  ROUNDING_SECONDS,
} from './quota-reading.ts';

/**
 * The `X-RateLimit-*` fields (and `X-Rate-Limit-*`). No standard defines them; their reset is seconds to some, a
 * Unix time in seconds or milliseconds or a date to others. null when the response has none of them.
 */
export function readXRateLimitFields(
  fields: readonly FieldLine[],
  serverNow: Date,
  occasion: QuotaOccasion,
): QuotaReading | null {
  const members = membersOf(fields);
  if (members.size === 0) return null;
  const notes = new QuotaNotes();
  for (const { marks, read } of FORMS) {
    if (marks.some((member) => members.has(member))) return read({ members, notes, serverNow, occasion });
  }
  return readPlain({ members, notes, serverNow, occasion });
}

interface Form {
  readonly members: ReadonlyMap<string, string>;
  readonly notes: QuotaNotes;
  readonly serverNow: Date;
  readonly occasion: QuotaOccasion;
}

/** Members that only one provider's form has, and how that is read. */
const FORMS: readonly { readonly marks: readonly string[]; readonly read: (form: Form) => QuotaReading }[] = [
  { marks: ['reset-after', 'bucket'], read: readDiscord },
  { marks: ['userlimit', 'userremaining', 'userreset'], read: readHapi },
  {
    marks: ['limit-second', 'limit-minute', 'limit-hour', 'limit-day', 'limit-month', 'limit-year'],
    read: readKong,
  },
];

/** What follows the prefix, in lower case, to its value; several lines with one name are joined. */
function membersOf(fields: readonly FieldLine[]): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const [name, value] of fields) {
    const member = /^x-rate-?limit-(.+)$/i.exec(name)?.[1]?.toLowerCase();
    if (member === undefined) continue;
    const before = members.get(member);
    members.set(member, before === undefined ? trimSpace(value) : `${before}, ${trimSpace(value)}`);
  }
  return members;
}

function readPlain(form: Form): QuotaReading {
  const { members, notes } = form;
  const remaining = count(form, 'remaining');
  const reset = resetOf(form, 'reset');
  const envoy = envoyPolicies(members.get('limit') ?? '');
  if (envoy !== null) {
    const [{ quota: limit }, ...policies] = envoy;
    notes.policies.push(...policies);
    const inForce = policies.find(({ quota }) => quota === limit);
    if (!inForce) notes.contradictions.push(`a limit of ${limit}, which no policy has`);
    const windowSeconds = inForce?.windowSeconds ?? null;
    return notes.reading('envoy', { limit, remaining, resetSeconds: reset.seconds, windowSeconds });
  }
  const limit = count(form, 'limit');
  const used = count(form, 'used');
  if (limit !== null && remaining !== null && used !== null && limit !== used + remaining) {
    notes.contradictions.push(`${used} used and ${remaining} remaining of a limit of ${limit}`);
  }
  const isGitHub = reset.dialect === 'x-ratelimit-epoch' && (members.has('used') || members.has('resource'));
  const dialect = isGitHub ? 'github' : reset.dialect;
  return notes.reading(dialect, { limit, remaining, resetSeconds: reset.seconds, windowSeconds: null });
}

/** Nobody honest tells of more. */
const MOST_POLICIES = 50;

/** `10, 10;w=1;name="per-ip"`: the limit in force, then every policy; null for anything else. */
function envoyPolicies(value: string): [QuotaPolicy, QuotaPolicy, ...QuotaPolicy[]] | null {
  if (!value.includes(';')) return null;
  try {
    const policies = parseList(value)
      .slice(0, MOST_POLICIES)
      .map(([quota, parameters]) => {
        const [window, name] = [parameters.get('w'), parameters.get('name')];
        return {
          name: typeof name === 'string' ? name : null,
          quota: typeof quota === 'number' ? quota : null,
          windowSeconds: typeof window === 'number' ? window : null,
          unit: 'requests',
          partition: null,
          remaining: null,
          resetSeconds: null,
        };
      });
    const [first, second, ...more] = policies;
    return first && second ? [first, second, ...more] : null;
  } catch (error) {
    if (error instanceof ParseError) return null;
    throw error;
  }
}

/** `X-RateLimit-Reset` is an epoch with fractions, `-Reset-After` the same moment as seconds from now. */
function readDiscord(form: Form): QuotaReading {
  const { members, notes, serverNow } = form;
  const reset = members.has('reset') ? resetOf(form, 'reset') : null;
  const after = decimal(members.get('reset-after'));
  if (members.has('reset-after') && after === null) fault(form, 'reset-after', 'not seconds');
  if (after !== null && reset?.seconds != null && Math.abs(after - reset.seconds) > 1 + ROUNDING_SECONDS) {
    notes.contradictions.push(
      `the reset ${reset.seconds.toFixed(1)} s after the Date of the response (${serverNow.toISOString()}), but ${after} s from now`,
    );
  }
  const resetSeconds = after ?? reset?.seconds ?? null;
  const numbers = { limit: count(form, 'limit'), remaining: count(form, 'remaining') };
  return notes.reading('discord', { ...numbers, resetSeconds, windowSeconds: null });
}

function readHapi(form: Form): QuotaReading {
  const resetSeconds = form.members.has('userreset') ? resetOf(form, 'userreset').seconds : null;
  const numbers = { limit: count(form, 'userlimit'), remaining: count(form, 'userremaining') };
  return form.notes.reading('hapi', { ...numbers, resetSeconds, windowSeconds: null });
}

const UNITS: readonly { readonly unit: string; readonly seconds: number }[] = [
  { unit: 'second', seconds: 1 },
  { unit: 'minute', seconds: 60 },
  { unit: 'hour', seconds: 3600 },
  { unit: 'day', seconds: 86_400 },
  { unit: 'month', seconds: 30 * 86_400 },
  { unit: 'year', seconds: 365 * 86_400 },
];

function readKong(form: Form): QuotaReading {
  const { members, notes, occasion } = form;
  for (const { unit, seconds } of UNITS) {
    if (!members.has(`limit-${unit}`) && !members.has(`remaining-${unit}`)) continue;
    notes.policies.push({
      name: unit,
      quota: count(form, `limit-${unit}`),
      windowSeconds: seconds,
      unit: 'requests',
      partition: null,
      remaining: count(form, `remaining-${unit}`),
      resetSeconds: null,
    });
  }
  const plan = notes.policies.find(({ windowSeconds }) => windowSeconds === (occasion.windowMs ?? 0) / 1000);
  const main = plan ?? notes.policies[0];
  return notes.reading('kong', {
    limit: main?.quota ?? null,
    remaining: main?.remaining ?? null,
    resetSeconds: null,
    windowSeconds: main?.windowSeconds ?? null,
  });
}

/** A whole number of requests. */
function count(form: Form, member: string): number | null {
  const value = form.members.get(member);
  if (value === undefined) return null;
  if (/^[0-9]{1,15}$/.test(value)) return Number(value);
  fault(form, member, 'not a number of requests');
  return null;
}

interface Reset {
  readonly dialect: QuotaDialect;
  readonly seconds: number | null;
}

/** Tells the unit of a reset by its size: notes on each border stand beside it. */
function resetOf(form: Form, member: string): Reset {
  const value = form.members.get(member);
  if (value === undefined) return { dialect: 'x-ratelimit', seconds: null };
  const epochMs = (dialect: QuotaDialect, at: number): Reset => {
    const seconds = (at - form.serverNow.getTime()) / 1000;
    if (seconds < -ROUNDING_SECONDS) {
      form.notes.contradictions.push(
        `${fieldName(member)} lies ${Math.round(-seconds)} s before the Date of the response`,
      );
    }
    return { dialect, seconds: Math.max(0, seconds) };
  };
  const number = decimal(value);
  if (number === null) {
    const date = /[A-Za-z]/.test(value) ? Date.parse(value.slice(0, 100)) : Number.NaN;
    if (!Number.isNaN(date)) return epochMs('x-ratelimit-date', date);
    fault(form, member, 'neither a number nor a date');
    return { dialect: 'x-ratelimit', seconds: null };
  }
  // The year 2001 in milliseconds and in seconds; no delay is as long.
  if (number > 1e12) return epochMs('x-ratelimit-epoch-ms', number);
  if (number > 1e9) return epochMs('x-ratelimit-epoch', number * 1000);
  const windowMs = form.occasion.windowMs ?? 0;
  // Too long for the window in seconds, but not in milliseconds.
  const isMs =
    number > Math.ceil(windowMs / 1000) + ROUNDING_SECONDS && number <= windowMs + ROUNDING_SECONDS * 1000;
  return isMs && windowMs > 0
    ? { dialect: 'x-ratelimit-delta-ms', seconds: number / 1000 }
    : { dialect: 'x-ratelimit-delta', seconds: number };
}

/** A non-negative number, with a fraction or without. */
function decimal(value: string | undefined): number | null {
  return value !== undefined && /^[0-9]{1,16}(\.[0-9]{1,16})?$/.test(value) ? Number(value) : null;
}

function fault({ members, notes }: Form, member: string, reason: string): void {
  notes.faults.push(`${fieldName(member)} is ${reason}: "${visible(members.get(member) ?? '', 60)}"`);
}

function fieldName(member: string): string {
  return `X-RateLimit-${member.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())}`;
}
