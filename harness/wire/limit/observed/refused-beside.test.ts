import { describe, expect, it } from 'vitest';
import { at, ofQuota } from '../fixtures/observed.ts';
import type { LimitObservation } from './observation.ts';
import { withRefusedBeside } from './observing.ts';

/** What remained, one by one; null where a second limit refused. Refused by the documented one at the end. */
function sent(remaining: readonly (number | null | 'untold')[]): readonly LimitObservation[] {
  const all = remaining.map((left, index) => {
    const quota = typeof left === 'number' ? ofQuota(left) : null;
    return at(index * 10, left === null ? 'refused' : 'admitted', { part: 'serial', quota });
  });
  return [...all, at(all.length * 10, 'refused', { part: 'serial' })];
}

function counted(observations: readonly LimitObservation[], requests: number): readonly number[] {
  const refused = observations
    .slice(0, -1)
    .flatMap(({ fate, sentMs }) => (fate === 'refused' ? [sentMs] : []));
  return withRefusedBeside(observations, new Set(refused), { requests })
    .filter(({ fate, counted }) => fate === 'admitted' && counted === 'surely')
    .map(({ sentMs }) => sentMs / 10);
}

describe('what a second limit refused', () => {
  it('counts where the quota fell by it', () => {
    expect(counted(sent([4, 3, null, 1, 0]), 5)).toEqual([0, 1, 2, 3, 4]);
  });

  it('does not count where the quota did not fall by it, whatever the number', () => {
    expect(counted(sent([4, 3, null, 2, 1]), 5)).toEqual([0, 1, 3, 4]);
  });

  it('counts where nothing is told, and the documented number comes out by it', () => {
    const untold = sent(['untold', 'untold', null, 'untold', null, 'untold']);
    expect(counted(untold, 6)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it.each([4, 5, 7])('does not count where nothing is told, and %i are documented', (requests) => {
    const untold = sent(['untold', 'untold', null, 'untold', null, 'untold']);
    expect(counted(untold, requests)).toEqual([0, 1, 3, 5]);
  });

  it('says nothing of the refusal of the documented limit', () => {
    const observations = sent([4, 3, null, 1, 0]);
    expect(withRefusedBeside(observations, new Set([20]), { requests: 5 }).at(-1)).toBe(observations.at(-1));
  });
});
