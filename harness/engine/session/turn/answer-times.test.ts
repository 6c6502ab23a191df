import { expect, it } from 'vitest';
import { AnswerTimes } from './run-time.ts';

it.each<[string, readonly number[], { readonly usualMs: number; readonly patienceMs: number }]>([
  ['nothing was answered yet', [], { usualMs: 0, patienceMs: 2_000 }],
  ['answers are quick', [3, 5, 4], { usualMs: 4, patienceMs: 2_000 }],
  ['answers are slow', [2_900, 3_000, 3_100], { usualMs: 3_000, patienceMs: 9_000 }],
  ['the first took long, and others do not', [9_000, 3, 4], { usualMs: 4, patienceMs: 2_000 }],
  [
    'answers have become slow',
    [...Array<number>(20).fill(3), ...Array<number>(9).fill(1_000)],
    { usualMs: 1_000, patienceMs: 3_000 },
  ],
  [
    'answers take as long as one is waited for',
    [9_000, 9_500, 9_900],
    { usualMs: 9_500, patienceMs: 10_000 },
  ],
])('where %s, what should come at once is waited for accordingly', (_, answers, expected) => {
  const times = new AnswerTimes(10_000);
  for (const each of answers) times.answered(each);
  expect({ usualMs: times.usualMs, patienceMs: times.patienceMs(2_000) }).toEqual(expected);
});
