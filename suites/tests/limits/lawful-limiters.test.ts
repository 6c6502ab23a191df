import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serving } from '../../../harness/base/fixtures/server.ts';
import { WORDS } from '../../../harness/check/fixtures/words.ts';
import { check, practice, suite } from '../../../harness/check/suite.ts';
import {
  KEYS,
  keyOf,
  PATH,
  RESOURCES,
  UNAUTHENTICATED,
} from '../../../harness/probe/quota/fixtures/limited-server.ts';
import {
  SIMULATED,
  type SimulatedLimiter,
  slidingCounter,
} from '../../../harness/probe/quota/fixtures/simulated-limiter.ts';
import { limits } from '../../limits/limits.suite.ts';
import { versioning } from '../../versioning.suite.ts';
import { configForLimiter, judged } from '../fixtures/judged.ts';
import { DEADLINE_MS, type Weather, weather } from '../fixtures/weather.ts';

/**
 * What is right is found right whatever the moment: each limiter that keeps to its plan is measured on twenty days that
 * differ in the phase of the clock, in latency and in what was asked before. `CONFORM_SEED` tries other days.
 */
const DAYS = 20;
const FIRST_DAY = 1 + DAYS * (Number(process.env.CONFORM_SEED ?? 1) - 1);
const PLAN = { requests: 12, windowMs: 60_000 };

type Make = (phaseMs: number) => SimulatedLimiter;

const simulated = (name: string): Make => {
  const make = SIMULATED[name];
  if (make === undefined) throw new Error(`no limiter is called ${name}`);
  return () => make(PLAN);
};

interface Lawful {
  readonly make: Make;
  /** One quota for whoever comes from this machine. */
  readonly byAddress?: true;
  /** True of it, and found each day. */
  readonly findings?: readonly string[];
}

const LAWFUL: Readonly<Record<string, Lawful>> = {
  'fixed window': { make: simulated('fixed-window') },
  'fixed window of the clock': { make: simulated('fixed-window-aligned') },
  'sliding log': { make: simulated('sliding-log') },
  'sliding counter since the first request': { make: simulated('sliding-counter') },
  'sliding counter of the clock': { make: simulated('sliding-counter on the clock') },
  'sliding counter of a clock of its own': { make: (phaseMs) => slidingCounter(PLAN, () => phaseMs) },
  'token bucket, or leaky bucket as a meter': { make: simulated('token-bucket') },
  'penalty block': { make: simulated('penalty') },
  'fixed window for each address': {
    make: simulated('fixed-window'),
    byAddress: true,
    findings: ['limits.per-key warning'],
  },
};

const config = {
  ...(await configForLimiter(PLAN)),
  timeouts: { connectMs: DEADLINE_MS, responseMs: DEADLINE_MS },
};

/** Serves behind limiters; each request takes its time, there and back. */
function limited({ make, byAddress }: Lawful, { clock, random, pass }: Weather, latencyMs: number) {
  const phaseMs = random() * PLAN.windowMs;
  const limiters = new Map<string, SimulatedLimiter>();
  const limiterOf = (key: string): SimulatedLimiter => {
    const name = byAddress ? 'address' : key;
    const limiter = limiters.get(name) ?? make(phaseMs);
    limiters.set(name, limiter);
    return limiter;
  };
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const nowMs = clock.wallNow().getTime();
    const send = (status: number, body: unknown, fields: Record<string, string> = {}) => {
      const text = JSON.stringify(body);
      const own = { 'Content-Type': 'application/json', Date: new Date(nowMs).toUTCString() };
      response.writeHead(status, { ...own, ...fields, 'Content-Length': Buffer.byteLength(text) }).end(text);
    };
    const key = keyOf(request.headers.authorization);
    if (key === null) return send(401, UNAUTHENTICATED, { 'WWW-Authenticate': 'Bearer realm="test"' });
    const limiter = limiterOf(key);
    if (limiter.decide(nowMs, 0) === null) {
      const seconds = Math.ceil(limiter.retryAfterMs(nowMs) / 1000);
      return send(429, { error: 'too many requests' }, { 'Retry-After': String(seconds) });
    }
    return request.url?.split('?', 1)[0] === PATH
      ? send(200, RESOURCES)
      : send(404, { error: 'nothing here' });
  };
  const server = createServer((request, response) => {
    pass(latencyMs * (0.2 + random()));
    answer(request, response);
    pass(latencyMs * (0.2 + random()));
  });
  return { server, askedBefore: () => limiterOf(KEYS[0]).decide(clock.wallNow().getTime(), 0) };
}

/** What is found on one day. */
async function found(lawful: Lawful, day: number): Promise<Readonly<Record<string, string>>> {
  const today = weather(day * 7_919, Date.UTC(2026, 0, 1) + day * 7_654_321);
  const { random, clock, pass } = today;
  const { server, askedBefore } = limited(lawful, today, 1 + random() * 40);
  const { url, stop } = await serving(server);
  // Somebody with the same key was here before, up to two windows ago.
  for (let left = Math.floor(random() * PLAN.requests); left > 0; left -= 1) {
    askedBefore();
    pass(random() * 0.2 * PLAN.windowMs);
  }
  const pause = check('pause.some', {
    ...WORDS,
    grounds: [practice('patience')],
    judge: () => pass(random() * 1.5 * PLAN.windowMs),
  });
  const suites = [versioning, suite('pause', 'A pause', [pause]), limits];
  const { outcomes } = await judged(config, suites, { url, clock, random }).finally(stop);
  return Object.fromEntries(Object.entries(outcomes).filter(([id]) => id.startsWith('limits.')));
}

/** Each outcome of a check that differs from day to day, with the days; and each finding. */
async function overDays(lawful: Lawful) {
  const seen = new Map<string, Map<string, number[]>>();
  for (let day = FIRST_DAY; day < FIRST_DAY + DAYS; day += 1) {
    for (const [id, outcome] of Object.entries(await found(lawful, day))) {
      const days = seen.get(id) ?? new Map<string, number[]>();
      days.set(outcome, [...(days.get(outcome) ?? []), day]);
      seen.set(id, days);
    }
  }
  const differing = [...seen].filter(([, days]) => days.size > 1);
  return {
    differing: differing.map(([id, days]) => `${id}: ${JSON.stringify(Object.fromEntries(days))}`),
    findings: [...seen].flatMap(([id, days]) =>
      [...days.keys()].filter(isFinding).map((each) => `${id} ${each}`),
    ),
  };
}

function isFinding(outcome: string): boolean {
  return ['fail', 'warning', 'error', 'blocked'].includes(outcome);
}

describe('a limiter that keeps to its plan', () => {
  it.each(Object.entries(LAWFUL))('%s: is found so on every day', async (_, lawful) => {
    const { differing, findings } = await overDays(lawful);
    expect(differing).toEqual([]);
    expect(findings).toEqual(lawful.findings ?? []);
  });
});
