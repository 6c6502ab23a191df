import { HarnessError } from '../../../harness/base/exit.ts';
import { Blocked, unlessBlocked } from '../../../harness/base/verdict.ts';
import type { Plan, ServiceConfig } from '../../../harness/config/service.ts';
import { probe } from '../../../harness/engine/session/probe.ts';
import { isApart } from '../../../harness/wire/limit/fault/counts-apart.ts';
import { isOfAnother } from '../../../harness/wire/limit/fault/longer-limit.ts';
import type { LimitObservation, Span } from '../../../harness/wire/limit/observed/observation.ts';
import { withRefusedBeside } from '../../../harness/wire/limit/observed/observing.ts';
import { forgottenMs } from '../../../harness/wire/limit/pacing.ts';
import { isTellable, mostInTurn, serialBurst, togetherBurst } from './burst-size.ts';
import { type InTurn, inTurn, type StrayRefusal } from './in-turn.ts';
import {
  burstCost,
  exhaustion,
  flowedBack,
  observedIn,
  observedSoFar,
  planOf,
  type QuotaParts,
} from './quota.ts';

/** Counts a limit without a model of it: after two windows without a request no limiter remembers any. */

/** What was admitted of a fresh quota. */
export interface Count extends Span {
  readonly admitted: number;
  /** Without those of which it is not known whether they count. */
  readonly surely: number;
  /** Those of a fresh quota, in the order of sending. */
  readonly observations: readonly LimitObservation[];
  readonly isRefused: boolean;
  readonly sent: number;
  /** Refusals by a limit with a shorter window, behind which more was served after a wait. */
  readonly interruptions: number;
  /** So many more may have been admitted where the quota flows back evenly. */
  readonly flowed: number;
  /** Refusals while quota was left. */
  readonly stray: readonly StrayRefusal[];
  /** 1-based index of the first of many refusals in turn, where the next requests were served as fast as they flow back; else null. */
  readonly refusedEarly: number | null;
  readonly evidence: string;
}

function inTurnCost({ plan }: Pick<ServiceConfig, 'plan'>): number {
  return plan === null ? 0 : mostInTurn(plan);
}

/** One request after the other, all of them together, or as many at a time as are served. */
type Mode = 'serial' | 'parallel' | 'few';

/** A first count, and a second one: no window of a clock ends within both, if it can be helped. */
export const serialCount = probe<Count>(
  'serial-count',
  { needs: () => [firstBurst], cost: inTurnCost, risks: ['burst'] },
  async (port) => count(port, 'serial', await port.ask(firstBurst)),
);
export const serialRecount = probe<Count>(
  'serial-recount',
  { needs: [serialCount], cost: inTurnCost, risks: ['burst'] },
  async (port) => count(port, 'serial', await port.ask(serialCount)),
);
export const parallelCount = probe<Count>('parallel-count', { cost: burstCost, risks: ['burst'] }, (port) =>
  count(port, 'parallel', null),
);
export const parallelRecount = probe<Count>(
  'parallel-recount',
  { needs: [parallelCount], cost: burstCost, risks: ['burst'] },
  async (port) => count(port, 'parallel', await port.ask(parallelCount)),
);

/** In turn where two at a time are refused. @throws Blocked if that takes too long. */
export const fewCount = probe<Count>(
  'few-count',
  { needs: [parallelCount], cost: fewCost, risks: ['burst'] },
  (port) => count(port, 'few', null),
);
export const fewRecount = probe<Count>(
  'few-recount',
  { needs: [fewCount], cost: fewCost, risks: ['burst'] },
  async (port) => count(port, 'few', await port.ask(fewCount)),
);

/** From the first request that counted to the refusal: not of a fresh quota, and a count all the same. */
export const firstBurst = probe<Count>('first-burst', { needs: [exhaustion], cost: 0 }, async (port) => {
  const { plan, sinceMs, elapsedMs, firstRefused, sent, stray, groups, evidence } =
    await port.ask(exhaustion);
  const admitted = firstRefused === null ? sent : firstRefused - 1;
  const toMs = sinceMs + elapsedMs;
  const unsure = observedSoFar(port).filter(
    ({ counted, sentMs }) => counted === 'maybe' && sentMs >= sinceMs && sentMs <= toMs,
  );
  return {
    fromMs: sinceMs,
    toMs,
    admitted,
    surely: admitted - unsure.length,
    observations: [],
    isRefused: firstRefused !== null,
    sent,
    interruptions: interruptionsIn(groups),
    flowed: 1 + Math.floor(flowedBack(plan, elapsedMs)),
    stray,
    refusedEarly: null,
    evidence,
  };
});

const SILENCE = 'two windows without a request: then no limiter remembers any';

function silentMs(port: QuotaParts): number {
  const { windowMs } = planOf(port.config);
  return forgottenMs(observedSoFar(port), windowMs) + windowMs;
}

