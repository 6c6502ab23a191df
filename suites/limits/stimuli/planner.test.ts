import { describe, expect, it } from 'vitest';
import fc from '../../../harness/base/fixtures/properties.ts';
import { inferLimit, type LimitInference } from '../../../harness/wire/limit/infer.ts';
import type { LimitObservation } from '../../../harness/wire/limit/observed/observation.ts';
import { SIMULATED, type SimulatedPlan, SimulatedService } from './fixtures/simulated-limiter.ts';
import { nextLimitStep } from './planner.ts';

interface Setting {
  readonly plan: SimulatedPlan;
  readonly startMs: number;
  readonly latencyMs: number;
  readonly jitterMs: number;
  readonly seed: number;
  readonly before: number;
  /** Requests ahead of those of which it is not known whether they count, and whether they do. */
  readonly unsure: { readonly requests: number; readonly apartMs: number; readonly count: boolean };
  readonly tellsRetryAfter: boolean;
  readonly tellsDate: boolean;
  /** What our clock is ahead of the service's, where that tells its own. */
  readonly aheadMs: number;
}

interface Measured {
  readonly inference: LimitInference;
  readonly requests: number;
  readonly tookMs: number;
  readonly observations: readonly LimitObservation[];
}

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Lets the planner measure a simulated limiter. The simulation's clock is the service's Unix time. */
function measure(name: string, setting: Setting): Measured {
  const { plan, startMs, latencyMs, jitterMs, tellsDate } = setting;
  const ownOffsetMs = tellsDate ? setting.aheadMs : 0;
  const make = SIMULATED[name];
  if (make === undefined) throw new Error(`no limiter is called ${name}`);
  const leg = (random: number) => latencyMs / 2 + random * jitterMs;
  const service = new SimulatedService(
    make(plan),
    {
      there: leg,
      back: leg,
      random: seeded(setting.seed),
      tellsRetryAfter: setting.tellsRetryAfter,
      tellsDate,
    },
    startMs,
  );
  const { unsure } = setting;
  const observations: LimitObservation[] = Array.from({ length: unsure.requests }, () => {
    const seen = service.unsure(unsure.count);
    service.nowMs += unsure.apartMs;
    return seen;
  });
  for (let sent = 0; sent < setting.before; sent += 1) observations.push(service.serial('before'));
  let spentAsked = false;
  let anewMs: number | undefined;
  for (let steps = 0; steps < 100; steps += 1) {
    const step = nextLimitStep({
      documented: plan,
      observations,
      spentAsked,
      ...(anewMs !== undefined && { anewMs }),
      nowMs: service.nowMs,
      ownOffsetMs,
    });
    if (step.kind === 'stop') {
      const inference = inferLimit(observations, plan, ownOffsetMs);
      return { inference, requests: service.requests, tookMs: service.nowMs - startMs, observations };
    }
    if (step.kind === 'wait') service.nowMs = Math.max(service.nowMs, step.untilMs);
    else if (step.kind === 'probe' || step.kind === 'tell') observations.push(service.serial('probe'));
    else if (step.kind === 'parallel') observations.push(...service.parallel(step.count));
    else if (step.kind === 'anew') {
      service.nowMs = Math.max(service.nowMs, step.fromMs);
      anewMs = service.nowMs;
      observations.push(...service.parallel(step.count));
    } else if (step.kind === 'while-spent') {
      for (let variant = 0; variant < 8; variant += 1) observations.push(service.serial('before'));
      spentAsked = true;
    } else {
      for (let sent = 0; sent < step.upTo; sent += 1) {
        const seen = service.serial('serial');
        observations.push(seen);
        if (seen.fate === 'refused') break;
      }
    }
  }
  throw new Error('the planner never stops');
}

const ORDINARY: Setting = {
  plan: { requests: 100, windowMs: 60_000 },
  startMs: 1_700_000_012_345,
  latencyMs: 2,
  jitterMs: 1,
  seed: 1,
  before: 1,
  unsure: { requests: 0, apartMs: 0, count: false },
  tellsRetryAfter: true,
  tellsDate: true,
  aheadMs: 0,
};

/** The kind that each simulated limiter is. */
function kindOf(name: string): string {
  return name.split(' ')[0] ?? name;
}

const BURST_OF_ONE = new Set(['token-bucket without burst', 'queue']);
const LOG_OF_ALL = new Set(['sliding-log that counts refusals']);
/** They count what they refuse, or begin anew with it. */
const EXTENDED = new Set([
  'fixed-window extended by refusals',
  'fixed-window extended by every request',
  ...LOG_OF_ALL,
]);

const setting: fc.Arbitrary<Setting> = fc.record({
  plan: fc.record({
    requests: fc.integer({ min: 5, max: 150 }),
    windowMs: fc.integer({ min: 2, max: 120 }).map((s) => s * 1000),
  }),
  startMs: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_200_000 }),
  latencyMs: fc.double({ min: 0.2, max: 40, noNaN: true }),
  jitterMs: fc.double({ min: 0, max: 8, noNaN: true }),
  seed: fc.integer({ min: 1, max: 2 ** 31 }),
  before: fc.integer({ min: 1, max: 4 }),
  unsure: fc.record({
    requests: fc.integer({ min: 0, max: 4 }),
    apartMs: fc.integer({ min: 0, max: 40_000 }),
    count: fc.boolean(),
  }),
  tellsRetryAfter: fc.boolean(),
  tellsDate: fc.boolean(),
  aheadMs: fc.oneof(fc.constant(0), fc.integer({ min: -90_000, max: 90_000 })),
});

