import { expect, it } from 'vitest';
import { limits } from '../../limits/limits.suite.ts';
import { configFor, judgedServed } from '../fixtures/judged.ts';

/** What is said of quota headers that give 10 as the limit, where the documents have these limits. */
async function outcome(further: readonly { requests: number; windowMs: number }[]) {
  const config = await configFor(undefined, true);
  const { safety, plan } = config;
  const { outcomes } = await judgedServed(
    (_, response) => {
      const quota = { 'X-RateLimit-Limit': '10', 'X-RateLimit-Remaining': '9', 'X-RateLimit-Reset': '1' };
      response.writeHead(200, { 'Content-Type': 'application/json', ...quota });
      response.end('{"resources":[]}');
    },
    { ...config, plan: plan && { ...plan, further }, safety: { ...safety, exceedRateLimit: false } },
    [limits],
  );
  return outcomes['limits.quota-fields-agree'];
}

it('quota headers may tell of any limit that the documents have', async () => {
  expect(await outcome([])).toBe('warning');
  expect(await outcome([{ requests: 10, windowMs: 1_000 }])).toBe('pass');
});
