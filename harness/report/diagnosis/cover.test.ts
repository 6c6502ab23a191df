import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { type Candidate, cheapestCover } from './cover.ts';

const candidate = (cost: number, ...explains: number[]): Candidate => ({ cost, explains: new Set(explains) });
const costOf = (chosen: readonly Candidate[]) => chosen.reduce((sum, { cost }) => sum + cost, 0);
const itemsOf = (chosen: readonly Candidate[]) => new Set(chosen.flatMap(({ explains }) => [...explains]));

/** By trying every subset. */
function leastCost(candidates: readonly Candidate[]): number {
  const all = itemsOf(candidates);
  const subsets = Array.from({ length: 2 ** candidates.length }, (_, bits) =>
    candidates.filter((_, at) => (bits >> at) % 2 === 1),
  );
  return Math.min(...subsets.filter((each) => all.isSubsetOf(itemsOf(each))).map(costOf));
}

describe('the cheapest cover', () => {
  it('is one that explains all rather than two that do so together', () => {
    const [one, two, both] = [candidate(1, 1), candidate(1, 2), candidate(1.9, 1, 2)];
    expect(cheapestCover([one, two, both])).toEqual([both]);
  });

  it('is better than what the largest first would give', () => {
    const large = candidate(1, 1, 2, 3, 4);
    const halves = [candidate(1, 1, 2, 5), candidate(1, 3, 4, 6)];
    expect(cheapestCover([large, ...halves])).toEqual(halves);
  });

  it('takes of equals the first', () => {
    const twins = [candidate(1, 1), candidate(1, 1)];
    expect(cheapestCover(twins)[0]).toBe(twins[0]);
  });

  it('explains nothing where nothing explains anything', () => {
    expect(cheapestCover([])).toEqual([]);
    expect(cheapestCover([candidate(1)])).toEqual([]);
  });

  it('costs the least there is', () => {
    const candidates = fc.array(
      fc.record({
        cost: fc.integer({ min: 100, max: 199 }).map((cost) => cost / 100),
        explains: fc.array(fc.nat(7), { minLength: 1, maxLength: 5 }).map((items) => new Set(items)),
      }),
      { minLength: 1, maxLength: 9 },
    );
    fc.assert(
      fc.property(candidates, (all) => {
        const chosen = cheapestCover(all);
        expect(itemsOf(chosen)).toEqual(itemsOf(all));
        expect(costOf(chosen)).toBeCloseTo(leastCost(all), 6);
      }),
    );
  });

  it('is found, if not the cheapest, where there are far too many to try', () => {
    const all = Array.from({ length: 300 }, (_, at) =>
      candidate(1 + (at % 7) / 10, at % 97, (at * 7) % 97, (at * 13) % 97),
    );
    expect(itemsOf(cheapestCover(all))).toEqual(itemsOf(all));
  });
});
