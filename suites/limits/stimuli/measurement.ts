import type { Mismatch } from '../../../harness/base/finding.ts';
import { unlessBlocked, unlessUnjudged } from '../../../harness/base/verdict.ts';
import type { MetLimit } from '../../../harness/engine/session/http/burst.ts';
import { derived, type Port, type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Burst } from '../../../harness/wire/evidence.ts';
import { Reply } from '../../../harness/wire/exchange/reply.ts';
import type { Exchange } from '../../../harness/wire/exchange.ts';
import { countsApart } from '../../../harness/wire/limit/fault/counts-apart.ts';
import {
  isSlowInTurn,
  isWindowShown,
  meaningOfReset,
  remainingFault,
  resetFault,
  retryAfterFault,
  servedResetFault,
  windowFault,
} from '../../../harness/wire/limit/fault/honesty.ts';
import { longerLimitMet } from '../../../harness/wire/limit/fault/longer-limit.ts';
import { explainingKinds, inferLimit, type LimitInference } from '../../../harness/wire/limit/infer.ts';
import type { LimitAlgorithm } from '../../../harness/wire/limit/model/models.ts';
import {
  isLimitersRefusal,
  type LimitObservation,
  TOLERANCE,
} from '../../../harness/wire/limit/observed/observation.ts';
import { ALONE, withRefusedBeside } from '../../../harness/wire/limit/observed/observing.ts';
import { countingOnly, putOff } from '../../../harness/wire/limit/pacing.ts';
import { wallOffsetMs } from '../../../harness/wire/pace/clock.ts';
import { shorterLimit } from './in-turn.ts';
import { nextLimitStep } from './planner.ts';
import { burstCost, exhaustion, observedSoFar, planOf, refusal } from './quota.ts';
import {
  forwardedWhileExhausted,
  otherAgentWhileExhausted,
  otherKindsWhileExhausted,
  secondKeyWhileExhausted,
  spacedWhileExhausted,
  spelledWhileExhausted,
  spentAgain,
  variantsWhileExhausted,
} from './spent.ts';
import type { LimitStep } from './step.ts';

/** Everything that is found out about the limit, in one window and the beginning of the next. */
interface LimitMeasurement {
  readonly observations: readonly LimitObservation[];
  /** Those since the quota was spent anew, if it was: no wait lasts from earlier ones. */
  readonly recent: readonly LimitObservation[];
  readonly inference: LimitInference;
  /** Requests sent alone after the last refusal, in the order of sending. */
  readonly probes: readonly Reply[];
  /** The first refusal when the quota was spent anew; null if that was not, or was not refused. */
  readonly refusedAnew: Reply | null;
  readonly parallel: MetLimit | null;
  /** Why it ended. */
  readonly ended: string;
  /** Id of what decided most: the parallel burst, or the last probe. */
  readonly evidence: string;
}

/** Kinds of limiters by whose windows nothing of the one before weighs. */
const FORGETTING: ReadonlySet<LimitAlgorithm> = new Set(['fixed-window', 'fixed-window-aligned']);

/** Whether a window without a request is all it takes. */
function forgets({ compatible, refusalsExtend }: LimitInference): boolean {
  return (
    refusalsExtend === false && compatible.length > 0 && compatible.every((each) => FORGETTING.has(each))
  );
}

/** A measurement is over long before; only a fault of the planner would send more steps. */
const MOST_STEPS = 60;

