import { expect, it } from 'vitest';
import { turnClock } from './fixtures/turn-clock.ts';
import { leapsAfter, turnOfLoop, virtualClock } from './virtual-clock.ts';

/** Keeps this process from doing anything else. */
function hog(ms: number): void {
  for (const endsMs = performance.now() + ms; performance.now() < endsMs; );
}

it('time stands still where the only wait is given up, and goes on with the next one', async () => {
  const clock = virtualClock({
    beginMs: 1000,
    beginAt: new Date('2026-01-01T00:00:00.000Z'),
    passage: leapsAfter(3),
  });
  const given = new AbortController();
  const ended = clock.sleep(10_000, given.signal).catch(() => 'given up');
  await turnOfLoop();
  given.abort();
  expect(await ended).toBe('given up');
  for (let turn = 0; turn < 10; turn += 1) await turnOfLoop();
  expect(clock.now()).toBe(1000);
  await clock.sleep(5000);
  expect(clock.now()).toBe(6000);
  expect(clock.wallNow()).toEqual(new Date('2026-01-01T00:00:05.000Z'));
});

it('shows a later time whenever it is asked, if it is to', () => {
  const clock = turnClock();
  const shown = Array.from({ length: 50 }, () => clock.now());
  expect(shown.every((each, at) => at === 0 || each > (shown[at - 1] ?? each))).toBe(true);
});

it('that counts turns of the loop keeps a wait whole, however long those take', async () => {
  const clock = turnClock();
  let turns = 0;
  const turn = () => {
    hog(20);
    turns += 1;
    turning = setImmediate(turn);
  };
  let turning = setImmediate(turn);
  const before = clock.now();
  await Promise.all([clock.sleep(50), clock.sleep(120)]);
  clearImmediate(turning);
  expect(turns).toBeGreaterThanOrEqual(8);
  expect(clock.now() - before).toBeGreaterThanOrEqual(120);
  expect(clock.now() - before).toBeLessThan(1_000);
});

it('that counts turns keeps no thread alive by a wait that nothing ends', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
  const before = timers();
  const clock = turnClock();
  void clock.sleep(600_000);
  await turnOfLoop();
  expect(timers()).toBe(before);
  clock.stop();
});
