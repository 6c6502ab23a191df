import { describe, expect, it } from 'vitest';
import { at, group } from '../fixtures/observed.ts';
import { freshAfterMs, howKept, isAbove, keptTogether } from './longer-limit.ts';

const LIMIT = { requests: 8, windowMs: 1_000 };
const MET = { quietMs: freshAfterMs(LIMIT), isMet: true };

const [second, third] = [group(1_200, 8), group(2_400, 4)];

describe('a further limit', () => {
  it('is kept where as many as documented are served at once', () => {
    expect(howKept([group(0, 8), second, third], LIMIT, MET)).toEqual({ kind: 'kept' });
  });

  it('is broken where a fresh one refuses earlier, and the next one as well', () => {
    const groups = [group(0, 7), group(1_200, 7), group(2_400, 6)];
    expect(howKept(groups, LIMIT, MET)).toEqual({ kind: 'broken', got: 'request 8' });
  });

  it('is not called broken where the first requests were not of a fresh one, or others may have spent it', () => {
    const groups = [group(0, 5), group(1_200, 7), third];
    expect(howKept(groups, LIMIT, { ...MET, quietMs: 300 }).kind).toBe('kept');
    expect(howKept([group(0, 5), second, third], LIMIT, MET).kind).toBe('kept');
  });

  it('is to be counted once more where more are served than it allows', () => {
    const much = group(0, 12);
    expect(howKept([much], LIMIT, { ...MET, isMet: false })).toEqual({ kind: 'above', group: much });
  });

  it('is not met by slow requests', () => {
    expect(howKept([group(0, 20, 1_000, 200)], LIMIT, { ...MET, isMet: false }).kind).toBe('unmet');
  });

  it('lets flow back what a bucket of its size gets meanwhile', () => {
    expect(isAbove(group(0, 11, 1_000, 50), LIMIT)).toBe(false);
    expect(isAbove(group(0, 15, 1_000, 50), LIMIT)).toBe(true);
  });
});

describe('a further limit that requests in turn are too slow for', () => {
  const MAIN = { requests: 20, windowMs: 60_000 };
  const together = (served: number, refused: number, answerMs: number) => [
    ...Array.from({ length: served }, (_, n) =>
      at(n, 'admitted', { part: 'parallel', finishedMs: n + answerMs }),
    ),
    ...Array.from({ length: refused }, (_, n) => at(served + n, 'refused', { part: 'parallel' })),
  ];

  it.each<[string, ReturnType<typeof together>, ReturnType<typeof keptTogether>]>([
    ['refuses those beyond it', together(8, 4, 200), { kind: 'kept' }],
    ['refuses them, and takes long for others', together(8, 4, 1_200), { kind: 'kept' }],
    ['lets through twice as many, and more', together(19, 0, 200), { kind: 'broken', got: '19 served' }],
    ['takes long for too many', together(28, 0, 1_200), { kind: 'broken', got: '27 served within 1.2 s' }],
    ['refuses earlier, for another reason', together(7, 4, 200), null],
    ['refuses once the main one is spent', together(20, 4, 2_900), null],
    ['is not met at all', together(8, 0, 200), null],
    ['is met in turn alone', together(8, 4, 200).map((each) => ({ ...each, part: 'serial' })), null],
    [
      'is to be counted once more where a window may have ended meanwhile',
      together(17, 0, 200),
      {
        kind: 'above',
        group: { fromMs: 0, toMs: 209, admitted: 10, unsure: 0, refusal: null },
      },
    ],
  ])('%s', (_, observations, kept) => {
    expect(keptTogether(observations, LIMIT, MAIN)).toEqual(kept);
  });
});

describe('the bounds of a further limit', () => {
  it('are a window and what flows back meanwhile', () => {
    // 8 in 1 s: one flows back in 125 ms, give or take the tick of two clocks.
    expect(isAbove(group(0, 9), LIMIT)).toBe(false);
    expect(isAbove(group(0, 10), LIMIT)).toBe(true);
    expect(isAbove({ ...group(0, 10), unsure: 1 }, LIMIT)).toBe(false);
    expect(isAbove({ ...group(0, 11), unsure: 1 }, LIMIT)).toBe(true);
    expect(isAbove({ ...group(5_000, 20), toMs: 5_999 }, LIMIT)).toBe(true);
    expect(isAbove({ ...group(5_000, 20), toMs: 6_000 }, LIMIT)).toBe(false);
    // 8 + 1 after 210 ms without the ticks, 8 + 2 with them.
    expect(isAbove({ ...group(0, 10), toMs: 210 }, LIMIT)).toBe(false);
    expect(isAbove({ ...group(0, 10), toMs: 209 }, LIMIT)).toBe(true);
  });

  it('is told by the first group above it', () => {
    const [one, two] = [group(0, 12), group(1_500, 14)];
    expect(howKept([one, two], LIMIT, MET)).toEqual({ kind: 'above', group: one });
  });

  it('is fresh after two windows and the ticks of the clocks', () => {
    const groups = [group(0, 5), group(1_200, 7), third];
    expect(freshAfterMs(LIMIT)).toBe(2_070);
    expect(howKept(groups, LIMIT, { ...MET, quietMs: 2_050 })).toEqual({ kind: 'broken', got: 'request 8' });
    expect(howKept(groups, LIMIT, { ...MET, quietMs: 2_049 })).toEqual({ kind: 'kept' });
  });

  it('is not met by the last refusal, nor by slow groups, nor without another one', () => {
    expect(howKept([group(0, 7)], LIMIT, MET).kind).toBe('unmet');
    expect(howKept([group(0, 7, 1_000, 200), third], LIMIT, MET).kind).toBe('unmet');
    expect(howKept([group(0, 7), third], LIMIT, { ...MET, isMet: false }).kind).toBe('unmet');
    expect(howKept([], LIMIT, MET).kind).toBe('unmet');
  });

  it('is kept if the first group was not the first to be refused', () => {
    const slow = group(0, 7, 1_000, 200);
    expect(howKept([slow, group(3_000, 7), third], LIMIT, MET)).toEqual({ kind: 'kept' });
    expect(howKept([group(0, 8), third], LIMIT, MET)).toEqual({ kind: 'kept' });
  });
});