/** Lets the planner choose what to send until the kind of limit is known, or as much of it as can be. */
export const limitMeasurement = probe<LimitMeasurement>(
  'limit-measurement',
  {
    needs: [exhaustion],
    mayNeed: [
      spentAgain,
      otherKindsWhileExhausted,
      secondKeyWhileExhausted,
      variantsWhileExhausted,
      forwardedWhileExhausted,
      otherAgentWhileExhausted,
      spelledWhileExhausted,
      spacedWhileExhausted,
    ],
    cost: (config) => 2 * burstCost(config) + MOST_STEPS,
    risks: ['burst'],
  },
  async (port) => {
    const met = await port.ask(exhaustion);
    const plan = planOf(port.config);
    const probes: Reply[] = [];
    let parallel = met.parallel;
    let spentAsked = false;
    let isFurtherLeftOut = false;
    let anewMs: number | undefined;
    let refusedAnew: Reply | null = null;
    const ownOffsetMs = wallOffsetMs(port.clock);
    const { second, besideMs } = met;
    const observed = () => {
      const counting = countingOnly(observedSoFar(port), plan.windowMs);
      return withRefusedBeside(counting, besideMs, plan);
    };
    const next = (observations: readonly LimitObservation[]): LimitStep =>
      nextLimitStep({
        documented: plan,
        observations,
        spentAsked,
        isHasteRefused: second !== null,
        isFurtherLeftOut,
        ...(anewMs !== undefined && { anewMs }),
        nowMs: port.clock.now(),
        ownOffsetMs,
      });

    let ended = 'too many steps';
    let untilMs = Number.POSITIVE_INFINITY;
    for (let steps = 0; steps < MOST_STEPS; steps += 1) {
      const seen = observed();
      if (longerLimitMet(seen, plan)) {
        ended = 'a longer limit than the documented one refuses';
        break;
      }
      const step = next(seen);
      if (step.kind === 'stop') {
        ended = step.reason;
        break;
      }
      if (step.kind === 'wait') await port.pause.until(step.untilMs, step.reason);
      else if (step.kind === 'probe') {
        const sent = port.quota.sendWhileSpent({ purpose: `${ALONE}${step.reason}` });
        // No record of an earlier version has what only confirms.
        const reply = step.isFurther ? await sent.catch(unlessBlocked) : await sent;
        if (reply === null) isFurtherLeftOut = true;
        else probes.push(reply);
      } else if (step.kind === 'tell') {
        untilMs = port.clock.now();
        // No record of an earlier version has it.
        await port.quota.sendWhileSpent({ purpose: `${ALONE}${step.reason}` }).catch(unlessBlocked);
        ended = step.reason;
        break;
      } else if (step.kind === 'anew') {
        await port.pause.until(step.fromMs, 'two windows without a request: then no limiter remembers any');
        anewMs = port.clock.now();
        const order = {
          purpose: 'all at once, to spend the quota anew',
          before: 0,
          upTo: step.count,
          together: true,
        };
        // No record of an earlier version has it.
        const burst = await port.quota.burst(order).catch(unlessBlocked);
        if (burst === null) {
          ended = 'the quota could not be spent anew';
          break;
        }
        if (burst.refusal !== null) {
          refusedAnew = new Reply(burst.refusal);
          probes.length = 0;
        }
      } else if (step.kind === 'while-spent') {
        await askWhileSpent(port);
        spentAsked = true;
      } else {
        const purpose = step.kind === 'serial' ? 'to meet the rate limit' : 'all at once, in a fresh window';
        const upTo = step.kind === 'serial' ? step.upTo : step.count;
        const burst = await port.quota.burst({
          purpose,
          before: 0,
          upTo,
          together: step.kind === 'parallel',
          ...(step.kind === 'parallel' && { firstWave: step.firstWave ?? 0 }),
        });
        if (step.kind === 'parallel') parallel ??= burst;
      }
    }
    const seen = observed();
    const isCut = longerLimitMet(seen, plan);
    const all = seen.filter(({ part }) => !isCut || part !== 'parallel');
    if (isCut) parallel = null;
    const spentAnewMs = refusedAnew === null ? 0 : (anewMs ?? 0);
    const before = all.filter(({ sentMs }) => sentMs < spentAnewMs);
    // A limit of concurrent requests has no windows: it refuses no request alone, and no other kind explains what was before.
    const isWithoutWindows =
      probes.every(({ served }) => served) && explainingKinds(before, plan, ownOffsetMs).length === 0;
    // Windows may have ended anywhere among requests that were sent earlier.
    const fromMs = isWithoutWindows ? 0 : spentAnewMs;
    const inference = inferLimit(
      all.filter(({ sentMs }) => sentMs >= fromMs),
      plan,
      ownOffsetMs,
    );
    if (forgets(inference)) port.quota.forgets();
    const observations = all.filter(({ sentMs }) => sentMs < untilMs);
    const evidence = parallel?.burst.id ?? probes.at(-1)?.evidence ?? met.evidence;
    return {
      observations,
      recent: observations.filter(({ sentMs }) => sentMs >= fromMs),
      inference,
      probes,
      refusedAnew,
      parallel,
      ended,
      evidence,
    };
  },
);

