import { expect, it } from 'vitest';
import { limits } from '../../limits/limits.suite.ts';
import { judgedServed } from '../fixtures/judged.ts';
import { limited, limitedConfig, simulated } from '../fixtures/limited-service.ts';
import { weather } from '../fixtures/weather.ts';

/** Three instances in turn, each of which admits as many as documented and tells what remains of its own count, the first answers left out. */
async function judgedInstances(untold: number) {
  const plan = { requests: 20, windowMs: 60_000 };
  const { clock, random, pass } = weather(7, Date.UTC(2026, 0, 1));
  const instances = [0, 0, 0];
  let next = 0;
  const { serve } = limited({
    make: () => simulated('fixed-window', { ...plan, requests: 3 * plan.requests }),
    now: () => clock.wallNow().getTime(),
    before({ response }) {
      pass(5);
      const instance = next % instances.length;
      next += 1;
      const used = ((instances[instance] ?? 0) % plan.requests) + 1;
      instances[instance] = used;
      if (next <= untold) return false;
      response.setHeader('X-RateLimit-Limit', plan.requests);
      response.setHeader('X-RateLimit-Remaining', plan.requests - used);
      response.setHeader('X-RateLimit-Reset', 60);
      return false;
    },
  });
  return judgedServed(serve, await limitedConfig(plan), [limits], { clock, random });
}

it('a count for each instance is named as such', async () => {
  const { observations } = await judgedInstances(0);
  expect(observations['limits.algorithm']).toBe('count-per-instance');
});

it('a count for each instance is found, whatever the first answers leave out', async () => {
  const { outcomes } = await judgedInstances(5);
  expect(outcomes['limits.one-count']).toBe('fail');
});
