import { afterEach, describe, expect, it } from 'vitest';
import { ask, askTimes, SECOND_KEY, start, statuses, VirtualClock } from '../fixtures/http-client.ts';
import type { ReferenceProvider } from '../reference.ts';

const PLAN = { requests: 3, windowMs: 60_000 };

let provider: ReferenceProvider;
let clock: VirtualClock;

async function limited(plan: { requests: number; windowMs: number } | null = PLAN): Promise<void> {
  clock = new VirtualClock(Date.UTC(2026, 2, 2, 10, 0, 0, 400));
  provider = await start('search', { plan, clock });
}

afterEach(async () => {
  await provider.stop();
  expect(provider.faults).toEqual([]);
});

describe('the quota', () => {
  it('admits exactly its plan, then refuses with 429 until the window ends', async () => {
    await limited();
    expect(statuses(await askTimes(provider, 5))).toEqual([200, 200, 200, 429, 429]);
    clock.advance(59_999);
    expect((await ask(provider)).status).toBe(429);
    clock.advance(1);
    expect(statuses(await askTimes(provider, 4))).toEqual([200, 200, 200, 429]);
  });

  it('is announced in the fields of draft 10, on every authorised answer', async () => {
    await limited();
    const first = await ask(provider);
    expect(first.field('ratelimit-policy')).toBe('"default";q=3;w=60');
    expect(first.field('ratelimit')).toBe('"default";r=2;t=60');
    clock.advance(30_500);
    expect((await ask(provider, { target: '/nothing' })).field('ratelimit')).toBe('"default";r=1;t=30');
    expect((await ask(provider, { authorization: null })).field('ratelimit')).toBeUndefined();
  });

  it('refuses with a problem, and says when to come back, never too early', async () => {
    await limited();
    await askTimes(provider, 3);
    clock.advance(17_200);
    const refused = await ask(provider);
    expect(refused.field('retry-after')).toBe('43');
    expect(refused.field('ratelimit')).toBe('"default";r=0;t=43');
    expect(refused.field('cache-control')).toBe('no-store');
    expect(refused.field('content-type')).toBe('application/problem+json');
    expect(refused.json).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      status: 429,
      'violated-policies': ['default'],
    });
  });

  it('is not spent by refusals, whatever they are for', async () => {
    await limited();
    for (const authorization of [null, 'Bearer wrong', 'Bearer ']) await ask(provider, { authorization });
    await askTimes(provider, 6);
    clock.advance(60_000);
    expect((await ask(provider)).field('ratelimit')).toBe('"default";r=2;t=60');
  });

  it('is spent by every authorised request that reaches the service, however it is answered', async () => {
    await limited({ requests: 7, windowMs: 60_000 });
    await ask(provider, { method: 'HEAD' });
    await ask(provider, { method: 'OPTIONS' });
    await ask(provider, { method: 'DELETE' });
    await ask(provider, { method: 'BREW' });
    await ask(provider, { target: '/nothing' });
    await ask(provider, { target: '/v1/%zz' });
    expect((await ask(provider)).field('ratelimit')).toBe('"default";r=0;t=60');
  });

  it('is not spent by messages that are refused before anybody asks whose they are', async () => {
    await limited();
    await ask(provider, { target: `/?${'x'.repeat(9_000)}` });
    await ask(provider, { fields: [['X-Large', 'x'.repeat(20_000)]] });
    await ask(provider, { bare: true, fields: [['Connection', 'close']] });
    expect((await ask(provider)).field('ratelimit')).toBe('"default";r=2;t=60');
  });

  it('is each key’s own', async () => {
    await limited();
    await askTimes(provider, 4);
    const other = await ask(provider, { authorization: `Bearer ${SECOND_KEY}` });
    expect([other.status, other.field('ratelimit')]).toEqual([200, '"default";r=2;t=60']);
  });

  it('counts alike however the credential is written', async () => {
    await limited();
    await ask(provider);
    const key = await ask(provider, {
      authorization: 'bearer   example-key-for-tests',
      target: '/v1/resources?x=1',
    });
    expect(key.field('ratelimit')).toBe('"default";r=1;t=60');
  });

  it('admits no more of a concurrent burst than of a serial one', async () => {
    await limited();
    const burst = await Promise.all(Array.from({ length: 12 }, () => ask(provider)));
    expect(statuses(burst).filter((status) => status === 200)).toHaveLength(3);
  });

  it('leaves out a window that is no whole number of seconds', async () => {
    await limited({ requests: 3, windowMs: 1_500 });
    const seen = await ask(provider);
    expect([seen.field('ratelimit-policy'), seen.field('ratelimit')]).toEqual([
      '"default";q=3',
      '"default";r=2;t=2',
    ]);
  });

  it('goes without fields where there is no plan', async () => {
    await limited(null);
    expect((await ask(provider)).field('ratelimit')).toBeUndefined();
  });
});

describe('realtime', () => {
  it('has a limit of its own where no plan is given', async () => {
    provider = await start('realtime');
    expect(provider.plan).toEqual({ requests: 600, windowMs: 60_000 });
    expect((await ask(provider)).field('ratelimit-policy')).toBe('"default";q=600;w=60');
  });
});