/** Asks everything that needs the spent quota, before it comes back. The results are for other checks. */
async function askWhileSpent({ config, ask }: Pick<Port, 'config' | 'ask'>): Promise<void> {
  const { credentials } = config;
  const asked: Probe<unknown>[] = [spentAgain, otherKindsWhileExhausted];
  if (credentials.second !== null) asked.push(secondKeyWhileExhausted);
  asked.push(variantsWhileExhausted, forwardedWhileExhausted, otherAgentWhileExhausted);
  if (credentials.carrier?.word) asked.push(spelledWhileExhausted, spacedWhileExhausted);
  for (const each of asked) await ask(each).catch(unlessUnjudged);
}

interface Recovery {
  /** The plan's window in words: `60 s`. */
  readonly window: string;
  /** What a refusal asked to wait, in ms; null without a valid Retry-After. */
  readonly retryAfterMs: number | null;
  /** What was wrong with that; null when it was honest. */
  readonly dishonesty: Mismatch | null;
  /** Whether it can be held against the real wait. */
  readonly resetMeaning: ReturnType<typeof meaningOfReset>;
  /** What was wrong with the reset that refusals told; null when it was honest. */
  readonly resetDishonesty: Mismatch | null;
  /** The same of the reset that served answers told, and of the remaining quota; undefined where nothing tells. */
  readonly servedResetDishonesty: string | null | undefined;
  readonly remainingDishonesty: string | null | undefined;
  /** How the window differs from the documented one; null where nothing shows that it does. */
  readonly windowFault: string | null;
  /** Requests in turn took so long that nothing rules out windows of half the length. */
  readonly mayBeShorter: boolean;
  /** Whether refused requests put the end of the wait off; null where nothing tells. */
  readonly putOff: boolean | null;
  /** They are remembered as long as served ones. */
  readonly isLogged: boolean;
  /** The status of a client that went on asking, other than that of the refusal; null where there was none. */
  readonly banned: number | null;
  /** Time without a request before the first served one, in ms; null if none was served. */
  readonly silenceMs: number | null;
  /** Requests sent alone after the refusal, until one was served. */
  readonly attempts: number;
  /** From the refusal to the first served request; null when it never came. */
  readonly servedAfterMs: number | null;
  readonly waitedMs: number;
  /** From the first refusal to the soonest moment that any asks for, in ms; 0 where none does. */
  readonly toWaitMs: number;
  readonly evidence: string;
}

/** How the quota came back: told by requests sent alone, each at the earliest moment that can tell something. */
export const recovery = derived<Recovery>(
  'recovery',
  [exhaustion, refusal, limitMeasurement],
  async ({ ask, config }) => {
    const {
      observations: all,
      recent: observations,
      inference,
      probes,
      refusedAnew,
    } = await ask(limitMeasurement);
    const { second } = await ask(exhaustion);
    const met = refusedAnew ?? (await ask(refusal));
    const plan = planOf(config);
    const shorterMs = Math.max(shorterLimit(plan)?.windowMs ?? 0, second?.backMs ?? 0);
    const { windowMs } = plan;
    const refusedAt = endOf(met);
    const isLog = inference.algorithm === 'sliding-log';
    const resetDishonesty = resetFault(observations, windowMs, inference);
    const served = probes.find((each) => each.served);
    const banned = probes.find(({ status }) => status === FORBIDDEN && met.status !== FORBIDDEN);
    const refused = probes.filter((each) => !each.served);
    // The header section of a response that breaks off is whole.
    const answers = [met, ...refused].filter(({ exchange }) => exchange.response !== null);
    const told = answers.find(({ response }) => response.retryAfterMs !== null);
    return {
      window: `${windowMs / 1000} s`,
      retryAfterMs: told?.response.retryAfterMs ?? null,
      dishonesty: retryAfterFault(observations, windowMs, shorterMs),
      resetMeaning: meaningOfReset(inference),
      resetDishonesty,
      servedResetDishonesty: servedResetFault(observations, plan, inference),
      remainingDishonesty: remainingFault(observations, plan, inference),
      windowFault: windowFault(
        all.filter((each) => !mayBeOfShorter(each, shorterMs, second !== null)),
        plan,
        resetDishonesty === null,
      ),
      mayBeShorter: isSlowInTurn(all, plan) && !isWindowShown(observations, plan),
      putOff: inference.refusalsExtend,
      isLogged: inference.refusalsExtend === true && (isLog || putOff(observations, plan) !== true),
      banned: banned?.status ?? null,
      silenceMs: served === undefined ? null : silenceBefore(served, [met, ...probes]),
      attempts: served === undefined ? probes.length : probes.indexOf(served) + 1,
      servedAfterMs: served === undefined ? null : served.exchange.timing.startedMs - refusedAt,
      waitedMs: (probes.at(-1)?.exchange.timing.startedMs ?? refusedAt) - refusedAt,
      toWaitMs: Math.max(0, Math.min(...answers.map(askedUntil)) - refusedAt),
      evidence: (banned ?? served ?? probes.at(-1) ?? met).evidence,
    };
  },
);

