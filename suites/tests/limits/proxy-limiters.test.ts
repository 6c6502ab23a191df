import { describe, it } from 'vitest';
import { mayUse } from '../../../harness/engine/fixtures/system-tools.ts';
import { systemClock } from '../../../harness/wire/pace/clock.ts';
import { limits } from '../../limits/limits.suite.ts';
import type { StartLimited } from '../../limits/stimuli/fixtures/limited-server.ts';
import { HAPROXY, NGINX } from '../../limits/stimuli/fixtures/proxies.ts';
import { PROXY_LIMITERS } from '../../limits/stimuli/fixtures/proxy-limiters.ts';
import { amiss, configForLimiter, type Judged, judged } from '../fixtures/judged.ts';

/**
 * Limiters of proxies that people use, each as its documentation sets it up: 20 requests in 3 s, of a clock that is
 * their own. Every finding is listed, and true of it; what is not listed is silence, and must stay so.
 */
const PLAN = { requests: 20, windowMs: 3_000 };

interface Truth {
  /** `unknown` is seen instead where a busy machine hides it. */
  readonly algorithm: string;
  /** Several where the answer depends on how fast this machine is. */
  readonly firstRefused: readonly (number | null)[];
  readonly keyedBy: string | null;
  readonly findings: readonly string[];
  /** True as well, but seen only when the moment is favourable. */
  readonly sometimes?: string;
}

const NO_RETRY_AFTER = ['limits.refusal-json fail', 'limits.retry-after warning'];

/** Without burst the second request in a row is refused, whatever the rate. */
const withoutBurst = (...more: readonly string[]): Truth => ({
  algorithm: 'token-bucket',
  // A busy machine leaves room for one more between two requests.
  firstRefused: [2, 3],
  keyedBy: 'credential',
  findings: ['limits.exact fail', ...more, ...NO_RETRY_AFTER],
});

const BY_RAW_HEADER: Truth = {
  algorithm: 'token-bucket',
  firstRefused: [21],
  keyedBy: 'raw-header',
  findings: [...NO_RETRY_AFTER, 'limits.spelling-shares warning'],
};

const QUEUE: Truth = { algorithm: 'queue', firstRefused: [null], keyedBy: null, findings: NO_RETRY_AFTER };

const TRUTHS: Readonly<Record<string, Truth>> = {
  'nginx limit_req': withoutBurst(),
  'nginx limit_req, 503': withoutBurst('limits.refusal-status warning'),
  'nginx limit_req, burst nodelay': BY_RAW_HEADER,
  'nginx limit_req, burst': QUEUE,
  'nginx limit_req, delay': QUEUE,
  // It counts what it refuses.
  'HAProxy stick table': {
    ...BY_RAW_HEADER,
    algorithm: 'sliding-counter',
    sometimes: 'limits.refusals-free warning',
  },
};

const LIMITERS: Readonly<Record<string, StartLimited>> = {
  ...(mayUse(NGINX) ? PROXY_LIMITERS.nginx : {}),
  ...(mayUse(HAPROXY) ? PROXY_LIMITERS.haproxy : {}),
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
    const always = findings.filter((each) => each !== truth.sometimes);
    const { observations: seen } = found;
    expect(always, JSON.stringify(found.messages)).toEqual(truth.findings);
    expect([truth.algorithm, 'unknown']).toContain(seen['limits.algorithm']);
    expect(truth.firstRefused).toContain(seen['limits.first-refused'] ?? null);
    expect(seen['limits.dialect'] ?? 'none').toBe('none');
    expect(seen['limits.keyed-by'] ?? null).toBe(truth.keyedBy);
  });
});
