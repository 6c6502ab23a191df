import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { epochClock } from '../../../harness/reference/behavior/clock.ts';
import { functional } from '../../catalogue.ts';
import { judgedServed, SOUND, saidOf } from '../fixtures/judged.ts';
import { limited, limitedConfig, simulated } from '../fixtures/limited-service.ts';

/** A limiter that does not say 429, met before anybody looks for it: others, or an earlier run, have spent the quota. */

const PLAN = { requests: 20, windowMs: 60_000 };

const REFUSALS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '503': (response) => void response.writeHead(503, JSON_TYPE).end('{"error":"busy"}'),
  '500': (response) => void response.writeHead(500, JSON_TYPE).end('{"error":"limit"}'),
  '403': (response) => void response.writeHead(403, JSON_TYPE).end('{"error":"limit"}'),
  'a reset': (response) => void response.socket?.resetAndDestroy(),
};

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** What is found where others have spent the quota after so many requests of the run; -1 for never. */
async function found(refuse: (response: ServerResponse) => void, spentAfter: number) {
  const clock = simulatedClock();
  let count = 0;
  const { serve } = limited({
    make: () => simulated('fixed-window', PLAN),
    now: epochClock(clock).now,
    before({ limiter, atMs }) {
      if (count !== spentAfter) return false;
      count += 1;
      for (let left = PLAN.requests; left > 0; left -= 1) limiter.decide(atMs, 0);
      return false;
    },
    admitted() {
      count += 1;
      return false;
    },
    refuse: ({ response }) => refuse(response),
  });
  const all = await judgedServed(serve, await limitedConfig(PLAN), functional, { clock });
  clock.stop();
  return Object.keys(all.outcomes).flatMap((id) =>
    SOUND.has(all.outcomes[id] ?? '') ? [] : `${id} ${saidOf(all, id)}`,
  );
}

describe.each(Object.entries(REFUSALS))('a limiter that refuses with %s', (_, refuse) => {
  let unspent: readonly string[] = [];
  beforeAll(async () => {
    unspent = await found(refuse, -1);
  });

  it.each([0, 5])('is not taken for another answer where others spend the quota after %i', async (after) => {
    const spent = await found(refuse, after);
    expect(spent.filter((line) => !line.includes(' blocked: ') && !unspent.includes(line))).toEqual([]);
    // Whoever was answered once comes back after the window.
    if (after > 0) expect(spent).toContainEqual(expect.stringMatching(/^headers\.nosniff warning/));
  });
});
