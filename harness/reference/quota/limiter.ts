import type { LimitScope } from '../../base/vocabulary.ts';
import type { Rate } from '../../wire/pace/rate.ts';

/** What the account may send: so many requests in a window of so many milliseconds. */
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
  /** Told when an admitted request of this key is answered; only limits of concurrency care. */
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
