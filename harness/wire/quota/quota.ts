import type { FieldLine } from '../exchange.ts';
import { fieldValue, trimSpace } from '../fields/grammar/field-grammar.ts';
import { readHttpDate } from '../fields/grammar/http-date.ts';
import {
  type QuotaDialect,
  type QuotaFamily,
  QuotaFields,
  type QuotaNumbers,
  type QuotaPolicy,
} from './dialect.ts';
import { RATELIMIT } from './ratelimit-fields.ts';
import { X_RATELIMIT } from './x-ratelimit-fields.ts';

/** Where a response speaks several, the first is taken, and the others are held against it. */
const FAMILIES: readonly QuotaFamily[] = [RATELIMIT, X_RATELIMIT];

export const QUOTA_DIALECTS: readonly QuotaDialect[] = FAMILIES.flatMap(({ dialects }) => dialects);

/** What a response tells of the client's quota. */
export interface QuotaReading extends QuotaNumbers {
  /** The name of a dialect; `none` for no quota. */
  readonly dialect: string;
  readonly policies: readonly QuotaPolicy[];
  /** Values that are malformed by the dialect's own rules, one line each. */
  readonly faults: readonly string[];
  /** Well-formed values that cannot all be true, one line each. */
  readonly contradictions: readonly string[];
  /** The same response in further dialects. */
  readonly others: readonly QuotaReading[];
}

/** The time of a quota, and the plan. */
interface QuotaOccasion {
  /** When the response was received: stands in for a missing Date. */
  readonly receivedAt: Date;
  /** The plan's window in ms. */
  readonly windowMs?: number;
}

const NOTHING: QuotaReading = {
  dialect: 'none',
  limit: null,
  remaining: null,
  resetSeconds: null,
  windowSeconds: null,
  policies: [],
  faults: [],
  contradictions: [],
  others: [],
};

export function isQuotaField(name: string): boolean {
  return FAMILIES.some(({ fields }) => fields.test(name));
}

/**
 * What the field lines of a response (all of them, or a burst entry's) tell of the client's quota, in whichever
 * dialects. Never throws: what cannot be read is a fault.
 */
export function readQuota(fields: readonly FieldLine[], occasion: QuotaOccasion): QuotaReading {
  const key = `${occasion.receivedAt.getTime()} ${occasion.windowMs}`;
  const before = readBefore.get(fields);
  if (before?.key === key) return before.reading;
  const reading = readAnew(fields, occasion);
  readBefore.set(fields, { key, reading });
  return reading;
}

/** What requests cost is asked for each of them, of all that came before. */
const readBefore = new WeakMap<
  readonly FieldLine[],
  { readonly key: string; readonly reading: QuotaReading }
>();

function readAnew(fields: readonly FieldLine[], occasion: QuotaOccasion): QuotaReading {
  const date = readHttpDate(fieldValue(fields, 'date') ?? '', occasion.receivedAt);
  const serverNow = date.kind === 'date' ? date.at : occasion.receivedAt;
  const windowSeconds = occasion.windowMs === undefined ? null : occasion.windowMs / 1000;
  const readings = FAMILIES.flatMap((family) => {
    const given = new QuotaFields(membersOf(fields, family), serverNow, windowSeconds);
    const dialect = given.members.size > 0 && family.dialects.find(({ speaks }) => speaks(given));
    return dialect ? [{ called: family.called, reading: readingOf(dialect, given) }] : [];
  });
  const [main, ...others] = readings;
  if (main === undefined) return NOTHING;
  const disagreements = others.flatMap((other) =>
    (['limit', 'remaining'] as const).flatMap((member) => {
      const [one, two] = [main.reading[member], other.reading[member]];
      if (one === null || two === null || one === two) return [];
      return [`${member} ${one} in ${main.called}, ${two} in ${other.called}`];
    }),
  );
  return {
    ...main.reading,
    contradictions: [...main.reading.contradictions, ...disagreements],
    others: others.map(({ reading }) => reading),
  };
}

function membersOf(lines: readonly FieldLine[], { fields }: QuotaFamily): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const [name, value] of lines) {
    const match = fields.exec(name);
    if (match === null) continue;
    const member = (match[1] ?? '').toLowerCase();
    const before = members.get(member);
    members.set(member, before === undefined ? trimSpace(value) : `${before}, ${trimSpace(value)}`);
  }
  return members;
}

function readingOf(dialect: QuotaDialect, given: QuotaFields): QuotaReading {
  const numbers = dialect.read(given);
  const { limit, remaining } = numbers;
  if (limit !== null && remaining !== null && remaining > limit) {
    given.contradictions.push(`${remaining} remaining of a limit of ${limit}`);
  }
  const { policies, faults, contradictions } = given;
  return { dialect: dialect.name, ...numbers, policies, faults, contradictions, others: [] };
}
