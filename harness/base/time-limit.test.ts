import { describe, expect, it } from 'vitest';
import { TimeLimitReached, withinTimeLimit } from './time-limit.ts';

const forever = () => {
  for (;;);
};

describe('work within a time limit', () => {
  it('gives what it makes, and throws what it throws', () => {
    expect(withinTimeLimit(1_000, () => [1])).toEqual([1]);
    const fault = new RangeError('too deep');
    expect(() =>
      withinTimeLimit(1_000, () => {
        throw fault;
      }),
    ).toThrow(fault);
  });

  it('is cut short where it has no end, be it a loop or a pattern', () => {
    expect(() => withinTimeLimit(20, forever)).toThrow(new TimeLimitReached(20));
    const text = `${'a'.repeat(60)}!`;
    expect(() => withinTimeLimit(20, () => /^(a+)+$/.test(text))).toThrow(TimeLimitReached);
  });

  it('may be part of other such work, and the shorter limit counts', () => {
    const within = withinTimeLimit(60_000, () => {
      expect(() => withinTimeLimit(20, forever)).toThrow(new TimeLimitReached(20));
      return 'goes on';
    });
    expect(within).toBe('goes on');
    expect(() => withinTimeLimit(20, () => withinTimeLimit(60_000, forever))).toThrow(TimeLimitReached);
  });
});