describe.each(Object.keys(SIMULATED))('a limiter of the kind %s', (name) => {
  it('is told under ordinary conditions', () => {
    const { inference } = measure(name, ORDINARY);
    // That refusals extend it is told even where two kinds with that trait are left.
    if (EXTENDED.has(name)) expect(inference.refusalsExtend).toBe(true);
    else expect(inference.algorithm, JSON.stringify(inference)).toBe(kindOf(name));
  });

  it('is told or left unknown, never taken for another, whatever the plan, phase and latency', () => {
    fc.assert(
      fc.property(setting, (given) => {
        const { inference, observations } = measure(name, given);
        const neverRefused = observations.every(({ fate }) => fate === 'admitted');
        expect(neverRefused ? [kindOf(name), 'none', 'unknown'] : [kindOf(name), 'unknown']).toContain(
          inference.algorithm,
        );
        const { firstRefused, refusalsExtend, compatible } = inference;
        // A limit of concurrency has no such index, and says so.
        if (compatible.includes('concurrency')) return;
        const exact = firstRefused !== null && firstRefused.least === firstRefused.most;
        if (exact) expect(firstRefused.least).toBe(BURST_OF_ONE.has(name) ? 2 : given.plan.requests + 1);
        // A few refusals in a log may change nothing.
        const isTold = refusalsExtend !== null && !(LOG_OF_ALL.has(name) && !refusalsExtend);
        if (isTold) expect(refusalsExtend).toBe(EXTENDED.has(name));
      }),
      { numRuns: 150 },
    );
  });
});

describe('requests that take nothing, for all that is known', () => {
  const phases = Array.from({ length: 20 }, (_, at) => ({ at: at * 3_000 }));

  it.each(phases)('hide no window that a later one opens, $at ms into a minute', ({ at }) => {
    const startMs = 1_700_000_040_000 + at;
    for (const apartMs of [500, 2_000, 5_000, 12_000, 25_000]) {
      const unsure = { requests: 4, apartMs, count: false };
      const { inference, tookMs } = measure('fixed-window', { ...ORDINARY, startMs, unsure });
      expect(['fixed-window', 'unknown']).toContain(inference.algorithm);
      expect(inference.firstRefused, JSON.stringify(inference)).toEqual({
        least: 101,
        most: 101,
        whole: { least: 101, most: 101 },
      });
      expect(tookMs).toBeLessThan(4 * apartMs + 1.1 * 60_000);
    }
  });
});

describe('what a measurement costs', () => {
  const windows = [20, 100, 1000].flatMap((requests) =>
    [3_000, 60_000].map((windowMs) => ({ requests, windowMs })),
  );

  it.each(windows)('of $requests requests in $windowMs ms: one window and twice the requests', (plan) => {
    for (const name of ['fixed-window', 'fixed-window-aligned']) {
      const quick = { ...ORDINARY, plan, latencyMs: 0.5, jitterMs: 0.2 };
      const { inference, requests, tookMs } = measure(name, quick);
      // A window of the clock may end within the burst, and leave some room.
      const { least = 0, most = 0 } = inference.firstRefused ?? {};
      expect([least, most], name).toEqual(
        name === 'fixed-window'
          ? [plan.requests + 1, plan.requests + 1]
          : [
              expect.toSatisfy((n) => n <= plan.requests + 1),
              expect.toSatisfy((n) => n >= plan.requests + 1),
            ],
      );
      // Where the window ends within the burst, the rest of the burst goes into the next one.
      const share = name === 'fixed-window' ? 2 : 3.7;
      expect(requests, name).toBeLessThanOrEqual(share * plan.requests + 26);
      expect(tookMs, name).toBeLessThanOrEqual(1.1 * plan.windowMs + 3_000);
    }
  });

  it('is known for every kind, as multiples of the plan', () => {
    const cost = Object.keys(SIMULATED).map((name) => {
      const { requests, tookMs } = measure(name, ORDINARY);
      return `${name}: ${(requests / 100).toFixed(1)} N, ${(tookMs / 60_000).toFixed(1)} W`;
    });
    expect(cost).toMatchInlineSnapshot(`
      [
        "fixed-window: 2.3 N, 1.0 W",
        "fixed-window extended by refusals: 2.3 N, 2.1 W",
        "fixed-window extended by every request: 2.3 N, 2.1 W",
        "fixed-window-aligned: 2.2 N, 1.0 W",
        "sliding-log: 2.6 N, 1.1 W",
        "sliding-log that counts refusals: 2.7 N, 1.1 W",
        "sliding-counter: 2.7 N, 1.1 W",
        "sliding-counter on the clock: 2.6 N, 1.1 W",
        "token-bucket: 2.3 N, 1.2 W",
        "token-bucket without burst: 1.7 N, 1.2 W",
        "penalty: 2.3 N, 1.1 W",
        "delay: 2.4 N, 2.5 W",
        "queue: 2.5 N, 1.3 W",
        "concurrency: 2.5 N, 0.1 W",
        "none: 2.4 N, 0.1 W",
      ]
    `);
  });
});
