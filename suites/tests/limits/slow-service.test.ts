import { describe, expect, it } from 'vitest';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { epochClock } from '../../../harness/reference/behavior/clock.ts';
import { limits } from '../../limits/limits.suite.ts';
import { status } from '../../status/status.suite.ts';
import { judgedServed, saidOf } from '../fixtures/judged.ts';
import { limited, limitedConfig, simulated } from '../fixtures/limited-service.ts';

/** A service, or a machine, that takes so long for each answer that a window ends while it is being spent. */

const PLAN = { requests: 100, windowMs: 60_000 };
const ANSWER_MS = 400;

/** What the exact count comes to. */
async function exactCount(limit: number): Promise<string> {
  const clock = simulatedClock();
  const { serve } = limited({
    make: () => simulated('fixed-window', { ...PLAN, requests: limit }),
    now: epochClock(clock).now,
    admitted: () => clock.sleep(ANSWER_MS).then(() => false),
  });
  const setting = { clock };
  const all = await judgedServed(serve, await limitedConfig(PLAN), [status, limits], setting);
  clock.stop();
  return saidOf(all, 'limits.exact');
}

describe('a service that answers slowly, so that the window ends within the burst', () => {
  it.each([
    ['as many as documented', 100, /^pass: request 101 is the first refused/],
    ['one less', 99, /^fail: .*got request 100/],
    ['one more', 101, /^fail: .*got request 102/],
  ])('and admits %s: is counted again', async (_, limit, wanted) => {
    expect(await exactCount(limit)).toMatch(wanted);
  });
});
