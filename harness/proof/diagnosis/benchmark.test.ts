import { describe, expect, it } from 'vitest';
import { dictionary } from '../../report/diagnosis/dictionary.ts';
import { togetherCases } from './benchmark.ts';

const entries = dictionary();
const SEED = 7;
const PAIRS = togetherCases(entries, { size: 2, count: 5, seed: SEED });

describe('the cases of several faults', () => {
  it('are always the same, and none is drawn twice', () => {
    expect(togetherCases(entries, { size: 2, count: 5, seed: SEED })).toEqual(PAIRS);
    expect(togetherCases(entries, { size: 2, count: 5, seed: SEED + 1 })).not.toEqual(PAIRS);
    const many = togetherCases(entries, { size: 3, count: 200, seed: SEED }).map(
      ({ service, setting, name }) => `${service} ${setting} ${name}`,
    );
    expect(new Set(many).size).toBe(200);
  });

  it('hold no fault that another hides', () => {
    const known = new Map(entries.map((each) => [each.defect, new Set(Object.keys(each.certain))]));
    for (const { name } of PAIRS) {
      const [one, other] = name.split('+').map((each) => known.get(each) ?? new Set());
      expect(
        [one, other].every((each) => (each?.size ?? 0) > 0),
        name,
      ).toBe(true);
      expect(one?.isSubsetOf(other ?? new Set()), name).toBe(false);
    }
  });
});
