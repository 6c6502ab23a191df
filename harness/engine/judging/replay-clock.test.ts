import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { replayClock } from './replay-clock.ts';

it('time stands still where the only wait is given up, and goes on with the next one', async () => {
  const clock = replayClock(1000, new Date('2026-01-01T00:00:00.000Z'));
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
