import { expect, it } from 'vitest';
import { requestsToOperations } from '../../wire/pace/weighing.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

it.each([
  ['what nine tenths of the plan admit in 5 minutes', { requests: 100, windowMs: 60 * SECOND }, 450],
  ['the same of a short window', { requests: 20, windowMs: 5 * SECOND }, 1_080],
  [
    'what is answered in 5 minutes where the plan admits more',
    { requests: 5_000, windowMs: 60 * SECOND },
    1_500,
  ],
  ['half of a window that is much longer', { requests: 1_000, windowMs: 24 * HOUR }, 450],
  ['one at the least', { requests: 1, windowMs: HOUR }, 1],
  ['what is polite where no plan is known', null, 1_500],
])('as many requests to operations as fit: %s', (_, plan, wanted) => {
  expect(requestsToOperations(plan)).toBe(wanted);
});
