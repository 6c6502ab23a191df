import { describe, it } from 'vitest';
import { mayUse } from '../../../harness/engine/fixtures/system-tools.ts';
import { limits } from '../../limits/limits.suite.ts';
import { PATH } from '../../limits/stimuli/fixtures/limited-server.ts';
import { HAPROXY, NGINX } from '../../limits/stimuli/fixtures/proxies.ts';
import { PROXY_LIMITERS, type StartProxy } from '../../limits/stimuli/fixtures/proxy-limiters.ts';
import { FAKETIME, proxyTime } from '../../limits/stimuli/fixtures/proxy-time.ts';
import { amiss, configForLimiter, type Judged, judged } from '../fixtures/judged.ts';

/**
 * Limiters of proxies that people use, each as its documentation sets it up, in a time that the test drives. Every
 * finding is listed, and true of it; what is not listed is silence, and must stay so.
 */
const PLAN = { requests: 20, windowMs: 3_000 };
/** No window of the clock ends where one that the first request opens does. */
const BEGIN_AT = new Date('2026-01-01T12:00:01.200Z');
/** A small part of the time in which a limiter allows one more request. */
const STEP_MS = 5;

interface Truth {
  readonly algorithm: string;
  /** Null if none of the requests one by one is refused. */
  readonly firstRefused: number | null;
  readonly keyedBy: string | null;
  readonly findings: readonly string[];
}

const NO_RETRY_AFTER = ['limits.refusal-json fail', 'limits.retry-after warning'];

/** Without burst the second request in a row is refused, whatever the rate. */
const WITHOUT_BURST: Truth = {
  algorithm: 'token-bucket',
  firstRefused: 2,
  keyedBy: 'credential',
  findings: ['limits.exact fail', ...NO_RETRY_AFTER],
};

const BY_RAW_HEADER: Truth = {
  algorithm: 'token-bucket',
  firstRefused: 21,
  keyedBy: 'raw-header',
  findings: [...NO_RETRY_AFTER, 'limits.spelling-shares warning'],
};

const QUEUE: Truth = { algorithm: 'queue', firstRefused: null, keyedBy: null, findings: NO_RETRY_AFTER };

const TRUTHS: Readonly<Record<string, Truth>> = {
  'nginx limit_req': WITHOUT_BURST,
  'nginx limit_req, 503': {
    ...WITHOUT_BURST,
    findings: ['limits.exact fail', 'limits.refusal-status warning', ...NO_RETRY_AFTER],
  },
  'nginx limit_req, burst nodelay': BY_RAW_HEADER,
  'nginx limit_req, burst': QUEUE,
  'nginx limit_req, delay': QUEUE,
  // It counts what it refuses.
  'HAProxy stick table': {
    ...BY_RAW_HEADER,
    algorithm: 'sliding-counter',
    findings: [...NO_RETRY_AFTER, 'limits.refusals-free warning', 'limits.spelling-shares warning'],
  },
};

const LIMITERS: Readonly<Record<string, StartProxy>> = {
  ...(mayUse(FAKETIME) && mayUse(NGINX) ? PROXY_LIMITERS.nginx : {}),
  ...(mayUse(FAKETIME) && mayUse(HAPROXY) ? PROXY_LIMITERS.haproxy : {}),
};

async function measured(start: StartProxy): Promise<Judged> {
  const { facts, ...config } = await configForLimiter(PLAN);
  const rate = { value: { requests: 20, window: '3s' }, origin: 'this test' };
  const time = proxyTime(BEGIN_AT, STEP_MS);
  try {
    const { url, stop } = await start(PLAN, time);
    return await judged({ ...config, facts: { ...facts, 'limits.rate': rate } }, [limits], {
      url,
      // Without a key it is refused before it is counted.
      clock: time.clockWith(`${url}${PATH}`),
      random: () => 0.5,
    }).finally(stop);
  } finally {
    time.stop();
  }
}

describe('a limiter is judged as what it is', () => {
  it.for(Object.entries(LIMITERS))('%s', async ([name, start], { expect }) => {
    const found = await measured(start);
    const { observations: seen, outcomes, messages } = found;
    const told: Truth = {
      algorithm: String(seen['limits.algorithm']),
      firstRefused: Number(seen['limits.first-refused'] ?? 0) || null,
      keyedBy: (seen['limits.keyed-by'] ?? null) as string | null,
      findings: amiss(found)
        .map((id) => `${id} ${outcomes[id]}`)
        .sort(),
    };
    const truth = TRUTHS[name];
    expect(told, JSON.stringify(messages)).toEqual(
      truth && { ...truth, findings: truth.findings.toSorted() },
    );
    expect(seen['limits.dialect'] ?? 'none').toBe('none');
  });
});
