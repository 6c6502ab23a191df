import { HarnessError } from '../../../harness/base/exit.ts';
import { numberOf } from '../../../harness/base/text.ts';
import { Blocked, NotApplicable, unlessUnjudged } from '../../../harness/base/verdict.ts';
import type { FurtherLimit } from '../../../harness/config/service.ts';
import { derived, type Port, type Probe, probe } from '../../../harness/engine/session/probe.ts';
import { isApart } from '../../../harness/wire/limit/fault/counts-apart.ts';
import {
  documentedWithin,
  type FirstRefused,
  renewedTwice,
} from '../../../harness/wire/limit/fault/honesty.ts';
import { isOfAnother } from '../../../harness/wire/limit/fault/longer-limit.ts';
import { requestsOfOthers } from '../../../harness/wire/limit/fault/remaining.ts';
import {
  firstRefusedOf,
  isExplainedBy,
  type LimitInference,
  mostWithin,
} from '../../../harness/wire/limit/infer.ts';
import { GRADUAL } from '../../../harness/wire/limit/model/models.ts';
import type { LimitObservation } from '../../../harness/wire/limit/observed/observation.ts';
import { mayFlowBack } from '../../../harness/wire/limit/pacing.ts';
import { wallOffsetMs } from '../../../harness/wire/pace/clock.ts';
import { isTellable } from './burst-size.ts';
import {
  type Count,
  countOf,
  eachMsOf,
  endWithin,
  FEW_SHARE,
  fewCount,
  fewRecount,
  firstBurst,
  isSameElsewhere,
  parallelCount,
  parallelRecount,
  serialCount,
  serialRecount,
  spansWindow,
  strayTogether,
} from './count.ts';
import { type StrayRefusal, shorterLimit } from './in-turn.ts';
import { limitMeasurement } from './measurement.ts';
import { type Exhaustion, exhaustion, planOf } from './quota.ts';

interface MeasuredLimit {
  /** 1-based index of the first refused request of a window; null when none was refused. */
  readonly firstRefused: number | null;
  /** How well that is known, in words; null when exactly. */
  readonly uncertainty: string | null;
  /** The requests behind it were served at once. */
  readonly isStray: boolean;
  readonly sent: number;
  readonly evidence: string;
  readonly documented: { readonly requests: number; readonly window: string };
}

/**
 * The index of the first refused request of a window. The documented one where no limiter of another explains what
 * was sent and refused so far; any other, and what a window's end leaves open, is counted, and counted twice.
 */
