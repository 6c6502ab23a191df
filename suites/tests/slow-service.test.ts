import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { judge } from '../../harness/check/judge.ts';
import { loadServices } from '../../harness/config/load.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { bearer } from '../../harness/credential/schemes/bearer.ts';
import { Secret } from '../../harness/credential/secret.ts';
import {
  KEYS,
  keyOf,
  listening,
  RESOURCES,
  UNAUTHENTICATED,
} from '../../harness/probe/quota/fixtures/limited-server.ts';
import { SIMULATED } from '../../harness/probe/quota/fixtures/simulated-limiter.ts';
import { DEADLINE_MS, proofClock } from '../../harness/proof/clock.ts';
import { openSession } from '../../harness/session/session.ts';
import { limits } from '../limits/limits.suite.ts';
import { status } from '../status/status.suite.ts';

/** A service, or a machine, that takes so long for each answer that a window ends while it is being spent. */

const PLAN = { name: 'test', requests: 100, windowMs: 60_000 };
const CONFIG = fileURLToPath(new URL('../../config', import.meta.url));

const { services } = await loadServices({ configDir: CONFIG, env: {}, services: ['search'] });
const [shipped] = services;
if (shipped === undefined) throw new Error('the search service is not configured');
const config: ServiceConfig = {
  ...shipped.config,
  plan: PLAN,
  credentials: bearer.of({
    key: new Secret('FIRST_KEY', KEYS[0]),
    secondKey: new Secret('SECOND_KEY', KEYS[1]),
  }),
  timeouts: { connectMs: DEADLINE_MS, responseMs: DEADLINE_MS },
  safety: { ...shipped.config.safety, exceedRateLimit: true, maxRequests: 2_000 },
};

/** What the exact count comes to where each answer takes that long, in ms. */
async function exactCount(answerMs: number, limit: number): Promise<string> {
  const clock = proofClock();
  const make = SIMULATED['fixed-window'];
  if (make === undefined) throw new Error('there is no such limiter');
  const limiters = new Map(KEYS.map((key) => [key as string, make({ ...PLAN, requests: limit })]));
  const server = await listening(
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
  const session = openSession({
    config,
    providerUrl: server.url,
    runId: 'test',
    userAgent: 'conform/test',
    clock: clock.session,
    record: () => undefined,
  });
  const outcomes = new Map<string, string>();
  try {
    for (const check of [...status.checks, ...limits.checks]) {
      const { outcome, message } = await judge(check, session, {
        strict: false,
        signal: AbortSignal.timeout(60_000),
      });
      outcomes.set(check.id, `${outcome}: ${message}`);
    }
  } finally {
    await session.close();
    await server.stop();
  }
  return outcomes.get('limits.exact') ?? '';
}

describe('a service that answers slowly', () => {
  it.each([
    ['so that the window ends within the burst', 400, 100, /^pass: request 101 is the first refused/],
    ['so that the window ends within the burst, and admits one less', 400, 99, /^fail: .*got request 100/],
    ['so that the window ends within the burst, and admits one more', 400, 101, /^fail: .*got request 102/],
  ])('%s: is counted again', async (_, answerMs, limit, wanted) => {
    expect(await exactCount(answerMs, limit)).toMatch(wanted);
  });
});
