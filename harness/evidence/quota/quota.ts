import type { FieldLine } from '../exchange.ts';
import { fieldValue } from '../fields/grammar/field-lines.ts';
import { readHttpDate } from '../fields/grammar/http-date.ts';
import type { QuotaOccasion, QuotaReading } from './quota-reading.ts';
import { readRateLimitFields } from './ratelimit-fields.ts';
import { readXRateLimitFields } from './x-ratelimit-fields.ts';

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

/**
 * What the field lines of a response (all of them, or a burst entry's) tell of the client's quota, in whichever
 * dialects; the RateLimit fields come before the X- fields. Never throws: what cannot be read is a fault.
 */
export function readQuota(fields: readonly FieldLine[], occasion: QuotaOccasion): QuotaReading {
  const date = readHttpDate(fieldValue(fields, 'date') ?? '', occasion.receivedAt);
  // Unix times are held against the clock that made them, so that a skewed one does no harm.
  const serverNow = date.kind === 'date' ? date.at : occasion.receivedAt;
  const [main, ...others] = [readRateLimitFields, readXRateLimitFields].flatMap(
    (read) => read(fields, serverNow, occasion) ?? [],
  );
  if (main === undefined) return NOTHING;
  const disagreements = others.flatMap((other) => disagreementsOf(main, other));
  return { ...main, contradictions: [...main.contradictions, ...disagreements], others };
}

function disagreementsOf(main: QuotaReading, other: QuotaReading): readonly string[] {
  return (['limit', 'remaining'] as const).flatMap((member) => {
    const [one, two] = [main[member], other[member]];
    if (one === null || two === null || one === two) return [];
    return [`${member} ${one} in the RateLimit fields, ${two} in the X- fields`];
  });
}
