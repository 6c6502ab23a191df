import { createServer, type ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
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
import { functional } from '../../catalogue.ts';
import { configForLimiter, judged } from '../fixtures/judged.ts';

/** A limiter that does not say 429, met before anybody looks for it: others, or an earlier run, have spent the quota. */

const PLAN = { requests: 20, windowMs: 60_000 };

const REFUSALS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '503': (response) => void response.writeHead(503).end('busy'),
  '500': (response) => void response.writeHead(500, JSON_TYPE).end('{"error":"limit"}'),
  '403': (response) => void response.writeHead(403, JSON_TYPE).end('{"error":"limit"}'),
  'a reset': (response) => void response.socket?.resetAndDestroy(),
};

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** What is found where others have spent the quota after so many requests of the run; -1 for never. */
async function found(
  refuse: (response: ServerResponse) => void,
  spentAfter: number,
): Promise<readonly string[]> {
  const clock = proofClock({ leaps: true });
  const make = SIMULATED['fixed-window'];
  if (make === undefined) throw new Error('there is no such limiter');
  const limiters = new Map(KEYS.map((key) => [key as string, make(PLAN)]));
  let admitted = 0;
  const server = createServer((request, response) => {
    const limiter = limiters.get(keyOf(request.headers.authorization) ?? '');
    const answer = (status: number, content: unknown) =>
      response
        .writeHead(status, { ...JSON_TYPE, 'WWW-Authenticate': 'Bearer realm="test"' })
        .end(JSON.stringify(content));
    if (limiter === undefined) return answer(401, UNAUTHENTICATED);
    const nowMs = clock.provider.now();
    response.setHeader('Date', new Date(nowMs).toUTCString());
    if (admitted === spentAfter) {
      admitted += 1;
      for (let left = PLAN.requests; left > 0; left -= 1) limiter.decide(nowMs, 0);
    }
    if (limiter.decide(nowMs, 0) === null) return refuse(response);
    admitted += 1;
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== PATH) return answer(404, { error: 'nothing here' });
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    return isRead ? answer(200, RESOURCES) : answer(405, { error: 'not here' });
  });
  const { url, stop } = await serving(server);
  const config = { ...(await configForLimiter(PLAN)), operations: [] };
  const patient = { ...config, timeouts: { connectMs: DEADLINE_MS, responseMs: DEADLINE_MS } };
  const { outcomes, messages } = await judged(patient, functional, { url, clock: clock.session }).finally(
    async () => {
      await stop();
      clock.stop();
    },
  );
  const raised = ['fail', 'warning', 'error', 'blocked'];
  return Object.keys(outcomes)
    .filter((id) => raised.includes(outcomes[id] ?? ''))
    .map((id) => `${id} ${outcomes[id]}: ${messages[id]}`);
}

// Beside each other: half of its time each of them waits.
describe.concurrent.each(Object.entries(REFUSALS))('a limiter that refuses with %s', (_, refuse) => {
  let unspent: readonly string[] = [];
  beforeAll(async () => {
    unspent = await found(refuse, -1);
  });

  it.each([0, 1, 5, 11])(
    'is not taken for another answer where others spend the quota after %i',
    async (after) => {
      const spent = await found(refuse, after);
      expect(spent.filter((line) => !line.includes(' blocked: ') && !unspent.includes(line))).toEqual([]);
      // Whoever was answered once comes back after the window.
      if (after > 0) expect(spent).toContainEqual(expect.stringMatching(/^headers\.nosniff warning/));
    },
  );
});
