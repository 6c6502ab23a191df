import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serving } from '../../../harness/base/fixtures/server.ts';
import {
  KEYS,
  keyOf,
  PATH,
  RESOURCES,
  UNAUTHENTICATED,
} from '../../../harness/probe/quota/fixtures/limited-server.ts';
import { SIMULATED } from '../../../harness/probe/quota/fixtures/simulated-limiter.ts';
import { DEADLINE_MS, proofClock } from '../../../harness/proof/clock.ts';
import { limits } from '../../limits/limits.suite.ts';
import { configForLimiter, judged } from '../fixtures/judged.ts';

/** A service that fails now and then while its limit is met: a fault of the moment is no refusal of the limiter. */

const PLAN = { requests: 100, windowMs: 60_000 };
const SELDOM = 30;
const JSON_TYPE = { 'Content-Type': 'application/json' };

interface Conduct {
  readonly limiter: string;
  /** How it refuses. */
  readonly refusal: number;
  /** How it fails once in so many requests; null for never. */
  readonly failure: number | null;
  /** Whether a request that fails has been counted. */
  readonly countsFailures: boolean;
  readonly tellsQuota: boolean;
}

const USUAL: Conduct = {
  limiter: 'fixed-window',
  refusal: 429,
  failure: 500,
  countsFailures: true,
  tellsQuota: false,
};

async function found(more: Partial<Conduct>) {
  const { limiter: name, refusal, failure, countsFailures, tellsQuota } = { ...USUAL, ...more };
  const clock = proofClock({ leaps: true });
  const make = SIMULATED[name];
  if (make === undefined) throw new Error('there is no such limiter');
  const limiters = new Map(
    KEYS.map((key) => [key as string, { ...{ limiter: make(PLAN), left: 0, untilMs: 0 } }]),
  );
  let asked = 0;
  const server = createServer((request, response) => {
    const account = limiters.get(keyOf(request.headers.authorization) ?? '');
    const answer = (status: number, content: unknown) => end(response, status, content);
    if (account === undefined) return answer(401, UNAUTHENTICATED);
    const nowMs = clock.provider.now();
    response.setHeader('Date', new Date(nowMs).toUTCString());
    const [path] = (request.url ?? '').split('?', 1);
    const isPlain = request.method === 'GET' && path === PATH;
    if (isPlain) asked += 1;
    const fails = failure !== null && isPlain && asked % SELDOM === 0;
    if (fails && !countsFailures) return answer(failure, { error: 'failed' });
    const decided = account.limiter.decide(nowMs, 0);
    if (tellsQuota) {
      if (nowMs >= account.untilMs)
        Object.assign(account, { left: PLAN.requests, untilMs: nowMs + PLAN.windowMs });
      account.left = Math.max(0, account.left - 1);
      response.setHeader('X-RateLimit-Limit', PLAN.requests);
      response.setHeader('X-RateLimit-Remaining', account.left);
    }
    if (decided === null) return answer(refusal, { error: 'slow down' });
    if (fails) return answer(failure, { error: 'failed' });
    if (path !== PATH) return answer(404, { error: 'nothing here' });
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    return isRead ? answer(200, RESOURCES) : answer(405, { error: 'not here' });
  });
  const { url, stop } = await serving(server);
  const config = { ...(await configForLimiter(PLAN)), operations: [] };
  const patient = { ...config, timeouts: { connectMs: DEADLINE_MS, responseMs: DEADLINE_MS } };
  const { outcomes, messages, observations } = await judged(patient, [limits], {
    url,
    clock: clock.session,
  }).finally(async () => {
    await stop();
    clock.stop();
  });
  const lines = Object.entries(outcomes).map(([id, outcome]) => `${id} ${outcome}: ${messages[id]}`);
  return {
    exact: lines.find((line) => line.startsWith('limits.exact ')),
    failures: lines.find((line) => line.startsWith('limits.failures ')),
    ofLimits: lines.filter((line) => /^limits\.(?!failures)\S+ (?:fail|warning|error)/.test(line)),
    refusal: observations['limits.refusal'],
  };
}

function end(response: ServerResponse, status: number, content: unknown) {
  return response
    .writeHead(status, { ...JSON_TYPE, 'WWW-Authenticate': 'Bearer realm="test"' })
    .end(JSON.stringify(content));
}

/** What limits.* raise of such a limiter that never fails. */
const unfailing = async (more: Partial<Conduct>) => (await found({ ...more, failure: null })).ofLimits;

/** Of a fault that came outside of bursts as well, another check tells. */
const TOLD =
  /^limits\.failures (?:warning: expected no failure, got status 50\d for \d+ of \d+ |blocked: status\.stable fails)/;

describe('a service that fails now and then', () => {
  it.each<[string, Partial<Conduct>]>([
    ['with 500, and counts it', {}],
    ['with 500, and does not', { countsFailures: false }],
    ['with 503, and tells what remains', { failure: 503, tellsQuota: true }],
    ['with 502, under a bucket', { failure: 502, limiter: 'token-bucket' }],
  ])('%s: is told as that, and its limit is none the worse', async (_, more) => {
    const { exact, failures, ofLimits, refusal } = await found(more);
    expect(exact).toMatch(
      /^limits\.exact (?:pass: |blocked: the service failed \d+ times while it was counted)/,
    );
    expect(failures).toMatch(TOLD);
    expect(ofLimits).toEqual(await unfailing(more));
    expect(refusal).toMatchObject({ status: 429 });
  });
});

describe('a limiter that refuses with 503 and says no more', () => {
  it.each([null, 500])('is known by that, also where the service fails with %s', async (failure) => {
    const { ofLimits, refusal } = await found({ refusal: 503, failure });
    expect(refusal).toMatchObject({ status: 503 });
    expect(ofLimits).toEqual(await unfailing({ refusal: 503 }));
    expect(ofLimits).toContainEqual(expect.stringMatching(/^limits\.refusal-status /));
  });
});