export const measuredLimit = probe<MeasuredLimit>(
  'measured-limit',
  {
    needs: [exhaustion, limitMeasurement],
    mayNeed: [firstBurst, serialCount, serialRecount, parallelCount, parallelRecount, fewCount, fewRecount],
    cost: 0,
  },
  async (port) => {
    const { ask } = port;
    const met = await ask(exhaustion);
    const { plan, sent, evidence } = met;
    const { inference, observations, parallel } = await ask(limitMeasurement);
    const documented = { requests: plan.requests, window: `${plan.windowMs / 1000} s` };
    const about = { sent, evidence, documented, isStray: false };
    const strayAt = (stray: readonly StrayRefusal[]) => {
      const [seen] = stray.length >= FEWEST_STRAY ? stray : [];
      return seen && { ...about, firstRefused: seen.index, uncertainty: null, isStray: true };
    };
    const seen = strayAt(met.stray);
    if (seen !== undefined) return seen;
    const first = observations.find(({ fate }) => fate === 'refused');
    if (first && (met.firstRefused ?? 0) <= plan.requests && isOfAnother(first, plan))
      throw new Blocked('another limit than the documented one refused first');
    const shorter = shorterLimit(plan);
    const spentLast = met.groups.at(-1)?.admitted ?? 0;
    if (
      shorter &&
      met.second === null &&
      (met.firstRefused ?? 0) <= plan.requests &&
      (met.groups.length > 1 || spentLast >= shorter.requests)
    )
      throw new NotApplicable(refusedFirst(shorter));
    const others = requestsOfOthers(observations);
    if (others > 0) throw new Blocked(`others spend this quota: it fell by ${others} more than was sent`);
    switch (inference.algorithm) {
      case 'queue':
      case 'delay':
        throw new NotApplicable(`requests are held back instead of refused: ${inference.because.join('; ')}`);
      case 'none':
      case 'concurrency':
        return { ...about, firstRefused: null, uncertainty: null };
      default:
        break;
    }
    // Requests sent together may be refused by a limit of their own: that is a reason to count, and no more.
    const together = parallel === null ? [] : strayTogether(countOf([parallel], port).observations, plan);
    const isOdd = met.stray.length + together.length > 0;
    // By chance as many may be served together as a bucket would serve that was never met in turn.
    const eachMs = eachMsOf(met.groups[0] ?? { fromMs: 0, toMs: 0, admitted: 0 });
    const isUnmet =
      parallel !== null && inference.compatible.includes('concurrency') && isTellable(plan, eachMs);
    const found = inference.firstRefused && documentedWithin(inference.firstRefused, plan);
    if (found?.uncertainty === null && !isOdd && !isUnmet)
      return { ...about, firstRefused: found.at, uncertainty: null };
    const { at, uncertainty, by, other, stray } = await counted(port, met, inference, {
      observations,
      isOdd,
    }).catch((thrown: unknown) => {
      // What that one refuses, or makes wait for, is in each count.
      if (shorter && thrown instanceof Blocked)
        throw new NotApplicable(`${thrown.message}, beside ${limitText(shorter)}`);
      throw thrown;
    });
    const { sent: sentThen, evidence: decisive } = by;
    const again = strayAt(stray);
    if (shorter && !again && at !== null) {
      const isOfShorter = at - 1 === shorter.requests || (met.second !== null && at - 1 < shorter.requests);
      if (isOfShorter) throw new NotApplicable(refusedFirst(shorter));
      // A limiter that counts whatever it is asked refuses so much earlier, and no other one does by chance.
      const missing = plan.requests + 1 - at;
      if (missing > 0 && [by, other].some((each) => each?.interruptions === missing))
        throw new NotApplicable(
          `${numberOf(missing, 'request')} that ${limitText(shorter)} refused may have counted`,
        );
      const isOfFlow = at - 1 > plan.requests && at - 1 <= plan.requests + by.flowed;
      if (isOfFlow && mayFlowBack(observations, plan))
        throw new NotApplicable(
          `${at - 1} were admitted while ${limitText(shorter)} was waited for, and the quota may flow back`,
        );
    }
    return again ?? { ...about, sent: sentThen, evidence: decisive, firstRefused: at, uncertainty };
  },
);

/** Whether no number of requests in turn meets the limit. */
export const unmetInTurn: Probe<boolean> = derived('unmet-in-turn', [measuredLimit], async ({ ask }) => {
  const measured = await ask(measuredLimit).catch(unlessUnjudged);
  return measured !== null && !measured.isStray && measured.firstRefused === null;
});

/** By chance a window of some limiter ends right behind one refusal; not behind two. */
const FEWEST_STRAY = 2;

const limitText = ({ requests }: FurtherLimit): string =>
  `the further limit of ${numberOf(requests, 'request')}`;
const refusedFirst = (limit: FurtherLimit): string => `${limitText(limit)} refused first`;

interface Counted extends Pick<MeasuredLimit, 'uncertainty'> {
  readonly at: FirstRefused['at'] | null;
  readonly by: Count;
  /** The count that it agrees with. */
  readonly other?: Count;
}

interface BeforeCounts {
  readonly observations: readonly LimitObservation[];
  /** Some were refused while quota was left, as far as one burst can tell. */
  readonly isOdd: boolean;
}

