import { expect, it } from 'vitest';
import { limits } from '../../limits/limits.suite.ts';
import { configFor, judgedServed } from '../fixtures/judged.ts';

type Quota = Readonly<Record<string, string>>;
const TEN: Quota = { 'X-RateLimit-Limit': '10', 'X-RateLimit-Remaining': '9', 'X-RateLimit-Reset': '1' };

/** What is found of these quota headers, by the number of the answer, where the documents have these limits. */
async function found(
  quotaOf: (answer: number) => Quota,
  further: readonly { requests: number; windowMs: number }[] = [],
) {
  const config = await configFor(undefined, true);
  const { safety, plan } = config;
  let answers = 0;
  const { outcomes } = await judgedServed(
    (_, response) => {
      answers += 1;
      response.writeHead(200, { 'Content-Type': 'application/json', ...quotaOf(answers) });
      response.end('{"resources":[]}');
    },
    { ...config, plan: plan && { ...plan, further }, safety: { ...safety, exceedRateLimit: false } },
    [limits],
  );
  return outcomes;
}

it('quota headers may tell of any limit that the documents have', async () => {
  expect((await found(() => TEN))['limits.quota-fields-agree']).toBe('warning');
  expect((await found(() => TEN, [{ requests: 10, windowMs: 1_000 }]))['limits.quota-fields-agree']).toBe(
    'pass',
  );
});

/** The documented quota is 1000 in 60 s. */
const documented = (reset: number): Quota => ({
  'X-RateLimit-Limit': '1000',
  'X-RateLimit-Remaining': '900',
  'X-RateLimit-Reset': String(reset),
});

it.each<[string, string, (answer: number) => Quota]>([
  ['limits.quota-fields-agree', 'another limit', (answer) => (answer === 1 ? TEN : documented(30))],
  ['limits.reset-unit', 'milliseconds', (answer) => documented(answer === 1 ? 29_500 : 30)],
  ['limits.reset-unit', 'milliseconds since 1970', (answer) => documented(answer === 1 ? 4e12 : 30)],
])('%s judges every answer, also one of several that gives %s', async (id, _, quotaOf) => {
  expect((await found(() => documented(30)))[id]).toBe('pass');
  expect((await found(quotaOf))[id]).toBe('warning');
  const late = (answer: number) => (answer === 1 ? {} : quotaOf(1));
  expect((await found(late))[id]).toBe('warning');
});

it('a reset of several windows is given in seconds', async () => {
  expect((await found(() => documented(600)))['limits.reset-unit']).toBe('pass');
  expect((await found(() => ({ ...TEN, 'X-RateLimit-Reset': '29500' })))['limits.reset-unit']).toBe('pass');
});