async function count(port: QuotaParts, mode: Mode, other: Count | null): Promise<Count> {
  const plan = planOf(port.config);
  const fromMs = silentMs(port);
  await port.pause.until(other === null ? fromMs : apartFrom(other, fromMs, plan.windowMs), SILENCE);
  const counted = await HOW[mode](port, other);
  const refusal = counted.observations.find(({ fate }) => fate === 'refused');
  if (counted.admitted < plan.requests && refusal && isOfAnother(refusal, plan))
    throw new Blocked('another limit than the documented one refused first');
  if (counted.admitted === 0)
    throw new Blocked('none was admitted: the quota did not come back to be counted');
  return counted;
}

async function countInTurn(port: QuotaParts, other: Count | null): Promise<Count> {
  const plan = planOf(port.config);
  const purpose = 'to count what is admitted';
  const order = { plan, purpose, before: 0, upTo: serialBurst(plan), triesAgain: true };
  const { bursts, second, stray, groups, besideMs } = await inTurn(port, order);
  const all = { ...countOf(bursts, port, besideMs), interruptions: interruptionsIn(groups) };
  const isMany = besideMs.size - stray.length >= MANY_EARLY;
  const isEarly = isMany && second === null && all.admitted <= all.flowed;
  const refusedEarly = isEarly ? (bursts[0]?.burst.entries.length ?? null) : null;
  const counted = { ...all, stray, refusedEarly };
  // Where none was refused, the quota may only have flowed back as fast.
  return counted.isRefused || other === null || other.isRefused
    ? counted
    : { ...countOf(await onwards(bursts, counted, eachMsOf(other), port), port, besideMs), stray };
}

function interruptionsIn(groups: InTurn['groups']): number {
  return Math.max(
    0,
    groups.findLastIndex(({ admitted }) => admitted > 0),
  );
}

/** By chance some requests of a lawful limiter are refused early; not as many. */
const MANY_EARLY = 5;

/** With as many requests more in turn as flow back meanwhile, and one. */
async function onwards(
  sent: InTurn['bursts'],
  counted: Count,
  otherEachMs: number,
  port: QuotaParts,
): Promise<InTurn['bursts']> {
  const plan = planOf(port.config);
  // Some were held up, in the one or in the other.
  const eachMs = Math.min(eachMsOf(counted), otherEachMs);
  const isTold = counted.isRefused || counted.surely > plan.requests + counted.flowed;
  const left = mostInTurn(plan) - counted.sent;
  if (isTold || left <= 0 || !isTellable(plan, eachMs)) return sent;
  const upTo = Math.min(left, Math.ceil(ONWARDS_SHARE * plan.requests));
  const order = { purpose: 'to count on: more than flow back meanwhile', before: counted.sent, upTo };
  // No record of an earlier version has it.
  const next = await port.quota.burst(order).catch(unlessBlocked);
  if (next === null) return sent;
  const all = [...sent, next];
  return onwards(all, countOf(all, port), otherEachMs, port);
}

/** Of the limit: as many more before it is looked again whether they are enough. */
const ONWARDS_SHARE = 0.1;

/** From one request of it to the next, in ms. */
export function eachMsOf({ fromMs, toMs, admitted }: Pick<Count, 'fromMs' | 'toMs' | 'admitted'>): number {
  return (toMs - fromMs) / Math.max(1, admitted);
}

async function countTogether(port: QuotaParts): Promise<Count> {
  const plan = planOf(port.config);
  const purpose = 'all at once, to count what is admitted';
  const burst = await port.quota.burst({ purpose, before: 0, upTo: togetherBurst(plan), together: true });
  const counted = countOf([burst], port);
  return { ...counted, stray: strayTogether(counted.observations, plan) };
}

/** Numbers of requests at a time that are tried, and how many times as many requests show that they are served. */
const AT_A_TIME = [16, 8, 4, 2];
const SHOWING = 4;
/** Of the limit: more than flow back in the time that a few at a time take. */
export const FEW_SHARE = 1.5;

const mostOfFew = (plan: Plan): number => Math.ceil(FEW_SHARE * plan.requests);

function fewCost({ plan }: Pick<ServiceConfig, 'plan'>): number {
  const trials = AT_A_TIME.reduce((sum, each) => sum + SHOWING * each, 0);
  return plan === null ? 0 : trials + mostOfFew(plan);
}

async function countFew(port: QuotaParts, other: Count | null): Promise<Count> {
  const plan = planOf(port.config);
  for (const atATime of AT_A_TIME) {
    const purpose = `${atATime} at a time, to see whether those are served`;
    const order = { purpose, before: 0, upTo: SHOWING * atATime, together: true, atATime };
    const { refusal } = await port.quota.burst(order);
    if (refusal !== null) continue;
    await port.pause.until(silentMs(port), SILENCE);
    const more = { purpose: `${atATime} at a time, to count what is admitted`, upTo: mostOfFew(plan) };
    return countOf([await port.quota.burst({ ...order, ...more })], port);
  }
  const inTurn = await countInTurn(port, other);
  if (spansWindow(inTurn, plan))
    throw new Blocked(
      'another limit refuses two requests at a time, and requests in turn take too long to meet this one',
    );
  return inTurn;
}

/** Whether a window of any kind has ended within it. */
export function spansWindow({ fromMs, toMs }: Span, { windowMs }: Pick<Plan, 'windowMs'>): boolean {
  return toMs - fromMs >= windowMs;
}

