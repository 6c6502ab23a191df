import { describe, expect, it, onTestFinished } from 'vitest';
import { DEADLINE_MS, proofClock } from './clock.ts';

function clock(leaps: boolean) {
  const opened = proofClock({ leaps });
  onTestFinished(() => opened.stop());
  return opened;
}

/** Keeps this process from doing anything else. */
function hog(ms: number): void {
  for (const endsMs = performance.now() + ms; performance.now() < endsMs; );
}

describe('the clock of the proof', () => {
  it('leaps over a wait, on both sides', async () => {
    const { session, provider } = clock(true);
    const [before, there] = [session.now(), provider.now()];
    const real = performance.now();
    await session.sleep(60_000);
    expect(session.now() - before).toBeGreaterThanOrEqual(60_000);
    expect(provider.now() - there).toBeGreaterThanOrEqual(60_000);
    expect(performance.now() - real).toBeLessThan(60_000);
  });

  it('has a wall clock that goes with it', async () => {
    const { session } = clock(true);
    const before = session.wallNow().getTime();
    await session.sleep(3_600_000 / 10);
    expect(session.wallNow().getTime() - before).toBeGreaterThanOrEqual(359_999);
  });

  it('lets waits that overlap end together', async () => {
    const { session } = clock(true);
    const before = session.now();
    await Promise.all([session.sleep(1_000), session.sleep(2_000), session.sleep(2_000)]);
    expect(session.now() - before).toBeLessThan(2_900);
  });

  it('does not leap over a deadline, which can be called off', async () => {
    const { session } = clock(true);
    const over = new AbortController();
    const before = session.now();
    const deadline = session.sleep(DEADLINE_MS, over.signal);
    over.abort(new Error('over'));
    await expect(deadline).rejects.toThrow('over');
    expect(session.now() - before).toBeLessThan(DEADLINE_MS);
  });

  it('does not count the time in which this process does something else', async () => {
    const { session, provider } = clock(false);
    const [before, there] = [session.now(), provider.now()];
    hog(300);
    expect(session.now() - before).toBeLessThan(100);
    await session.sleep(1);
    expect(provider.now() - there).toBeLessThan(100);
  });

  it('shows a later time whenever it is asked, however long a turn takes', () => {
    const { session } = clock(false);
    const shown: number[] = [];
    for (let time = 0; time < 50; time += 1) {
      shown.push(session.now());
      hog(1);
    }
    expect(shown.every((each, at) => at === 0 || each > (shown[at - 1] ?? each))).toBe(true);
  });

  it('lets a wait last for some turns of the event loop, however long those take', async () => {
    const { session, provider } = clock(false);
    let turns = 0;
    const turn = () => {
      hog(20);
      turns += 1;
      turning = setImmediate(turn);
    };
    let turning = setImmediate(turn);
    await Promise.all([session.sleep(50), provider.sleep(50)]);
    clearImmediate(turning);
    expect(turns).toBeGreaterThanOrEqual(8);
  });

  it('keeps a wait whole where it does not leap, on both sides', async () => {
    const { session, provider } = clock(false);
    const [before, there] = [session.now(), provider.now()];
    await Promise.all([session.sleep(120), provider.sleep(120)]);
    expect(session.now() - before).toBeGreaterThanOrEqual(120);
    expect(provider.now() - there).toBeGreaterThanOrEqual(120);
    expect(session.now() - before).toBeLessThan(1_000);
  });

  it('keeps no thread alive by a wait that nobody ends', () => {
    const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
    const before = timers();
    const { session, provider } = clock(false);
    void session.sleep(DEADLINE_MS);
    void provider.sleep(DEADLINE_MS);
    expect(timers()).toBe(before);
  });
});
