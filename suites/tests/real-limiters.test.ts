import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';
import { judge } from '../../harness/check/judge.ts';
import { loadServices } from '../../harness/config/load.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { bearer } from '../../harness/credential/schemes/bearer.ts';
import { Secret } from '../../harness/credential/secret.ts';
import { KEYS, type StartLimited } from '../../harness/probe/quota/fixtures/limited-server.ts';
import { withNest } from '../../harness/probe/quota/fixtures/nest-limiter.ts';
import { NODE_LIMITERS } from '../../harness/probe/quota/fixtures/node-limiters.ts';
import { HAPROXY, NGINX, PROXY_LIMITERS } from '../../harness/probe/quota/fixtures/proxy-limiters.ts';
import { mayUse } from '../../harness/run/fixtures/system-tools.ts';
import { openSession } from '../../harness/session/session.ts';
import { systemClock } from '../../harness/transport/pace/clock.ts';
import { limits } from '../limits/limits.suite.ts';

/**
 * Limiters that people use, each as its documentation sets it up: 20 requests in 3 s. Every finding is listed, and
 * true of it; what is not listed is silence, and must stay so.
 */
const PLAN = { name: 'test', requests: 20, windowMs: 3_000 };
const CONFIG = fileURLToPath(new URL('../../config', import.meta.url));

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
const RAW_HEADER = 'limits.spelling-shares warning';

const express = (dialect: string): Truth => ({
  algorithm: 'fixed-window',
  firstRefused: 21,
  dialect,
  keyedBy: 'credential',
  findings: [HTML_OR_TEXT],
});

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
  // Without burst the second request in a row is refused, whatever the rate.
  'nginx limit_req': {
    algorithm: 'token-bucket',
    // A busy machine leaves room for one more between two requests.
    firstRefused: [2, 3],
    dialect: 'none',
    keyedBy: 'credential',
    findings: ['limits.exact fail', HTML_OR_TEXT, NO_RETRY_AFTER],
  },
  'nginx limit_req, 503': {
    algorithm: 'token-bucket',
    // A busy machine leaves room for one more between two requests.
    firstRefused: [2, 3],
    dialect: 'none',
    keyedBy: 'credential',
    findings: ['limits.exact fail', 'limits.refusal-status warning', HTML_OR_TEXT, NO_RETRY_AFTER],
  },
  'nginx limit_req, burst nodelay': {
    algorithm: 'token-bucket',
    firstRefused: 21,
    dialect: 'none',
    keyedBy: 'raw-header',
    findings: [HTML_OR_TEXT, NO_RETRY_AFTER, RAW_HEADER],
  },
  'nginx limit_req, burst': {
    algorithm: 'queue',
    firstRefused: null,
    dialect: 'none',
    keyedBy: null,
    findings: [HTML_OR_TEXT, NO_RETRY_AFTER],
  },
  'nginx limit_req, delay': {
    algorithm: 'queue',
    firstRefused: null,
    dialect: 'none',
    keyedBy: null,
    findings: [HTML_OR_TEXT, NO_RETRY_AFTER],
  },
  'HAProxy stick table': {
    algorithm: 'sliding-counter',
    firstRefused: 21,
    dialect: 'none',
    keyedBy: 'raw-header',
    findings: [HTML_OR_TEXT, NO_RETRY_AFTER, RAW_HEADER],
    // It counts what it refuses.
    sometimes: ['limits.refusals-free warning'],
  },
};

const LIMITERS: Readonly<Record<string, StartLimited>> = {
  ...NODE_LIMITERS,
  '@nestjs/throttler': withNest,
  ...(mayUse(NGINX) ? PROXY_LIMITERS.nginx : {}),
  ...(mayUse(HAPROXY) ? PROXY_LIMITERS.haproxy : {}),
};

const { services } = await loadServices({ configDir: CONFIG, env: {} });
const shipped = services.find(({ config }) => config.service === 'search')?.config;

function configFor(url: string): ServiceConfig {
  if (shipped === undefined) throw new Error('the search service is not configured');
  const [key, second] = KEYS;
  return {
    ...shipped,
    provider: { kind: 'url', url },
    plan: PLAN,
    facts: {
      ...shipped.facts,
      'limits.rate': { value: { requests: 20, window: '3s' }, origin: 'this test' },
    },
    credentials: bearer.of({
      key: new Secret('FIRST_KEY', key),
      secondKey: new Secret('SECOND_KEY', second),
    }),
    safety: { ...shipped.safety, exceedRateLimit: true, maxRequests: 500 },
  };
}

async function measured(
  start: StartLimited,
): Promise<{ readonly observed: Readonly<Record<string, unknown>>; readonly findings: readonly string[] }> {
  const server = await start(PLAN);
  const observed: Record<string, unknown> = {};
  const session = openSession({
    config: configFor(server.url),
    providerUrl: server.url,
    runId: 'test',
    userAgent: 'conform/test',
    clock: systemClock,
    record: (event) => {
      if (event.type === 'observation') observed[event.key] = event.value;
    },
  });
  // A window of the clock shall not end where one that the first request opens does.
  const phase = Date.now() % PLAN.windowMs;
  await systemClock.sleep((PLAN.windowMs * 1.4 - phase) % PLAN.windowMs);
  const findings: string[] = [];
  try {
    for (const check of limits.checks) {
      const { outcome } = await judge(check, session, { strict: false, signal: AbortSignal.timeout(60_000) });
      if (outcome === 'fail' || outcome === 'warning' || outcome === 'error')
        findings.push(`${check.id} ${outcome}`);
    }
  } finally {
    await session.close();
    await server.stop();
  }
  return { observed, findings };
}

// Beside each other: what takes its time here is the windows, which no clock but the limiters' own can shorten.
describe.concurrent('a limiter is judged as what it is', () => {
  it.for(Object.entries(LIMITERS))('%s', async ([name, start], { expect }) => {
    const truth = TRUTHS[name];
    if (truth === undefined) throw new Error(`nothing is known of ${name}`);
    const { findings, observed: seen } = await measured(start);
    expect(findings.filter((each) => !truth.sometimes?.includes(each))).toEqual(truth.findings);
    expect([truth.algorithm, 'unknown']).toContain(seen['limits.algorithm']);
    expect([truth.firstRefused].flat()).toContain(seen['limits.first-refused'] ?? null);
    expect(seen['limits.dialect'] ?? 'none').toBe(truth.dialect);
    expect(seen['limits.keyed-by'] ?? null).toBe(truth.keyedBy);
  });
});