/** Of the window: requests in turn that take longer are counted together, so that no window ends meanwhile. */
const LONG_SHARE = 0.1;
/** The same where one burst has met a refusal at random. */
const LONG_SHARE_IF_ODD = 0.5;

/** The result of two counts within which no window of a clock ended. Others can only lower a count: a low one is counted twice. */
async function counted(
  { ask, clock, config }: Pick<Port, 'ask' | 'clock' | 'config'>,
  { groups, second: beside, typicalMs }: Pick<Exhaustion, 'groups' | 'second' | 'typicalMs'>,
  { compatible }: LimitInference,
  { observations, isOdd }: BeforeCounts,
): Promise<Counted & { readonly stray: readonly StrayRefusal[] }> {
  const plan = planOf(config);
  const { requests, windowMs } = plan;
  const ownOffsetMs = wallOffsetMs(clock);
  const isOpen = mayFlowBack(observations, plan);
  const flows = isOpen && (compatible.length === 0 || compatible.some((each) => GRADUAL.has(each)));
  const isBucket = isOpen && compatible.includes('token-bucket');
  const most = ({ flowed }: Count) => requests + (flows ? flowed : 0);
  const inTurn = observations.filter(({ part }) => part === 'serial');
  // Twice a limit fits around the end of a window. More were served in turn: another limit refuses those together.
  const mostInTurn = mostWithin(
    inTurn.filter(({ fate }) => fate === 'admitted'),
    windowMs,
  );
  // A second limit refuses requests that come together.
  const eachMs = eachMsOf(groups[0] ?? { fromMs: 0, toMs: 0, admitted: 0 });
  // Refusals at random show in turn alone.
  const isSlow = isOdd
    ? typicalMs * requests > LONG_SHARE_IF_ODD * windowMs
    : eachMs * requests > LONG_SHARE * windowMs;
  const isLong = beside === null && isSlow;
  let isTogether = isLong;
  const isOfTogether = ({ admitted }: Count) => isTogether && 2 * admitted < mostInTurn;
  const isLow = (a: Count, b: Count) =>
    a.admitted < requests && a.admitted === b.admitted && !isOfTogether(a);
  // Held up, a request or two flow back to a bucket without burst.
  const isFlow = (a: Count) => flows && a.isRefused && a.admitted <= a.flowed && a.flowed < requests / 2;
  const isWithoutBurst = (by: Count, other: Count) =>
    isFlow(by) && isFlow(other) && by.admitted <= other.admitted && !isOfTogether(by);
  const isHigh = (a: Count, b: Count) =>
    [a, b].every((each) => each.surely > most(each)) &&
    isApart(endWithin(a, requests), endWithin(b, requests), windowMs);
  const isSame = (a: Count, b: Count) => a.isRefused && isSameElsewhere(a, b, windowMs);

  const isOfBucket = (each: Count) => isExplainedBy('token-bucket', each.observations, plan, ownOffsetMs);
  // A bucket of the documented size explains neither, and no window ended within both: the limit is higher.
  const isHighAtOnce = (a: Count, b: Count) =>
    isApart(a, b, windowMs) &&
    [a, b].every((each) => each.isRefused && each.surely > requests && !isOfBucket(each));

  const documentedBy = (by: Count, other: Count): Counted | null => {
    if (other.surely < requests || !(isApart(by, other, windowMs) || isSame(by, other))) return null;
    // A lower limit would need a window to end within both.
    const isExact = by.isRefused && by.admitted === requests && by.surely === requests;
    if (isExact && !flows && isApart(by, other, windowMs)) return { at: requests + 1, uncertainty: null, by };
    const bounds = firstRefusedOf(by.observations, plan, ownOffsetMs, compatible);
    const found = bounds && documentedWithin(bounds, plan);
    return found && { ...found, by };
  };
  // So much flows back meanwhile that no count tells the number; it is not below the documented one, nor is the rate above.
  const keptBy = (by: Count, other: Count): Counted | null =>
    isBucket &&
    by.flowed > 1 &&
    by.isRefused &&
    by.surely >= requests &&
    by.admitted <= most(by) &&
    other.surely >= requests &&
    [by, other].every(isOfBucket)
      ? { at: requests + 1, uncertainty: `at most ${by.admitted + 1}`, by }
      : null;
  // Early or late in a count, the end of its window frees as many.
  const isOfSlidingCounter = (each: Count) =>
    compatible.includes('sliding-counter') &&
    isExplainedBy('sliding-counter', each.observations, plan, ownOffsetMs);
  // A higher limit does not refuse the one so early; a counter's window may have slid within the other.
  const isAboveOnce = (exact: Count, above: Count) =>
    exact.isRefused &&
    exact.admitted === requests &&
    exact.surely === requests &&
    above.surely > requests &&
    isApart(exact, above, windowMs) &&
    isOfSlidingCounter(above);
  const slidBy = (by: Count, other: Count): Counted | null =>
    isAboveOnce(by, other)
      ? {
          at: requests + 1,
          uncertainty: `counted once; a window slid in a count of ${other.admitted}`,
          by,
        }
      : null;
  const otherBy = (by: Count, other: Count): Counted | null => {
    const differs =
      isLow(other, by) ||
      isWithoutBurst(by, other) ||
      isHigh(other, by) ||
      isHighAtOnce(other, by) ||
      (by.surely > most(by) &&
        isSame(by, other) &&
        (isApart(by, other, windowMs) || ![by, other].some(isOfSlidingCounter)));
    const at = by.isRefused ? by.admitted + 1 : null;
    return differs ? { at, uncertainty: null, by, other } : null;
  };
  // Of a bucket as small as that, requests in turn are served as fast as they flow back.
  const earlyBy = (by: Count, other: Count): Counted | null =>
    beside === null && by.refusedEarly !== null && other.refusedEarly !== null
      ? { at: by.refusedEarly, uncertainty: null, by }
      : null;
  const among = (counts: readonly Count[], judge: typeof documentedBy) =>
    counts
      .toReversed()
      .flatMap((by) => counts.flatMap((other) => (by === other ? [] : (judge(by, other) ?? []))))[0] ?? null;

  const first = await ask(firstBurst);
  const counts: Count[] = [first];
  const strayNow = () => counts.flatMap(({ stray }) => stray);
  const take = async (next: typeof firstBurst): Promise<Counted | null> => {
    counts.push(await ask(next));
    return among(counts, earlyBy) ?? among(counts, documentedBy) ?? among(counts, otherBy);
  };
  let found: Counted | null = null;
  const waiting = isLong ? [parallelCount, parallelRecount] : [serialCount, serialRecount];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    found = await take(next);
    const isOpenStill = isOdd && strayNow().length < FEWEST_STRAY;
    if (found !== null && !isOpenStill) return { ...found, stray: strayNow() };
    const last = counts.at(-1) ?? first;
    if (next === parallelCount && isOfTogether(last)) {
      const isMetInTurn = first.isRefused || FEW_SHARE * (first.toMs - first.fromMs) < windowMs;
      counts.splice(1);
      isTogether = false;
      waiting.splice(0, 1, ...(isMetInTurn ? [serialCount, serialRecount] : [fewCount, fewRecount]));
    }
    if ((next === fewCount || next === fewRecount) && spansWindow(last, plan))
      throw new NotApplicable(
        'another limit refuses requests that come together, and as many at a time as are served are hardly more than documented',
      );
  }
  const stray = strayNow();
  if (found !== null) return { ...found, stray };
  const [, earlier, last] = counts;
  if (earlier === undefined || last === undefined) throw new HarnessError('nothing was counted');
  // A lower limit would need a window to end at the same request of both.
  const isExact = [earlier, last].every(
    (each) => each.isRefused && each.admitted === requests && each.surely === requests,
  );
  if (isExact && stray.length === 0)
    return { at: requests + 1, uncertainty: 'counted twice', by: last, stray };
  const kept =
    keptBy(last, earlier) ?? keptBy(earlier, last) ?? slidBy(last, earlier) ?? slidBy(earlier, last);
  if (kept !== null) return { ...kept, stray };
  const unsure = Math.max(...[earlier, last].map(({ admitted, surely }) => admitted - surely));
  if (stray.length >= FEWEST_STRAY) return { at: null, uncertainty: null, by: last, stray };
  if (unsure > 0)
    throw new Blocked(
      `the service failed ${unsure} times while it was counted: nothing tells whether that counts`,
    );
  const told = [earlier, last].map(({ admitted }) => admitted).join(', then ');
  throw new Blocked(
    earlier.admitted < requests || last.admitted < requests
      ? `others spend this quota, or it is counted otherwise than by window: ${told} were admitted of a fresh one`
      : `${told} were admitted, and a window may have ended meanwhile`,
  );
}

