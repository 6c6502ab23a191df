import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WORDS } from '../../../harness/engine/check/fixtures/words.ts';
import { check, practice, suite } from '../../../harness/engine/check/suite.ts';
import { limits } from '../../limits/limits.suite.ts';
import { type SimulatedLimiter, slidingCounter } from '../../limits/stimuli/fixtures/simulated-limiter.ts';
import { versioning } from '../../versioning/versioning.suite.ts';
import { judgedServed } from '../fixtures/judged.ts';
import { limited, limitedConfig, simulated } from '../fixtures/limited-service.ts';
import { weather } from '../fixtures/weather.ts';

/**
 * What is right is found right whatever the moment: each limiter that keeps to its plan is measured on eight days that
 * differ in the phase of the clock, in latency and in what was asked before. `CONFORM_SEED` tries other days.
 */
const DAYS = 8;
const FIRST_DAY = 1 + DAYS * (Number(process.env.CONFORM_SEED ?? 1) - 1);
const PLAN = { requests: 12, windowMs: 60_000 };

type Make = (phaseMs: number) => SimulatedLimiter;

const called =
  (name: string): Make =>
  () =>
    simulated(name, PLAN);

interface Lawful {
  readonly make: Make;
  /** One quota for whoever comes from this machine. */
  readonly byAddress?: boolean;
  /** True of it, and found each day. */
  readonly findings?: readonly string[];
}

const LAWFUL: Readonly<Record<string, Lawful>> = {
  'fixed window': { make: called('fixed-window') },
  'fixed window of the clock': { make: called('fixed-window-aligned') },
  'sliding log': { make: called('sliding-log') },
  'sliding counter since the first request': { make: called('sliding-counter') },
  'sliding counter of the clock': { make: called('sliding-counter on the clock') },
  'sliding counter of a clock of its own': { make: (phaseMs) => slidingCounter(PLAN, () => phaseMs) },
  'token bucket, or leaky bucket as a meter': { make: called('token-bucket') },
  'penalty block': { make: called('penalty') },
  'fixed window for each address': {
    make: called('fixed-window'),
    byAddress: true,
    findings: ['limits.per-key warning'],
  },
};

const config = await limitedConfig(PLAN);

/** What is found on one day, `limits.exact pass` each. */
async function found({ make, byAddress = false }: Lawful, day: number): Promise<readonly string[]> {
  const { random, clock, pass } = weather(day * 7_919, Date.UTC(2026, 0, 1) + day * 7_654_321);
  const latencyMs = 1 + random() * 40;
  const phaseMs = random() * PLAN.windowMs;
  const now = () => clock.wallNow().getTime();
  const { serve, limiter } = limited({
    make: () => make(phaseMs),
    now,
    byAddress,
    refuse({ response, limiter: refusing, atMs, answer }) {
      response.setHeader('Retry-After', Math.ceil(refusing.retryAfterMs(atMs) / 1000));
      answer(429, { error: 'too many requests' });
    },
  });
  // Each request takes its time, there and back.
  const onTheWay: RequestListener = (request, response) => {
    pass(latencyMs * (0.2 + random()));
    serve(request, response);
    pass(latencyMs * (0.2 + random()));
  };
  // Somebody with the same key was here before, up to two windows ago.
  for (let left = Math.floor(random() * PLAN.requests); left > 0; left -= 1) {
    limiter.decide(now(), 0);
    pass(random() * 0.2 * PLAN.windowMs);
  }
  const pause = check('pause.some', {
    ...WORDS,
    grounds: [practice('patience')],
    judge: () => pass(random() * 1.5 * PLAN.windowMs),
  });
  const suites = [versioning, suite('pause', 'A pause', [pause]), limits];
  const { outcomes } = await judgedServed(onTheWay, config, suites, { clock, random });
  return Object.entries(outcomes).flatMap(([id, outcome]) =>
    id.startsWith('limits.') ? [`${id} ${outcome}`] : [],
  );
}

/** What is not found on every day, with the days on which it is; and all that is amiss. */
async function overDays(lawful: Lawful) {
  const days = new Map<string, readonly number[]>();
  for (let day = FIRST_DAY; day < FIRST_DAY + DAYS; day += 1) {
    for (const line of await found(lawful, day)) days.set(line, [...(days.get(line) ?? []), day]);
  }
  const differing = [...days].filter(([, those]) => those.length < DAYS);
  return {
    differing: differing.map(([line, those]) => `${line} on ${those.join(', ')}`),
    findings: [...days.keys()].filter((line) => / (?:fail|warning|error|blocked)$/.test(line)),
  };
}

describe('a limiter that keeps to its plan', () => {
  it.each(Object.entries(LAWFUL))('%s: is found so on every day', async (_, lawful) => {
    const { differing, findings } = await overDays(lawful);
    expect(differing).toEqual([]);
    expect(findings).toEqual(lawful.findings ?? []);
  });
});
