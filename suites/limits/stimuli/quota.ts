import { Blocked, NotApplicable, unlessBlocked } from '../../../harness/base/verdict.ts';
import type { Plan, ServiceConfig } from '../../../harness/config/service.ts';
import type { MetLimit } from '../../../harness/engine/session/http/burst.ts';
import { derived, overRecord, type Port, type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Evidence } from '../../../harness/wire/evidence.ts';
import { asksForNoPage, Reply } from '../../../harness/wire/exchange/reply.ts';
import { freshAfterMs } from '../../../harness/wire/limit/fault/longer-limit.ts';
import { spentBefore } from '../../../harness/wire/limit/fault/remaining.ts';
import {
  faceOf,
  isLimitersRefusal,
  type LimitObservation,
  TOLERANCE,
} from '../../../harness/wire/limit/observed/observation.ts';
import { observationsOf } from '../../../harness/wire/limit/observed/observing.ts';
import { countingOnly, forgottenMs, pacing } from '../../../harness/wire/limit/pacing.ts';
import { wallOffsetMs } from '../../../harness/wire/pace/clock.ts';
import { sample, served } from '../../stimuli/sample.ts';
import { serialBurst, togetherBurst } from './burst-size.ts';
import { type InTurn, inOne, inTurn, shorterLimit } from './in-turn.ts';
import { surelyOpened } from './step.ts';

/** Meets the rate limit on purpose, once: earlier requests of the window count, and all checks share the spent quota. */

export interface Exhaustion extends Pick<InTurn, 'groups' | 'second' | 'stray' | 'besideMs'> {
  readonly plan: Plan;
  /** 1-based index, within the window, of the first refused request; null when none was refused. */
  readonly firstRefused: number | null;
  /** Requests of the window, those of the other suites included. */
  readonly sent: number;
  /** Id of the burst that met the refusal. */
  readonly evidence: string;
  /** When the first request of the window was sent, on the session's clock. */
  readonly sinceMs: number;
  /** The burst of requests sent together, where the serial one was never refused. */
  readonly parallel: MetLimit | null;
  /** The first refusal, whole. */
  readonly refusal: Reply | null;
  readonly refusedAtMs: number | null;
  /** From the first request that counts to the refusal, in ms. */
  readonly elapsedMs: number;
  /** Median time in ms from request to served response within the burst. */
  readonly typicalMs: number;
}

/** The sample as the burst is about to begin: its quota fields. An earlier one where there is no room for another. */
export const quotaSample = probe('quota-sample', { needs: [served] }, async ({ ask, http, quota }) => {
  const first = await ask(served);
  if (quota.isAwaited) return first;
  return http.send({ purpose: 'as documented, to read the quota fields' });
});

