import { describe, expect, it } from 'vitest';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { epochClock } from '../../../harness/reference/behavior/clock.ts';
import { limits } from '../../limits/limits.suite.ts';
import { PATH } from '../../limits/stimuli/fixtures/limited-server.ts';
import { judgedServed, saidOf } from '../fixtures/judged.ts';
import { type Asked, limited, limitedConfig, simulated } from '../fixtures/limited-service.ts';

/** A service that fails now and then while its limit is met: a fault of the moment is no refusal of the limiter. */

const PLAN = { requests: 100, windowMs: 60_000 };
const SELDOM = 30;

interface Failing {
  readonly limiter: string;
  /** How it refuses. */
  readonly refusal: number;
  /** How it fails once in so many requests; null for never. */
  readonly failure: number | null;
  /** Whether a request that fails has been counted. */
  readonly countsFailures: boolean;
  readonly tellsQuota: boolean;
}

const USUAL: Failing = {
  limiter: 'fixed-window',
  refusal: 429,
  failure: 500,
  countsFailures: true,
  tellsQuota: false,
};

async function found(more: Partial<Failing>) {
  const { limiter: name, refusal, failure, countsFailures, tellsQuota } = { ...USUAL, ...more };
  const clock = simulatedClock();
  let quota = { left: 0, untilMs: 0 };
  let asked = 0;
  let fails = false;
  const failing = ({ answer }: Asked) => {
    if (fails && failure !== null) answer(failure, { error: 'failed' });
    return fails;
  };
  const { serve } = limited({
    make: () => simulated(name, PLAN),
    now: epochClock(clock).now,
    before(each) {
      const { request, response, atMs } = each;
      const isPlain = request.method === 'GET' && request.url?.split('?', 1)[0] === PATH;
      if (isPlain) asked += 1;
      fails = failure !== null && isPlain && asked % SELDOM === 0;
      if (!countsFailures && failing(each)) return true;
      if (!tellsQuota) return false;
      if (atMs >= quota.untilMs) quota = { left: PLAN.requests, untilMs: atMs + PLAN.windowMs };
      quota.left = Math.max(0, quota.left - 1);
      response.setHeader('X-RateLimit-Limit', PLAN.requests);
      response.setHeader('X-RateLimit-Remaining', quota.left);
      return false;
    },
    admitted: failing,
    refuse: ({ answer }) => answer(refusal, { error: 'slow down' }),
  });
  const all = await judgedServed(serve, await limitedConfig(PLAN), [limits], { clock });
  clock.stop();
  const lines = Object.keys(all.outcomes).map((id) => `${id} ${saidOf(all, id)}`);
  return {
    exact: saidOf(all, 'limits.exact'),
    failures: saidOf(all, 'limits.failures'),
    ofLimits: lines.filter((line) => /^limits\.(?!failures)\S+ (?:fail|warning|error)/.test(line)),
    refusal: all.observations['limits.refusal'],
  };
}

/** What limits.* raise of such limiters that never fail, each measured once. */
const unfailingLines = new Map<string, Promise<readonly string[]>>();
function unfailing({ countsFailures: _, ...more }: Partial<Failing>): Promise<readonly string[]> {
  const sound = { ...more, failure: null };
  const key = JSON.stringify(sound);
  const lines = unfailingLines.get(key) ?? found(sound).then(({ ofLimits }) => ofLimits);
  unfailingLines.set(key, lines);
  return lines;
}

/** Of a fault that came outside of bursts as well, another check tells. */
const TOLD =
  /^(?:warning: expected no failure, got status 50\d for \d+ of \d+ |blocked: status\.stable fails)/;

describe('a service that fails now and then', () => {
  it.each<[string, Partial<Failing>]>([
    ['with 500, and counts it', {}],
    ['with 500, and does not', { countsFailures: false }],
    ['with 503, and tells what remains', { failure: 503, tellsQuota: true }],
    ['with 502, under a bucket', { failure: 502, limiter: 'token-bucket' }],
  ])('%s: is told as that, and its limit is none the worse', async (_, more) => {
    const { exact, failures, ofLimits, refusal } = await found(more);
    expect(exact).toMatch(/^(?:pass: |blocked: the service failed \d+ times while it was counted)/);
    expect(failures).toMatch(TOLD);
    expect(ofLimits).toEqual(await unfailing(more));
    expect(refusal).toMatchObject({ status: 429 });
  });
});

describe('a limiter that refuses with 503 and says no more', () => {
  it.each([null, 500])('is known by that, also where the service fails with %s', async (failure) => {
    const { ofLimits, refusal } = await found({ refusal: 503, failure });
    expect(refusal).toMatchObject({ status: 503 });
    if (failure !== null) expect(ofLimits).toEqual(await unfailing({ refusal: 503 }));
    expect(ofLimits).toContainEqual(expect.stringMatching(/^limits\.refusal-status /));
  });
});