/** Whether a limit of that shorter window may have refused it, which says nothing of the documented one. */
function mayBeOfShorter(
  { fate, part, retryAfterMs }: LimitObservation,
  shorterMs: number,
  isSeen: boolean,
): boolean {
  if (shorterMs === 0 || fate !== 'refused') return false;
  // In turn its refusals are known where it was seen.
  if (retryAfterMs === null) return !isSeen || part === 'parallel';
  return retryAfterMs <= shorterMs + TOLERANCE.wholeSeconds;
}

/** RFC 9110 §15.5.4: some limiters refuse with it a client that goes on asking. */
const FORBIDDEN = 403;

function askedUntil(refusal: Reply): number {
  return endOf(refusal) + (refusal.response.retryAfterMs ?? 0);
}

function silenceBefore(served: Reply, answers: readonly Reply[]): number {
  const { startedMs } = served.exchange.timing;
  const before = answers.map(endOf).filter((endMs) => endMs <= startedMs);
  return startedMs - Math.max(...before);
}

function endOf({ exchange: { timing } }: Reply): number {
  return timing.startedMs + timing.durationMs;
}

/** What shows that several instances limit the client, each in its own way; null where nothing does, undefined where nothing can. */
export const instancesApart: Probe<{
  readonly fault: string | null | undefined;
  readonly evidence: string;
}> = derived('instances-apart', [exhaustion, limitMeasurement], async ({ ask, config }) => {
  const { evidence } = await ask(exhaustion);
  const { observations } = await ask(limitMeasurement);
  return { fault: countsApart(observations, planOf(config)), evidence };
});

/** Answers of the bursts that were failures of the moment: no refusals, for the next requests were served at once. */
interface BurstFailures {
  /** The status of the first of them; null where there were none. */
  readonly status: number | null;
  readonly count: number;
  /** How many requests of bursts were not refused. */
  readonly of: number;
  readonly evidence: string;
}

/** RFC 9110 §15.6.4: a limiter may refuse with it as well. */
const UNAVAILABLE = 503;
/** By chance a window of some limiter ends right behind one refusal; not behind two. */
const FEWEST_UNAVAILABLE = 2;

export const burstFailures = probe<BurstFailures>(
  'burst-failures',
  { needs: [limitMeasurement] },
  async ({ ask, quota }) => {
    const { evidence: measured } = await ask(limitMeasurement);
    const evidence = quota.evidenceSoFar();
    const bursts = evidence.filter((each): each is Burst => each.kind === 'burst');
    const ids = new Set(bursts.flatMap(({ faults = [] }) => faults));
    const failed = evidence.filter(
      (each): each is Exchange =>
        each.kind === 'exchange' && ids.has(each.id) && !isLimitersRefusal(each, quota.refusal),
    );
    const unavailable = failed.filter(({ response }) => response?.status === UNAVAILABLE).length;
    const told = failed.filter(
      ({ response }) => response?.status !== UNAVAILABLE || unavailable >= FEWEST_UNAVAILABLE,
    );
    const [first] = told;
    const refused = quota.refusal?.status ?? null;
    const unrefused = bursts.flatMap(({ entries }) => entries).filter(({ status }) => status !== refused);
    return {
      status: first?.response?.status ?? null,
      count: told.length,
      of: unrefused.length,
      evidence: first?.id ?? bursts[0]?.id ?? measured,
    };
  },
);
