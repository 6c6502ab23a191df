import { serializeList } from 'structured-headers';
import type { FieldLine } from '../../../evidence/exchange.ts';
import type { QuotaPlan, Standing } from './limiter.ts';

/** How a standing is told to the client; `nowMs` is the epoch time of the answer. */
export type QuotaFields = (plan: QuotaPlan, standing: Standing, nowMs: number) => readonly FieldLine[];

/** The name under which the only policy of a plan is announced. */
export const POLICY_NAME = 'default';

/** Whole seconds, rounded up: a client that waits that long never comes early. */
export function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

function listOfOne(parameters: ReadonlyMap<string, number>): string {
  return serializeList([[POLICY_NAME, new Map(parameters)]]);
}

/** RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-10, structured fields both. */
export const rateLimitFields: QuotaFields = (plan, standing) => {
  // `w` counts whole seconds; a window that is none goes unannounced.
  const window: readonly [string, number][] = plan.windowMs % 1000 === 0 ? [['w', plan.windowMs / 1000]] : [];
  return [
    ['RateLimit-Policy', listOfOne(new Map([['q', plan.requests], ...window]))],
    [
      'RateLimit',
      listOfOne(
        new Map([
          ['r', Math.max(0, standing.remaining)],
          ['t', wholeSeconds(standing.renewsInMs)],
        ]),
      ),
    ],
  ];
};

/** The common `X-RateLimit-*` fields, the reset as epoch seconds. */
export const xRateLimitFields: QuotaFields = (plan, standing, nowMs) => [
  ['X-RateLimit-Limit', String(plan.requests)],
  ['X-RateLimit-Remaining', String(Math.max(0, standing.remaining))],
  ['X-RateLimit-Reset', String(wholeSeconds(nowMs + standing.renewsInMs))],
];
