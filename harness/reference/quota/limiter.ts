import { HarnessError } from '../../base/exit.ts';
import type { LimitScope } from '../../base/vocabulary.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import type { Rate } from '../../wire/pace/weighing.ts';
import type { QuotaState } from '../../wire/quota/dialect.ts';
import { QUOTA_DIALECTS } from '../../wire/quota/quota.ts';

/** The quota of an account: a number of requests in a window of milliseconds. */
export interface QuotaPlan {
  readonly requests: number;
  readonly windowMs: number;
  /** The requests are a burst beside this rate: they come back one by one. */
  readonly rate?: Rate;
  /** Whose requests are counted together. Default: those of one key. */
  readonly per?: LimitScope;
  /** Limits that apply at the same time. */
  readonly further?: readonly QuotaPlan[];
}

/** Whether a request of a key is admitted, and how much of its quota is left. */
export interface Admission {
  readonly admitted: boolean;
  /** Requests that would still be admitted now. */
  readonly remaining: number;
  /** Milliseconds until more of the quota is available; 0 when all of it is. */
  readonly renewsInMs: number;
  /** Milliseconds for which an admitted request is held back; 0 when left out. */
  readonly delayMs?: number;
  /** How it stands with each limit, where there are several. */
  readonly states?: readonly LimitState[];
}

/** One of several limits, and how a key stands with it. */
export interface LimitState {
  readonly plan: QuotaPlan;
  readonly admission: Admission;
}

/**
 * One rate-limit algorithm over any number of keys. Times are milliseconds on one clock that never runs
 * backwards. A refused request takes nothing, unless that is the fault being shown.
 */
export interface Limiter {
  /** Counts one request of this key, or refuses it. */
  take(key: string, nowMs: number): Admission;
  /** What `take` would say, without counting anything; `remaining` is what there is before it. */
  peek(key: string, nowMs: number): Admission;
  /** Called when an admitted request of this key is answered; only limits of concurrency need it. */
  release?(key: string, nowMs: number): void;
}

export type LimiterAlgorithm = (plan: QuotaPlan) => Limiter;

/** A limiter that counts like another one, and says something else. */
export function saying({ take, peek }: Limiter, change: (admission: Admission) => Admission): Limiter {
  return {
    take: (key, nowMs) => change(take(key, nowMs)),
    peek: (key, nowMs) => change(peek(key, nowMs)),
  };
}

/** The fields that report an admission to the client; `nowMs` is the epoch time of the answer. */
export type QuotaFields = (plan: QuotaPlan, admission: Admission, nowMs: number) => readonly FieldLine[];

/** Whole seconds, rounded up: a client that waits that long never comes early. */
export function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

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
