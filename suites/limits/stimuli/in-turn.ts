import { unlessBlocked } from '../../../harness/base/verdict.ts';
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
import { isFailure, TOLERANCE } from '../../../harness/wire/limit/observed/observation.ts';

/** What was sent one by one until the documented limit refused. */
export interface InTurn {
  /** One burst, unless refusals have interrupted it that were not of the documented limit. */
  readonly bursts: readonly MetLimit[];
  readonly second: SecondLimit | null;
  /** All that was sent, from one refusal to the next. */
  readonly groups: readonly Group[];
  /** Refusals while quota was left, in the order of sending. */
  readonly stray: readonly StrayRefusal[];
  /** When the requests were sent that were refused before the quota was spent, on the session's clock. */
  readonly besideMs: ReadonlySet<number>;
}

/** A refusal behind which the next requests were served at once, more than flow back in that time: no quota was spent. */
export interface StrayRefusal {
  /** 1-based index within the window. */
  readonly index: number;
  /** On the session's clock. */
  readonly sentMs: number;
}

interface Order {
  readonly plan: Plan;
  readonly purpose: string;
  /** Requests that count as the first part of it. */
  readonly before: number;
  readonly upTo: number;
  /** An early refusal is tried again at once: it may have been none of the quota. */
  readonly triesAgain?: boolean;
}

/** Attempts to see that an early refusal was stray, and requests at the least that have to be served then. */
const ATTEMPTS = 2;
const SERVED_BEHIND = 2;
/** More tell nothing new. */
const MOST_STRAY = 20;

/** Sends until the first refusal, and on if that was early and short: then a second limit with a shorter window refused. */
export async function inTurn(port: Pick<Port, 'quota' | 'pause' | 'clock'>, order: Order): Promise<InTurn> {
  const { pause, clock } = port;
  const { plan, before, upTo } = order;
  const stated = shorterLimit(plan);
  const triesAgain = order.triesAgain === true && stated === null;
  const send = (sent: number) =>
    untilSpent(port, { ...order, triesAgain, before: before + sent, upTo: upTo - sent });
  const parts = [await send(0)];
  for (;;) {
    const groups = parts.map(({ bursts }) => groupOf(bursts));
    const admitted = groups.reduce((sum, each) => sum + each.admitted, 0);
    const waitMs = waitForMore(groups, before, plan, stated);
    if (waitMs === null || admitted >= upTo) break;
    await pause.until(clock.now() + waitMs, 'it was refused early, and there may be a second limit');
    parts.push(await send(admitted));
  }
  const groups = parts.map(({ bursts }) => groupOf(bursts));
  const second = secondLimitOf(groups, before, plan, stated);
  // What a second limit refuses may count against the documented one all the same.
  const bursts = (second === null ? parts.slice(0, 1) : parts).flatMap((part, at) =>
    second !== null && at < parts.length - 1 ? [...part.bursts, ...part.again] : part.bursts,
  );
  const besideMs = bursts.slice(0, -1).flatMap(refusedMs);
  return { bursts, second, groups, stray: parts.flatMap((part) => part.stray), besideMs: new Set(besideMs) };
}

function refusedMs({ refusal }: MetLimit): readonly number[] {
  return refusal === null ? [] : [refusal.timing.startedMs];
}

/** What was sent until the quota seemed to be spent. */
interface Part {
  /** All but the last one ended at a stray refusal. */
  readonly bursts: readonly MetLimit[];
  readonly stray: readonly StrayRefusal[];
  /** Refused at once behind the last one. */
  readonly again: readonly MetLimit[];
}

async function untilSpent({ quota }: Pick<Port, 'quota'>, order: Order): Promise<Part> {
  const { plan, purpose, before, upTo, triesAgain = false } = order;
  const bursts = [await quota.burst({ purpose, before, upTo })];
  const stray: StrayRefusal[] = [];
  const again: MetLimit[] = [];
  while (triesAgain && again.length < ATTEMPTS && stray.length < MOST_STRAY) {
    const { admitted, refusal } = groupOf(bursts);
    const sentMs = bursts.at(-1)?.refusal?.timing.startedMs;
    if (refusal === null || sentMs === undefined || before + admitted >= plan.requests) break;
    // No record of an earlier version has it.
    const next = await quota
      .burst({ purpose, before: before + admitted, upTo: upTo - admitted })
      .catch(unlessBlocked);
    if (next === null) break;
    if (isServedAtOnce(next, sentMs, plan)) {
      stray.push({ index: before + admitted + 1, sentMs });
      again.length = 0;
    } else if (groupOf([next]).admitted === 0) {
      again.push(next);
      continue;
    }
    bursts.push(next);
  }
  return { bursts, stray, again };
}

/** Whether more were served right behind a refusal than flow back in that time. */
function isServedAtOnce({ burst }: MetLimit, refusedMs: number, { requests, windowMs }: Plan): boolean {
  const refusedAt = burst.entries.findIndex(({ status }) => status === null || status >= 300);
  const served = refusedAt === -1 ? burst.entries : burst.entries.slice(0, refusedAt);
  return served.some(({ sentMs, durationMs }, at) => {
    const forMs = sentMs + durationMs - refusedMs + TOLERANCE.limiterClock;
    return at + 1 >= SERVED_BEHIND && at > (forMs * requests) / windowMs;
  });
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

/** The results of bursts between which no limit refused for good; the rest of the bursts does not matter. */
export function groupOf(bursts: readonly MetLimit[]): Group {
  const entries = bursts.flatMap(({ burst }) =>
    burst.entries.map((entry) => ({ ...entry, of: burst.entries.length })),
  );
  const [first, last] = [bursts[0]?.burst.timing, bursts.at(-1)];
  const refusal = last?.refusal ?? null;
  const timing = last?.burst.timing;
  return {
    fromMs: first?.startedMs ?? 0,
    toMs: (timing?.startedMs ?? 0) + (timing?.durationMs ?? 0),
    admitted: entries.length - bursts.filter((each) => each.refusal !== null).length,
    unsure: entries.filter(({ status, index, of }) => isFailure(status) && index < of).length,
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
