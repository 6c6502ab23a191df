import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SpareTime } from './capacity.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Three that want to begin, in a process that is so busy. */
async function three(busyShare: () => number) {
  const spare = new SpareTime(busyShare);
  const begun: string[] = [];
  for (const name of ['first', 'second', 'third']) void spare.turn().then(() => begun.push(name));
  await vi.advanceTimersByTimeAsync(0);
  return begun;
}

describe('those who want to begin', () => {
  it('begin one after the other where there is time to spare', async () => {
    const begun = await three(() => 0.5);
    expect(begun).toEqual(['first']);
    await vi.advanceTimersByTimeAsync(50);
    expect(begun).toEqual(['first', 'second']);
    await vi.advanceTimersByTimeAsync(50);
    expect(begun).toEqual(['first', 'second', 'third']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('wait for as long as there is none, but not without end', async () => {
    let busyShare = 1;
    const begun = await three(() => busyShare);
    await vi.advanceTimersByTimeAsync(29_950);
    expect(begun).toEqual(['first']);
    await vi.advanceTimersByTimeAsync(50);
    expect(begun).toEqual(['first', 'second']);
    busyShare = 0;
    await vi.advanceTimersByTimeAsync(50);
    expect(begun).toEqual(['first', 'second', 'third']);
  });
});
