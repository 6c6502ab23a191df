import { describe, expect, it } from 'vitest';
import { DEADLINE_MS, proofClock } from './proof-clock.ts';

describe('the clock of the proof', () => {
  it('leaps over a wait, on both sides', async () => {
    const { session, provider } = proofClock();
    const [before, there] = [session.now(), provider.now()];
    const real = performance.now();
    await session.sleep(60_000);
    expect(session.now() - before).toBeGreaterThanOrEqual(60_000);
    expect(provider.now() - there).toBeGreaterThanOrEqual(60_000);
    expect(performance.now() - real).toBeLessThan(60_000);
  });

  it('has a wall clock that goes with it', async () => {
    const { session } = proofClock();
    const before = session.wallNow().getTime();
    await session.sleep(3_600_000 / 10);
    expect(session.wallNow().getTime() - before).toBeGreaterThanOrEqual(359_999);
  });

  it('lets waits that overlap end together', async () => {
    const { session } = proofClock();
    const before = session.now();
    await Promise.all([session.sleep(1_000), session.sleep(2_000), session.sleep(2_000)]);
    expect(session.now() - before).toBeLessThan(2_900);
  });

  it('does not leap over a deadline, which can be called off', async () => {
    const { session } = proofClock();
    const over = new AbortController();
    const before = session.now();
    const deadline = session.sleep(DEADLINE_MS, over.signal);
    over.abort(new Error('over'));
    await expect(deadline).rejects.toThrow('over');
    expect(session.now() - before).toBeLessThan(DEADLINE_MS);
  });
});
