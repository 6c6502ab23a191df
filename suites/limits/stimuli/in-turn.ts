import type { FurtherLimit, Plan } from '../../../harness/config/service.ts';
import type { MetLimit } from '../../../harness/engine/session/http/burst.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import {
  type Group,
  type SecondLimit,
  secondLimitOf,
  waitForMore,
} from '../../../harness/wire/limit/fault/longer-limit.ts';
import { isFailure } from '../../../harness/wire/limit/observed/observation.ts';

/** What was sent one by one until the documented limit refused. */
export interface InTurn {
  /** One burst, unless a second limit has interrupted it. */
  readonly bursts: readonly MetLimit[];
  readonly second: MetSecondLimit | null;
  /** All that was sent, from one refusal to the next. */
  readonly groups: readonly Group[];
}

/** A limit beside the documented one that was met on the way. */
export interface MetSecondLimit extends SecondLimit {
  /** When the requests were sent that it refused, on the session's clock. */
  readonly refusedAtMs: ReadonlySet<number>;
}

interface Order {
  readonly plan: Plan;
  readonly purpose: string;
  /** Requests that count as the first part of it. */
  readonly before: number;
  readonly upTo: number;
}

/** Sends until the first refusal, and on if that was early and short: then a second limit with a shorter window refused. */
export async function inTurn(
  { quota, pause, clock }: Pick<Port, 'quota' | 'pause' | 'clock'>,
  { plan, purpose, before, upTo }: Order,
): Promise<InTurn> {
  const stated = shorterLimit(plan);
  const bursts = [await quota.burst({ purpose, before, upTo })];
  for (;;) {
    const groups = bursts.map(groupOf);
    const admitted = groups.reduce((sum, each) => sum + each.admitted, 0);
    const waitMs = waitForMore(groups, before, plan, stated);
    if (waitMs === null || admitted >= upTo) break;
    await pause.until(clock.now() + waitMs, 'it was refused early, and there may be a second limit');
    bursts.push(await quota.burst({ purpose, before: before + admitted, upTo: upTo - admitted }));
  }
  const groups = bursts.map(groupOf);
  const second = secondLimitOf(groups, before, plan, stated);
  const [first] = bursts;
  if (second === null) return { bursts: first === undefined ? [] : [first], second, groups };
  const refusedAtMs = bursts.slice(0, -1).flatMap(({ refusal }) => refusal?.timing.startedMs ?? []);
  return { bursts, second: { ...second, refusedAtMs: new Set(refusedAtMs) }, groups };
}

/** The further limit that is met first by who sends fast; null where none is shorter. */
export function shorterLimit({ requests, windowMs, further = [] }: Plan): FurtherLimit | null {
  const shorter = further.filter((each) => each.windowMs < windowMs && each.requests < requests);
  return shorter.toSorted((a, b) => a.requests - b.requests)[0] ?? null;
}

/** What was served, and the last refusal: as if no second limit had interrupted it. */
export function inOne(bursts: readonly MetLimit[]) {
  const last = bursts.at(-1);
  return {
    entries: bursts.flatMap((each) => (each === last ? each.burst.entries : each.burst.entries.slice(0, -1))),
    evidence: last?.burst.id ?? '',
    refusal: last?.refusal ?? null,
  };
}

/** What came of one burst, for whom the rest of it does not matter. */
export function groupOf({ burst: { entries, timing }, refusal }: MetLimit): Group {
  return {
    fromMs: timing.startedMs,
    toMs: timing.startedMs + timing.durationMs,
    admitted: refusal === null ? entries.length : entries.length - 1,
    unsure: entries.filter(({ status, index }) => isFailure(status) && index < entries.length).length,
    // A connection that ended is no refusal that tells anything.
    refusal: refusal === null || refusal.response === null ? null : { waitMs: askedMs(new Reply(refusal)) },
  };
}

/** When it says to come back: by Retry-After, else by the quota that is spent. */
function askedMs({ response }: Reply): number | null {
  const { quota, retryAfterMs } = response;
  const spent = quota.policies.flatMap(({ remaining, resetSeconds }) =>
    remaining === 0 && resetSeconds !== null ? [resetSeconds] : [],
  );
  const resetSeconds = spent.length === 0 ? quota.resetSeconds : Math.min(...spent);
  return retryAfterMs ?? (resetSeconds === null ? null : resetSeconds * 1_000);
}
