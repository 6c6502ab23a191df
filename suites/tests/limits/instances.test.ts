import { expect, it } from 'vitest';
import { limits } from '../../limits/limits.suite.ts';
import { judgedServed } from '../fixtures/judged.ts';
import { limited, limitedConfig, simulated } from '../fixtures/limited-service.ts';
import { weather } from '../fixtures/weather.ts';

/** Three instances in turn, each of which admits as many as documented and tells what remains of its own count. */
it('a count for each instance is named as such', async () => {
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
      response.setHeader('X-RateLimit-Limit', plan.requests);
      response.setHeader('X-RateLimit-Remaining', plan.requests - used);
      response.setHeader('X-RateLimit-Reset', 60);
      return false;
    },
  });
  const { observations } = await judgedServed(serve, await limitedConfig(plan), [limits], { clock, random });
  expect(observations['limits.algorithm']).toBe('count-per-instance');
});
