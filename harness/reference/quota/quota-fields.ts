import { HarnessError } from '../../base/exit.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import type { QuotaState } from '../../wire/quota/dialect.ts';
import { QUOTA_DIALECTS } from '../../wire/quota/quota.ts';
import type { Admission, QuotaPlan } from './limiter.ts';

/** How an admission is told to the client; `nowMs` is the epoch time of the answer. */
export type QuotaFields = (plan: QuotaPlan, admission: Admission, nowMs: number) => readonly FieldLine[];

/** Whole seconds, rounded up: a client that waits that long never comes early. */
export function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** The dialect of that name. */
export function inDialect(name: string): QuotaFields {
  const write = QUOTA_DIALECTS.find((dialect) => dialect.name === name)?.write;
  if (!write) throw new HarnessError(`nobody writes the quota dialect ${name}`);
  return (plan, admission, nowMs) => {
    const further = (admission.states ?? []).slice(1);
    return write({
      ...stateOf(plan, admission.states?.[0]?.admission ?? admission, nowMs),
      further: further.map((each) => stateOf(each.plan, each.admission, nowMs)),
    });
  };
}

function stateOf(
  { requests, windowMs }: QuotaPlan,
  { remaining, renewsInMs }: Admission,
  nowMs: number,
): QuotaState {
  return {
    limit: requests,
    windowMs,
    remaining: Math.max(0, remaining),
    resetSeconds: wholeSeconds(renewsInMs),
    resetAt: wholeSeconds(nowMs + renewsInMs),
  };
}

/** RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-10. */
export const rateLimitFields = inDialect('ratelimit-draft-08');

/** The common `X-RateLimit-*` fields, the reset as epoch seconds. */
export const xRateLimitFields = inDialect('x-ratelimit-epoch');
