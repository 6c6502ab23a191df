import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serving } from '../../../harness/base/fixtures/server.ts';
import {
  KEYS,
  keyOf,
  RESOURCES,
  UNAUTHENTICATED,
} from '../../../harness/probe/quota/fixtures/limited-server.ts';
import { SIMULATED } from '../../../harness/probe/quota/fixtures/simulated-limiter.ts';
import { DEADLINE_MS, proofClock } from '../../../harness/proof/clock.ts';
import { limits } from '../../limits/limits.suite.ts';
import { status } from '../../status/status.suite.ts';
import { configForLimiter, judged } from '../fixtures/judged.ts';

/** A service, or a machine, that takes so long for each answer that a window ends while it is being spent. */

const PLAN = { requests: 100, windowMs: 60_000 };

/** What the exact count comes to where each answer takes that long, in ms. */
async function exactCount(answerMs: number, limit: number): Promise<string> {
  const clock = proofClock();
  const make = SIMULATED['fixed-window'];
  if (make === undefined) throw new Error('there is no such limiter');
  const limiters = new Map(KEYS.map((key) => [key as string, make({ ...PLAN, requests: limit })]));
  const server = await serving(
    createServer(async (request, response) => {
      const answer = (status: number, content: unknown) =>
        response
          .writeHead(status, { 'Content-Type': 'application/json', 'WWW-Authenticate': 'Bearer' })
          .end(JSON.stringify(content));
      const limiter = limiters.get(keyOf(request.headers.authorization) ?? '');
      if (limiter === undefined) return answer(401, UNAUTHENTICATED);
      if (limiter.decide(clock.provider.now(), 0) === null) return answer(429, { error: 'too many' });
      await clock.provider.sleep(answerMs);
      return answer(200, RESOURCES);
    }),
  );
  const config = await configForLimiter(PLAN);
  const patient = { ...config, timeouts: { connectMs: DEADLINE_MS, responseMs: DEADLINE_MS } };
  const { outcomes, messages } = await judged(patient, [status, limits], {
    url: server.url,
    clock: clock.session,
  }).finally(server.stop);
  return `${outcomes['limits.exact']}: ${messages['limits.exact']}`;
}

// Beside each other: most of their time they wait.
describe.concurrent('a service that answers slowly', () => {
  it.each([
    ['so that the window ends within the burst', 400, 100, /^pass: request 101 is the first refused/],
    ['so that the window ends within the burst, and admits one less', 400, 99, /^fail: .*got request 100/],
    ['so that the window ends within the burst, and admits one more', 400, 101, /^fail: .*got request 102/],
  ])('%s: is counted again', async (_, answerMs, limit, wanted) => {
    expect(await exactCount(answerMs, limit)).toMatch(wanted);
  });
});
