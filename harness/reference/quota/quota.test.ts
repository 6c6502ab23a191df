import { describe, expect, it } from 'vitest';
import { ask, started, VirtualClock } from '../fixtures/http-client.ts';
import type { QuotaPlan } from './limiter.ts';

const PLAN = { requests: 3, windowMs: 60_000 };

async function limited(plan: QuotaPlan | null = PLAN) {
  const clock = new VirtualClock(Date.UTC(2026, 2, 2, 10, 0, 0, 400));
  return { clock, provider: await started('search', { plan, clock }) };
}

// How many requests it admits, and whose, the proof shows.
describe('the quota', () => {
  it('is announced in the fields of draft 10, on every authorised answer', async () => {
    const { clock, provider } = await limited();
    const first = await ask(provider);
    expect(first.field('ratelimit-policy')).toBe('"default";q=3;w=60');
    expect(first.field('ratelimit')).toBe('"default";r=2;t=60');
    clock.advance(30_500);
    expect((await ask(provider, { target: '/nothing' })).field('ratelimit')).toBe('"default";r=1;t=30');
    expect((await ask(provider, { authorization: null })).field('ratelimit')).toBeUndefined();
  });

  it('is spent by every authorised request that reaches the service, however it is answered', async () => {
    const { provider } = await limited({ requests: 7, windowMs: 60_000 });
    await ask(provider, { method: 'HEAD' });
    await ask(provider, { method: 'OPTIONS' });
    await ask(provider, { method: 'DELETE' });
    await ask(provider, { method: 'BREW' });
    await ask(provider, { target: '/nothing' });
    await ask(provider, { target: '/v1/%zz' });
    expect((await ask(provider)).field('ratelimit')).toBe('"default";r=0;t=60');
  });

  it('is not spent by messages that are refused before anybody asks whose they are', async () => {
    const { provider } = await limited();
    await ask(provider, { target: `/?${'x'.repeat(9_000)}` });
    await ask(provider, { fields: [['X-Large', 'x'.repeat(20_000)]] });
    await ask(provider, { bare: true, fields: [['Connection', 'close']] });
    expect((await ask(provider)).field('ratelimit')).toBe('"default";r=2;t=60');
  });

  it('leaves out a window that is no whole number of seconds', async () => {
    const { provider } = await limited({ requests: 3, windowMs: 1_500 });
    const seen = await ask(provider);
    expect([seen.field('ratelimit-policy'), seen.field('ratelimit')]).toEqual([
      '"default";q=3',
      '"default";r=2;t=2',
    ]);
  });

  it('goes without fields where there is no plan', async () => {
    const { provider } = await limited(null);
    expect((await ask(provider)).field('ratelimit')).toBeUndefined();
  });
});

describe('realtime', () => {
  it('has a limit of its own where no plan is given', async () => {
    const provider = await started('realtime');
    expect(provider.plan).toEqual({ requests: 600, windowMs: 60_000 });
    expect((await ask(provider)).field('ratelimit-policy')).toBe('"default";q=600;w=60');
  });
});
