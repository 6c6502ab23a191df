import { describe, expect, it } from 'vitest';
import { at, group } from '../fixtures/observed.ts';
import type { LimitObservation } from '../observed/observation.ts';
import { isOfAnother, longerLimitMet, secondLimitOf, waitForMore } from './longer-limit.ts';

const DOCUMENTED = { requests: 20, windowMs: 60_000 };

describe('a refusal that comes early', () => {
  it('is waited for where it says that it is over soon, or does not say', () => {
    expect(waitForMore([group(0, 8, 1_000)], 0, DOCUMENTED)).toBe(1_050);
    expect(waitForMore([group(0, 8, null)], 0, DOCUMENTED)).toBe(1_050);
  });

  it.each([
    ['lasts as long as the window', [group(0, 8, 59_000)]],
    ['comes when the documented number was admitted', [group(0, 20, 1_000)]],
    ['comes after one request', [group(0, 1, 1_000)]],
    ['was followed by no more than flows back', [group(0, 8, 3_000), group(3_130, 1, 3_000)]],
    ['was followed by another that lasts', [group(0, 8, 1_000), group(1_130, 8, 58_000)]],
    ['comes late in the window', [group(0, 8, 1_000), group(30_000, 8, 1_000)]],
  ])('is taken as it is where it %s', (_, groups) => {
    expect(waitForMore(groups, 0, DOCUMENTED)).toBeNull();
  });

  it('was of a second limit where as many are served again at once', () => {
    const groups = [group(0, 8, 1_000), group(1_130, 8, 1_000), group(2_260, 4, 57_000)];
    expect(secondLimitOf(groups, 0, DOCUMENTED)).toEqual({ requests: 8, backMs: 1_040 });
  });

  it('was of the documented limit where one after the other flows back, or a window has ended', () => {
    expect(secondLimitOf([group(0, 18, 3_000), group(3_240, 1, 3_000)], 0, DOCUMENTED)).toBeNull();
    expect(secondLimitOf([group(0, 19, 1_000), group(1_250, 19, 60_000)], 0, DOCUMENTED)).toBeNull();
  });
});

it('a second limit that the documents state shows by the few that are served again before the main limit', () => {
  const groups = [group(0, 8, 1_000), group(1_050, 2, 54_000)];
  expect(secondLimitOf(groups, 10, DOCUMENTED)).toBeNull();
  expect(secondLimitOf(groups, 10, DOCUMENTED, { requests: 8, windowMs: 1_000 })).toMatchObject({
    requests: 8,
  });
});

describe('another limit than the documented one', () => {
  const refused = (over: Partial<LimitObservation>) => at(0, 'refused', { part: 'serial', ...over });

  it('asks for a wait of several windows', () => {
    expect(isOfAnother(refused({ retryAfterMs: 3_600_000 }), DOCUMENTED)).toBe(true);
    expect(isOfAnother(refused({ retryAfterMs: 120_000 }), DOCUMENTED)).toBe(false);
  });

  it('is met by requests sent together where those before them met the documented one', () => {
    const together = refused({ part: 'parallel', retryAfterMs: 3_600_000 });
    expect(longerLimitMet([refused({ retryAfterMs: 50_000 }), together], DOCUMENTED)).toBe(true);
    expect(longerLimitMet([refused({ retryAfterMs: 3_600_000 }), together], DOCUMENTED)).toBe(false);
  });
});