/** How many more of requests sent together were admitted than of requests sent one after the other. */
export const togetherAdmitted: Probe<{
  readonly excess: number;
  readonly sent: number;
  readonly evidence: string;
}> = probe(
  'together-admitted',
  {
    needs: [exhaustion, limitMeasurement],
    mayNeed: [measuredLimit, parallelCount, parallelRecount],
    cost: 0,
  },
  async (port) => {
    const { ask } = port;
    const { plan, second: beside } = await ask(exhaustion);
    const { parallel, inference, observations } = await ask(limitMeasurement);
    if (beside !== null)
      throw new NotApplicable(
        `a second limit refuses more than ${numberOf(beside.requests, 'request')} that come together`,
      );
    if (parallel === null)
      throw new NotApplicable('the quota did not come back in full while it was measured');
    const seen = countOf([parallel], port);
    const about = { sent: seen.sent, evidence: seen.evidence };
    if (seen.surely <= plan.requests || ['none', 'concurrency'].includes(inference.algorithm))
      return { ...about, excess: 0 };
    if (renewedTwice(observations, plan) !== null)
      throw new NotApplicable('windows end sooner than documented: one may have ended meanwhile');
    const { firstRefused, isStray } = await ask(measuredLimit);
    const oneByOne = Math.max(plan.requests, isStray ? 0 : (firstRefused ?? Number.POSITIVE_INFINITY) - 1);
    const flows = mayFlowBack(observations, plan);
    const excessOf = ({ surely, flowed }: Count) => Math.max(0, surely - oneByOne - (flows ? flowed : 0));
    const counts = [seen];
    for (const next of [parallelCount, parallelRecount]) {
      if (excessOf(counts.at(-1) ?? seen) === 0) return { ...about, excess: 0 };
      counts.push(await ask(next));
      const [before, last] = [counts.at(-2) ?? seen, counts.at(-1) ?? seen];
      if (!isApart(before, last, plan.windowMs)) continue;
      const excess = Math.min(excessOf(before), excessOf(last));
      if (excess > 0 && [before, last].some((each) => servedBehindRefusal(each) >= excessOf(each)))
        throw new Blocked(
          'what was served beyond the limit was sent behind a refusal: a window may have ended',
        );
      return { sent: last.sent, evidence: last.evidence, excess };
    }
    throw new Blocked('requests sent together take so long that a window may end meanwhile');
  },
);

/** They were sent when a refusal was there already: no count that is too slow for requests together admits those. */
function servedBehindRefusal({ observations }: Count): number {
  const refused = observations.filter(({ fate }) => fate === 'refused');
  const firstMs = Math.min(...refused.map(({ finishedMs }) => finishedMs));
  return observations.filter(({ fate, sentMs }) => fate === 'admitted' && sentMs >= firstMs).length;
}
