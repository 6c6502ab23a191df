import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { UsageError } from '../../base/exit.ts';
import { freePort } from '../../base/loopback.ts';
import { NO_REDIS, type RedisServer, startRedis } from '../fixtures/redis-server.ts';
import { openTurnStore, storeAddress, type TurnStore, type TurnStoreOptions } from './turn-store.ts';
import type { Quota } from './turns.ts';

const quota = (key: string): Quota => ({ place: 'api.example', key, isOurs: false });
/** So long that nobody loses a turn by a slow machine. */
const LEASE_MS = 60_000;

async function runner(url: string, options: Partial<TurnStoreOptions> = {}): Promise<TurnStore> {
  const store = await openTurnStore({
    address: storeAddress(url, 'the test'),
    lost: () => {},
    signal: new AbortController().signal,
    leaseMs: LEASE_MS,
    ...options,
  });
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(NO_REDIS)('turns in a store', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it('come to one runner after the other, who hears how long ago the quota was spent', async () => {
    const [one, other] = [await runner(redis.url), await runner(redis.url)];
    expect(await one.take([quota('first')])).toEqual({ usedAgoMs: null });
    expect(await other.take([quota('of another')])).toEqual({ usedAgoMs: null });
    let isTheirs = false;
    const turn = other.take([quota('second'), quota('first')]).then((got) => {
      isTheirs = true;
      return got;
    });
    // It is asked again by then: what is said here goes over the same server.
    expect(await one.take([quota('first')])).toMatchObject({ usedAgoMs: null });
    expect(isTheirs).toBe(false);
    await one.give([quota('first')]);
    const { usedAgoMs } = (await turn) as { usedAgoMs: number };
    expect(usedAgoMs).toBeGreaterThanOrEqual(0);
    expect(usedAgoMs).toBeLessThan(LEASE_MS);
  });

  it('are had for a while by a runner that was killed, and no key is stored', async () => {
    const store = await runner(redis.url);
    await store.take([quota('a-key-of-somebody')]);
    const client = createClient({ url: redis.url });
    await client.connect();
    onTestFinished(() => client.destroy());
    const names = await client.keys('*');
    expect(names.join()).not.toContain('a-key');
    const left = await Promise.all(
      names.filter((name) => name.endsWith(':turn')).map((name) => client.pTTL(name)),
    );
    for (const ms of left) {
      expect(ms).toBeGreaterThan(0);
      expect(ms).toBeLessThanOrEqual(LEASE_MS);
    }
  });

  it('are not waited for without end', async () => {
    const [one, other] = [await runner(redis.url), await runner(redis.url, { longestWaitMs: 0 })];
    await one.take([quota('held')]);
    expect(await other.take([quota('held')])).toEqual({
      reason: expect.stringMatching(
        /^another runner had the quota for 0 s, as the store at 127\.0\.0\.1:\d+ says$/,
      ),
    });
    const ended = new AbortController();
    ended.abort();
    const third = await runner(redis.url, { signal: ended.signal });
    expect(await third.take([quota('held')])).toEqual({ reason: 'the run was ended' });
  });

  it('are refused where the store went away, and whoever had one is told', async () => {
    const away = await startRedis('not-a-secret-of-anybody');
    const lost = Promise.withResolvers<string>();
    const store = await runner(away.url, { leaseMs: 3_000, lost: lost.resolve });
    expect(await store.take([quota('k')])).toEqual({ usedAgoMs: null });
    await away.stop();
    expect(await lost.promise).toMatch(
      /^the store of shared quotas at 127\.0\.0\.1:\d+ was away for more than 3 s: from then on another runner may/,
    );
    expect(await store.take([quota('k')])).toEqual({
      reason: expect.stringMatching(/^the store of shared quotas at 127\.0\.0\.1:\d+ is away: /),
    });
  });

  it('are not begun with where the store cannot be used, and no password is told', async () => {
    const away = `redis://:not-a-secret-of-anybody@127.0.0.1:${await freePort()}`;
    await expect(runner(away)).rejects.toThrow(
      /^the store of shared quotas at 127\.0\.0\.1:\d+ cannot be used: connect ECONNREFUSED/,
    );
    const guarded = await startRedis('not-a-secret-of-anybody');
    onTestFinished(() => guarded.stop());
    const wrong = guarded.url.replace('not-a', 'no');
    const refusal: unknown = await runner(wrong).catch((error) => error);
    expect(refusal).toBeInstanceOf(UsageError);
    expect(String(refusal)).toMatch(/WRONGPASS/);
    expect(String(refusal)).not.toMatch(/secret-of/);
  });
});

describe('the address of a store', () => {
  it.for([
    ['redis://cache.example', { url: 'redis://cache.example', host: 'cache.example:6379', password: null }],
    [
      'valkeys://u:p%40ss@cache.example:7000/2',
      { url: 'rediss://u:p%40ss@cache.example:7000/2', host: 'cache.example:7000', password: 'p@ss' },
    ],
  ] as const)('may be %s', ([text, address]) => {
    expect(storeAddress(text, 'CONFORM_SHARE_QUOTA')).toEqual(address);
  });

  it.for(['cache.example:6379', 'http://cache.example', 'redis://', 'yes'])('may not be %s', (text) => {
    expect(() => storeAddress(text, 'CONFORM_SHARE_QUOTA')).toThrow(
      /^CONFORM_SHARE_QUOTA is no address of a Redis or Valkey server/,
    );
  });
});
