import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { epochClock } from '../../../harness/reference/behavior/clock.ts';
import { limits } from '../../limits/limits.suite.ts';
import { NODE_LIMITERS } from '../../limits/stimuli/fixtures/node-limiters.ts';
import { amiss, configForLimiter, judged } from '../fixtures/judged.ts';

/**
 * Limiters of Node that people use, each as its documentation sets it up, in simulated time, which they read off
 * `Date` or `process.hrtime`. Every finding is listed, and true of it; what is not listed is silence, and must stay so.
 */
const PLAN = { requests: 20, windowMs: 60_000 };

interface Truth {
  readonly algorithm: string;
  readonly dialect: string;
  readonly findings: readonly string[];
}

const truth = (dialect: string, findings: readonly string[] = [], algorithm = 'fixed-window'): Truth => ({
  algorithm,
  dialect,
  findings,
});
/** Their refusals are text. */
const TEXT = ['limits.refusal-json fail'];

const TRUTHS: Readonly<Record<string, Truth>> = {
  'express-rate-limit, legacy fields': truth('x-ratelimit-epoch', TEXT),
  'express-rate-limit, draft 6': truth('ratelimit-draft-06', TEXT),
  'express-rate-limit, draft 7': truth('ratelimit-draft-07', TEXT),
  'express-rate-limit, draft 8': truth('ratelimit-draft-08', TEXT),
  '@fastify/rate-limit': truth('x-ratelimit-delta'),
  'hono-rate-limiter': truth('ratelimit-draft-06', TEXT),
  // It rounds Retry-After down.
  'koa-ratelimit': truth('x-ratelimit-epoch', ['limits.retry-after-honest warning', ...TEXT]),
  // The formula of its README: milliseconds over a thousand, fraction and all.
  'rate-limiter-flexible': truth('none', ['limits.retry-after-valid fail']),
  // Blocks for one window from the refusal on, and leaves the quota fields out there.
  '@nestjs/throttler': truth('x-ratelimit-delta', [], 'penalty'),
};

const hrtime = process.hrtime;

/** From now on `Date` shows that time, in this process and in its responses, and `process.hrtime` goes on with it. */
function setTime(now: () => number): void {
  const began = { date: Date.now(), hr: hrtime.bigint() };
  class SetDate extends Date {
    static override now = now;
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [now()] : given) as [number]));
    }
  }
  vi.stubGlobal('Date', SetDate);
  const since = ([seconds, nanoseconds]: readonly [number, number] = [0, 0]): [number, number] => {
    const hr = began.hr + BigInt(Math.round((now() - began.date) * 1e6));
    const passed = hr - BigInt(seconds) * BILLION - BigInt(nanoseconds);
    return [Number(passed / BILLION), Number(passed % BILLION)];
  };
  process.hrtime = Object.assign(since, { bigint: hrtime.bigint });
  subscribe(RESPONSE_BEGINS, date);
}

const BILLION = 1_000_000_000n;
const RESPONSE_BEGINS = 'http.server.request.start';

/** The HTTP server of Node takes another clock for it. */
function date(message: unknown): void {
  const { response } = message as { readonly response: ServerResponse };
  response.setHeader('Date', new Date().toUTCString());
}

afterEach(() => {
  vi.unstubAllGlobals();
  process.hrtime = hrtime;
  unsubscribe(RESPONSE_BEGINS, date);
});

describe('a limiter is judged as what it is', () => {
  it.each(Object.entries(NODE_LIMITERS))('%s', async (name, start) => {
    const clock = simulatedClock();
    setTime(epochClock(clock).now);
    const server = await start(PLAN);
    const { facts, ...config } = await configForLimiter(PLAN);
    const rate = { value: { requests: 20, window: '1m' }, origin: 'this test' };
    const found = await judged({ ...config, facts: { ...facts, 'limits.rate': rate } }, [limits], {
      url: server.url,
      clock,
      random: () => 0.5,
    }).finally(async () => {
      await server.stop();
      clock.stop();
    });
    const { observations, outcomes, messages } = found;
    expect(
      {
        algorithm: observations['limits.algorithm'],
        dialect: observations['limits.dialect'] ?? 'none',
        findings: amiss(found).map((id) => `${id} ${outcomes[id]}`),
      },
      JSON.stringify(messages),
    ).toEqual(TRUTHS[name]);
    expect(observations).toMatchObject({ 'limits.first-refused': 21, 'limits.keyed-by': 'credential' });
  });
});