/** Every served answer to the documented request with the service's own key: other addresses and keys may have other quotas. */
export const everyQuotaAnswer = overRecord<Reply>(
  'every-quota-answer',
  [quotaSample],
  ({ documented, recorded }) => {
    const placeOf = (address: string) => address.replace(/[?#].*/s, '');
    return recorded.exchanges.filter(
      ({ served: isServed, isOrdinary, exchange: { credential, request } }) =>
        isServed &&
        isOrdinary &&
        credential === 'right' &&
        placeOf(request.url).endsWith(placeOf(documented.path)),
    );
  },
);

/** Sends until the first refusal: one by one, and else all at once. A pause before it tells a sliding window from a fixed one. */
export const exhaustion = probe<Exhaustion>(
  'exhaustion',
  {
    needs: () => [served, quotaSample, ownWindow],
    cost: (config) => 3 * burstCost(config),
    usualCost: (config) => 2 * burstCost(config),
    risks: ['burst'],
  },
  async (port) => {
    await port.ask(served);
    // A limiter that wants requests evenly spread may refuse it: the burst shows how many it takes.
    await port.ask(quotaSample).catch(unlessBlocked);
    await port.ask(ownWindow);
    const { windowMs } = planOf(port.config);
    const before = countedSoFar(port);
    const sinceMs = before[0]?.sentMs ?? port.clock.now();
    const opened = surelyOpened(countingOnly(observedSoFar(port), windowMs), windowMs);
    await port.pause.until(
      (opened?.fromMs ?? sinceMs) + TOLERANCE.spreadShare * windowMs,
      'the requests of the window have to lie apart, to tell a sliding window from a fixed one',
    );
    const shorter = shorterLimit(planOf(port.config));
    if (shorter !== null)
      await port.pause.until(quietFrom(port) + freshAfterMs(shorter), 'the further limit has to be fresh');
    const upTo = serialBurst(planOf(port.config));
    const met = await exhaust(port, {
      before: before.length,
      purpose: 'to meet the rate limit',
      sinceMs,
      upTo,
      triesAgain: true,
    });
    if (met.refusal !== null) return met;
    const together = await metTogether(port, met);
    const { burst, refusal } = together;
    return {
      ...met,
      sent: met.sent + burst.entries.length,
      evidence: burst.id,
      refusal: refusal === null ? null : new Reply(refusal),
      refusedAtMs: refusal?.timing.startedMs ?? null,
      parallel: together,
    };
  },
);

/** Where requests in turn are slow, a window may end among those sent together: with two windows of silence before it none does. */
async function metTogether(port: QuotaParts, { plan, sent, elapsedMs }: Exhaustion): Promise<MetLimit> {
  const send = (before: number) =>
    port.quota.burst({
      purpose: 'all at once, for one by one none was refused',
      before,
      upTo: togetherBurst(plan),
      together: true,
    });
  const first = await send(sent);
  if (first.refusal !== null || elapsedMs < plan.windowMs) return first;
  await port.pause.until(
    forgottenMs(observedSoFar(port), plan.windowMs) + plan.windowMs,
    'two windows without a request: then no limiter remembers any',
  );
  return send(0);
}

/** When the last request so far was answered, on the session's clock. */
export function quietFrom(port: QuotaParts, untilMs = Number.POSITIVE_INFINITY): number {
  const before = observedSoFar(port).filter(({ sentMs }) => sentMs < untilMs);
  return Math.max(0, ...before.map(({ finishedMs }) => finishedMs));
}

/** What others have spent of the window in which the burst was about to begin, if its fields tell; 0 otherwise. */
const ownWindow: Probe<{ readonly ofOthers: number }> = probe('own-window', async (port) => {
  const plan = planOf(port.config);
  const seen = observedSoFar(port);
  const ofOthers = spentBefore(seen, plan);
  if (ofOthers === 0) return { ofOthers };
  await port.pause.until(
    forgottenMs(seen, plan.windowMs),
    `others have spent ${ofOthers} of this quota: a window without any request clears it`,
  );
  await port.http.send({ purpose: 'as documented, to open a window of our own' }).catch(unlessBlocked);
  return { ofOthers };
});

/** Number of requests at most until the quota of the plan is spent. */
export function burstCost({ plan }: Pick<ServiceConfig, 'plan'>): number {
  return plan === null ? 0 : Math.max(serialBurst(plan), togetherBurst(plan));
}

/** What it takes to count against a quota. */
export type QuotaParts = Pick<Port, 'config' | 'clock' | 'quota' | 'pause'>;

/** Every request with the service's own credential so far, as a limiter has seen it. */
export function observedSoFar(port: QuotaParts): readonly LimitObservation[] {
  return observedIn(port.quota.evidenceSoFar(), port);
}

/** The same of some of the evidence. */
export function observedIn(
  evidence: readonly Evidence[],
  { config, clock, quota }: QuotaParts,
): readonly LimitObservation[] {
  const ownOffsetMs = wallOffsetMs(clock);
  return observationsOf(evidence, { ...planOf(config), ownOffsetMs, refusal: quota.refusal });
}

function countedSoFar(port: QuotaParts): readonly LimitObservation[] {
  const { windowMs } = planOf(port.config);
  const inWindow = port.clock.now() - windowMs;
  return countingOnly(observedSoFar(port), windowMs).filter(
    ({ sentMs, fate }) => sentMs >= inWindow && fate !== 'refused',
  );
}

interface ExhaustOrder {
  /** Requests of the window so far. */
  readonly before: number;
  readonly purpose: string;
  /** When the first of those was sent, on the session's clock. Default: now. */
  readonly sinceMs?: number;
  /** Default: twice the plan, for a window may end meanwhile. */
  readonly upTo?: number;
  readonly triesAgain?: boolean;
}

export async function exhaust(
  port: QuotaParts,
  {
    before,
    purpose,
    sinceMs = port.clock.now(),
    upTo = 2 * serialBurst(planOf(port.config)),
    triesAgain = false,
  }: ExhaustOrder,
): Promise<Exhaustion> {
  const plan = planOf(port.config);
  const met = await inTurn(port, { plan, purpose, before, upTo, triesAgain });
  const { bursts, second, groups, stray, besideMs } = met;
  const { entries, evidence, refusal } = inOne(bursts);
  const last = entries.at(-1);
  const lost = entries.find(({ status }) => status === null);
  // Who ends connections to limit a rate has answered.
  if (lost !== undefined && port.quota.refusal?.status !== null)
    throw new Blocked(
      `request ${lost.index} of the burst got no answer (${lost.failure ?? 'unknown'}), so nothing can be counted`,
    );
  return {
    plan,
    firstRefused: refusal === null ? null : before + entries.length,
    sent: before + entries.length,
    evidence,
    sinceMs,
    parallel: null,
    refusal: refusal === null ? null : new Reply(refusal),
    refusedAtMs: refusal?.timing.startedMs ?? null,
    elapsedMs: (last?.sentMs ?? sinceMs) - sinceMs,
    typicalMs: median(entries.filter(({ status }) => status === 200).map(({ durationMs }) => durationMs)),
    second,
    groups,
    stray,
    besideMs,
  };
}

/** The first refusal. @throws NotApplicable where answers are held back instead, else Blocked when nothing was refused. */
export const refusal = probe('refusal', { needs: [exhaustion, sample], cost: 0 }, async (port) => {
  const { plan, refusal: met, sent, typicalMs } = await port.ask(exhaustion);
  if (met !== null) return met;
  const pacedMs = TOLERANCE.pacedShare * slotMs(plan);
  const { durationMs: unheldMs } = (await port.ask(sample)).exchange.timing;
  const isHeld = typicalMs >= pacedMs && unheldMs < pacedMs / 2;
  if (isHeld || pacing(observedSoFar(port), plan) !== null)
    throw new NotApplicable(
      `none of ${sent} requests was refused: answers are held back (${Math.round(typicalMs)} ms each) to keep to the rate`,
    );
  throw new Blocked(`none of ${sent} requests was refused, so there is no refusal to judge`);
});

/** The first refusal as a response. @throws NotApplicable where the limit is answered by no response at all. */
export const refusalAnswer = derived('refusal-answer', [refusal], async ({ ask }) => {
  const met = await ask(refusal);
  if (met.status === null) throw new NotApplicable('at the limit the connection ends without a response');
  return met;
});

/** In which time one request flows back, where the quota is refilled evenly, in ms. */
export function slotMs({ requests, windowMs }: Plan): number {
  return windowMs / requests;
}

/** What a quota that is refilled evenly gets back in so many ms, in requests. */
export function flowedBack({ requests, windowMs }: Plan, ms: number): number {
  return (ms * requests) / windowMs;
}

export function planOf({ plan }: ServiceConfig): Plan {
  if (plan === null) throw new Blocked('no plan is known');
  return plan;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** RFC 9110 §15.5.4: a client that goes on asking may be banned with it, which limits.refusals-free judges. */
const FORBIDDEN = 403;

/**
 * Every refusal at the limit, for rules that hold for the first and for each after it: 429, like the first refusal, or
 * with Retry-After and no quota. Anything else may be a passing fault of the service. Without those of other keys, which a gateway may limit by
 * rules of its own.
 */
export const everyLimitRefusal = overRecord<Reply>(
  'every-limit-refusal',
  [refusal],
  async ({ ask, recorded }) => {
    const first = faceOf((await ask(refusal)).exchange);
    const isSpent = ({ served, response }: Reply) =>
      !served &&
      response.status !== FORBIDDEN &&
      response.has('retry-after') &&
      response.quota.remaining === 0;
    return recorded.exchanges.filter(
      (reply) =>
        reply.status !== null &&
        reply.isOrdinary &&
        reply.exchange.credential === 'right' &&
        (isLimitersRefusal(reply.exchange, first) || isSpent(reply)),
    );
  },
);

/** Whether the content of the answer is for programs: HEAD has none, and a page may get one. */
export function hasContentForPrograms({ exchange: { request } }: Reply): boolean {
  return request.method !== 'HEAD' && asksForNoPage(request);
}

/** Requests with a wrong key between two good ones. */
const WRONG = 3;

interface FailuresCounted {
  /** By how much more the quota fell over a good request with wrong ones before it than over one without. */
  readonly taken: number;
  readonly wrong: number;
  readonly evidence: string;
}

/** Whether requests with a wrong key are taken from the quota of the right one. */
export const failuresCounted = probe<FailuresCounted>(
  'failures-counted',
  { needs: [quotaSample], cost: 3 + WRONG },
  async ({ ask, http, quota }) => {
    const read = await ask(quotaSample);
    if (read.response.quota.remaining === null) throw new NotApplicable('no remaining quota is told');
    // Where nothing was sent since, the quota is as it was told then.
    const isLast = quota.evidenceSoFar().at(-1)?.id === read.evidence;
    const first = isLast ? read : await http.send({ purpose: 'as documented, before wrong keys' });
    const second = await http.send({ purpose: 'as documented, to see what one request takes' });
    for (let sent = 0; sent < WRONG; sent += 1) {
      await http.send({ purpose: 'with a wrong key', credential: { wrong: 'wrong' } });
    }
    const third = await http.send({ purpose: 'as documented, after wrong keys' });
    const [before, without, after] = [first, second, third].map(({ response }) => response.quota.remaining);
    if (before == null || without == null || after == null)
      throw new Blocked('the remaining quota was told, and then no longer');
    if (without > before || after > without) throw new NotApplicable('the quota was renewed in between');
    return { taken: without - after - (before - without), wrong: WRONG, evidence: third.evidence };
  },
);
