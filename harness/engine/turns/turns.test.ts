import { describe, expect, it } from 'vitest';
import { type Quota, type SharedTurns, Turns, type TurnsOptions } from './turns.ts';

const quota = (key: string, isOurs = false): Quota => ({ place: 'api.example', key, isOurs });

const QUOTAS = new Map([
  ['a', [quota('k1')]],
  ['b', [quota('k1'), quota('k2')]],
  ['c', [quota('k2')]],
  ['d', [quota('k3')]],
]);

function turnsOf(options: Partial<TurnsOptions> = {}) {
  const granted: string[] = [];
  const told: string[] = [];
  let now = 1_000;
  const turns = new Turns({
    quotas: QUOTAS,
    shared: null,
    waiting: (service, others) => told.push(`${service} for ${others.join(' and ')}`),
    now: () => now,
    ...options,
  });
  const take = (service: string) => {
    const turn = turns.take(service);
    void turn.then(() => granted.push(service));
    return turn;
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { turns, take, granted, told, pass };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  it('come one after the other for services that share a quota, in the order of asking', async () => {
    const { turns, take, granted, told } = turnsOf();
    for (const service of ['a', 'b', 'c', 'd']) void take(service);
    await settled();
    // c shares nothing with a, but b came before it.
    expect(granted).toEqual(['a', 'd']);
    expect(told).toEqual(['b for a']);
    await turns.give('a');
    await settled();
    expect(granted).toEqual(['a', 'd', 'b']);
    await turns.give('b');
    await settled();
    expect(granted).toEqual(['a', 'd', 'b', 'c']);
  });

  it('say how long ago the quota was spent, where that is known', async () => {
    const { turns, take, pass } = turnsOf();
    expect(await take('a')).toEqual({ usedAgoMs: null });
    await turns.give('a');
    pass(250);
    expect(await take('b')).toEqual({ usedAgoMs: 250 });
    expect(await take('d')).toEqual({ usedAgoMs: null });
  });

  it('are kept by a service that asks again, and given back once', async () => {
    const { turns, take, granted } = turnsOf();
    await take('a');
    await take('a');
    void take('b');
    await turns.give('a');
    await turns.give('a');
    await settled();
    expect(granted).toEqual(['a', 'a', 'b']);
  });

  it('are taken where machines share them as well, but for what is started for the run', async () => {
    const asked: string[] = [];
    const shared: SharedTurns = {
      take: async (quotas) => {
        asked.push(...quotas.map(({ key }) => key));
        return quotas.some(({ key }) => key === 'k3') ? { reason: 'it is away' } : { usedAgoMs: 40 };
      },
      give: async (quotas) => void asked.push(...quotas.map(({ key }) => `-${key}`)),
    };
    const { turns, take, pass } = turnsOf({
      shared,
      quotas: new Map([...QUOTAS, ['own', [quota('k9', true)]]]),
    });
    expect(await take('own')).toEqual({ usedAgoMs: null });
    expect(await take('a')).toEqual({ usedAgoMs: 40 });
    await turns.give('a');
    pass(10);
    expect(await take('b')).toEqual({ usedAgoMs: 10 });
    expect(await take('d')).toEqual({ reason: 'it is away' });
    expect(asked).toEqual(['k1', '-k1', 'k1', 'k2', 'k3']);
  });
});
