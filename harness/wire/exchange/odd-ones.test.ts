import { expect, it } from 'vitest';
import { oddOnesAmong } from './likeness.ts';

const kindOf = (answer: string) => (answer === '-' ? null : answer);

it.each([
  ['all alike', 'a a a', null, null],
  ['one of several', 'a a b a', 'b 1 of 4', 'b 1 of 4'],
  ['the first', 'b a a a', 'b 1 of 4', null],
  ['changed for good', 'a a b b b', 'a 2 of 5', null],
  ['changed twice for good', 'a a b b b c', 'a 2 of 6', null],
  ['another each time', 'a b c d', 'b 1 of 4', null],
  ['by turns', 'a b a b', 'b 2 of 4', 'b 2 of 4'],
  ['two odd ones', 'a b a c a', 'b 1 of 5', 'b 1 of 5'],
  ['some that show nothing', 'a - b - a -', 'b 1 of 3', 'b 1 of 3'],
  ['none', '- -', null, null],
])('%s: %s', (_, answers, any, returning) => {
  const told = (counting?: { readonly returning: boolean }) => {
    const odd = oddOnesAmong(answers.split(' '), kindOf, counting);
    return odd && `${odd.odd} ${odd.answers.length} of ${odd.of}`;
  };
  expect(told()).toBe(any);
  expect(told({ returning: true })).toBe(returning);
});