const HOW: Readonly<Record<Mode, (port: QuotaParts, other: Count | null) => Promise<Count>>> = {
  serial: countInTurn,
  parallel: countTogether,
  few: countFew,
};

/** Requests sent later than a refusal that have to be served, of those sent together. */
const SERVED_LATER = 4;

/** Refusals of requests sent together behind which others were served, more than flow back, that were sent only then. */
export function strayTogether(
  observations: readonly LimitObservation[],
  plan: Plan,
): readonly StrayRefusal[] {
  const refused = observations
    .filter(({ fate }) => fate === 'refused')
    .toSorted((a, b) => a.sentMs - b.sentMs);
  const served = observations
    .filter(({ fate }) => fate === 'admitted')
    .toSorted((a, b) => a.finishedMs - b.finishedMs);
  const stray: StrayRefusal[] = [];
  let fromMs = 0;
  for (const { sentMs, finishedMs } of refused) {
    if (sentMs < fromMs) continue;
    const behind = served.filter((each) => each.sentMs >= finishedMs);
    // It was decided at the soonest when it was sent.
    const telling = behind.find(
      (each, at) => at + 1 >= SERVED_LATER && at > 1 + flowedBack(plan, each.finishedMs - sentMs),
    );
    if (telling === undefined) continue;
    const index = 1 + served.filter((each) => each.sentMs < sentMs).length;
    stray.push({ index, sentMs });
    fromMs = telling.finishedMs;
  }
  return stray;
}

/**
 * What was sent one burst after the other. `besideAtMs`: when the requests were sent that were refused before the quota was spent.
 *
 * @throws Blocked where the fate of a request is not known.
 */
export function countOf(met: InTurn['bursts'], port: QuotaParts, besideAtMs = NEVER): Count {
  const bursts = met.map(({ burst }) => burst);
  const [first, last] = [bursts[0], bursts.at(-1)];
  if (first === undefined || last === undefined) throw new HarnessError('no burst was sent');
  const { config, quota } = port;
  const plan = planOf(config);
  const entries = bursts.flatMap((each) => each.entries);
  const lost = entries.find(({ status }) => status === null);
  if (lost !== undefined && quota.refusal?.status !== null)
    throw new Blocked(`request ${lost.index} of the burst got no answer`);
  const observations = withRefusedBeside(observedIn(bursts, port), besideAtMs, plan);
  const served = observations.filter(({ fate }) => fate === 'admitted');
  const admitted = served.length;
  const [fromMs, toMs] = [first.timing.startedMs, last.timing.startedMs + last.timing.durationMs];
  return {
    fromMs,
    toMs,
    admitted,
    surely: served.filter(({ counted }) => counted === 'surely').length,
    observations,
    isRefused: observations.some(({ fate }) => fate !== 'admitted'),
    sent: entries.length,
    interruptions: 0,
    flowed: 1 + Math.floor(flowedBack(plan, toMs - fromMs)),
    stray: [],
    refusedEarly: null,
    evidence: last.id,
  };
}

const NEVER: ReadonlySet<number> = new Set();

/** Of the window: a burst that takes longer than that has no other moment of the window to itself. */
const MOST_OF_WINDOW = 0.4;

/** Of the window: bursts that begin so far apart in it begin at two places. */
const SHIFTED_SHARE = 0.05;

/** The first moment from then on at which what takes as long begins at another moment of the window. */
export function apartFrom(other: Span, notBeforeMs: number, windowMs: number): number {
  const apartMs = Math.min(MOST_OF_WINDOW * windowMs, other.toMs - other.fromMs + SHIFTED_SHARE * windowMs);
  const intoMs = (notBeforeMs - other.fromMs) % windowMs;
  if (intoMs < apartMs) return notBeforeMs + apartMs - intoMs;
  return intoMs > windowMs - apartMs ? notBeforeMs + windowMs - intoMs + apartMs : notBeforeMs;
}

/** Whether both admitted the same number, and no window of a clock can have ended at the same place within both. */
export function isSameElsewhere(a: Count, b: Count, windowMs: number): boolean {
  const places = a.observations.slice(1).map((_, at) => [between(a, at), between(b, at)] as const);
  return a.admitted === b.admitted && places.every(([one, other]) => isApart(one, other, windowMs));
}

/** When a window ended, if it did so behind that request and before the next. */
function between({ observations, fromMs, toMs }: Count, at: number): Span {
  return { fromMs: observations[at]?.sentMs ?? fromMs, toMs: observations[at + 1]?.finishedMs ?? toMs };
}

/** When a window ended, if the limit was kept all the same: as many as are too many were served before, and after. */
export function endWithin({ observations, fromMs, toMs }: Count, limit: number): Span {
  const served = observations.filter(({ fate }) => fate === 'admitted');
  const sent = served.map(({ sentMs }) => sentMs).toSorted((a, b) => a - b);
  const finished = served.map(({ finishedMs }) => finishedMs).toSorted((a, b) => a - b);
  return { fromMs: sent[served.length - limit - 1] ?? fromMs, toMs: finished[limit] ?? toMs };
}
