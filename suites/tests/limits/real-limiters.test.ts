import { describe, it } from 'vitest';
import { mayUse } from '../../../harness/engine/fixtures/system-tools.ts';
import { systemClock } from '../../../harness/wire/pace/clock.ts';
import { limits } from '../../limits/limits.suite.ts';
import type { StartLimited } from '../../limits/stimuli/fixtures/limited-server.ts';
import { NODE_LIMITERS } from '../../limits/stimuli/fixtures/node-limiters.ts';
import { HAPROXY, NGINX } from '../../limits/stimuli/fixtures/proxies.ts';
import { PROXY_LIMITERS } from '../../limits/stimuli/fixtures/proxy-limiters.ts';
import { amiss, configForLimiter, type Judged, judged } from '../fixtures/judged.ts';

/**
 * Limiters that people use, each as its documentation sets it up: 20 requests in 3 s. Every finding is listed, and
 * true of it; what is not listed is silence, and must stay so.
 */
const PLAN = { requests: 20, windowMs: 3_000 };

interface Truth {
  /** `unknown` is seen instead where a busy machine hides it. */
  readonly algorithm: string;
  /** Several where the answer depends on how fast this machine is. */
  readonly firstRefused: number | null | readonly number[];
  readonly dialect: string;
  readonly keyedBy: string | null;
  readonly findings: readonly string[];
  /** True as well, but seen only when the moment is favourable. */
  readonly sometimes?: readonly string[];
}

const HTML_OR_TEXT = 'limits.refusal-json fail';
const NO_RETRY_AFTER = 'limits.retry-after warning';

const express = (dialect: string): Truth => ({
  algorithm: 'fixed-window',
  firstRefused: 21,
  dialect,
  keyedBy: 'credential',
  findings: [HTML_OR_TEXT],
});

/** Without burst the second request in a row is refused, whatever the rate. */
const withoutBurst = (...more: readonly string[]): Truth => ({
  algorithm: 'token-bucket',
  // A busy machine leaves room for one more between two requests.
  firstRefused: [2, 3],
  dialect: 'none',
  keyedBy: 'credential',
  findings: ['limits.exact fail', ...more, HTML_OR_TEXT, NO_RETRY_AFTER],
});

const BY_RAW_HEADER: Truth = {
  algorithm: 'token-bucket',
  firstRefused: 21,
  dialect: 'none',
  keyedBy: 'raw-header',
  findings: [HTML_OR_TEXT, NO_RETRY_AFTER, 'limits.spelling-shares warning'],
};

const QUEUE: Truth = {
  algorithm: 'queue',
  firstRefused: null,
  dialect: 'none',
  keyedBy: null,
  findings: [HTML_OR_TEXT, NO_RETRY_AFTER],
};

const TRUTHS: Readonly<Record<string, Truth>> = {
  'express-rate-limit, legacy fields': express('x-ratelimit-epoch'),
  'express-rate-limit, draft 6': express('ratelimit-draft-06'),
  'express-rate-limit, draft 7': express('ratelimit-draft-07'),
  'express-rate-limit, draft 8': express('ratelimit-draft-08'),
  '@fastify/rate-limit': { ...express('x-ratelimit-delta'), findings: [] },
  'hono-rate-limiter': express('ratelimit-draft-06'),
  // It rounds Retry-After down, which shows unless there is hardly anything to round.
  'koa-ratelimit': { ...express('x-ratelimit-epoch'), sometimes: ['limits.retry-after-honest warning'] },
  // The formula of its README: milliseconds over a thousand, fraction and all.
  'rate-limiter-flexible': { ...express('none'), findings: ['limits.retry-after-valid fail'] },
  // Blocks for one window from the refusal on, and leaves the quota fields out there.
  '@nestjs/throttler': {
    ...express('x-ratelimit-delta'),
    algorithm: 'penalty',
    findings: ['limits.quota-fields-on-refusal warning'],
  },
  'nginx limit_req': withoutBurst(),
  'nginx limit_req, 503': withoutBurst('limits.refusal-status warning'),
  'nginx limit_req, burst nodelay': BY_RAW_HEADER,
  'nginx limit_req, burst': QUEUE,
  'nginx limit_req, delay': QUEUE,
  'HAProxy stick table': {
    ...BY_RAW_HEADER,
    algorithm: 'sliding-counter',
    // It counts what it refuses.
    sometimes: ['limits.refusals-free warning'],
  },
};

/** What takes longest comes first. */
const LIMITERS: Readonly<Record<string, StartLimited>> = {
  ...(mayUse(NGINX) ? PROXY_LIMITERS.nginx : {}),
  ...(mayUse(HAPROXY) ? PROXY_LIMITERS.haproxy : {}),
  ...NODE_LIMITERS,
};

async function measured(start: StartLimited): Promise<Judged> {
  const { facts, ...config } = await configForLimiter(PLAN);
  const rate = { value: { requests: 20, window: '3s' }, origin: 'this test' };
  const server = await start(PLAN);
  // A window of the clock shall not end where one that the first request opens does.
  const phase = Date.now() % PLAN.windowMs;
  await systemClock.sleep((PLAN.windowMs * 1.4 - phase) % PLAN.windowMs);
  return judged({ ...config, facts: { ...facts, 'limits.rate': rate } }, [limits], {
    url: server.url,
  }).finally(server.stop);
}

// Beside each other: what takes its time here is the windows, which no clock but the limiters' own can shorten.
describe.concurrent('a limiter is judged as what it is', () => {
  it.for(Object.entries(LIMITERS))('%s', async ([name, start], { expect }) => {
    const truth = TRUTHS[name];
    if (truth === undefined) throw new Error(`nothing is known of ${name}`);
    const found = await measured(start);
    const findings = amiss(found).map((id) => `${id} ${found.outcomes[id]}`);
    const { observations: seen } = found;
    const always = findings.filter((each) => !truth.sometimes?.includes(each));
    expect(always, JSON.stringify(found.messages)).toEqual(truth.findings);
    expect([truth.algorithm, 'unknown']).toContain(seen['limits.algorithm']);
    expect([truth.firstRefused].flat()).toContain(seen['limits.first-refused'] ?? null);
    expect(seen['limits.dialect'] ?? 'none').toBe(truth.dialect);
    expect(seen['limits.keyed-by'] ?? null).toBe(truth.keyedBy);
  });
});
