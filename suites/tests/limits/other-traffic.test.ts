import { describe, expect, it } from 'vitest';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { type RunningReference, startReference } from '../../../harness/reference/reference.ts';
import { limits } from '../../limits/limits.suite.ts';
import { amiss, judged } from '../fixtures/judged.ts';

/** A quota that somebody else spends as well: another run, a colleague, a dashboard. */

/** What others ask for; counted like everything else. */
const OTHERS = '/v1/of-others';

const search = await shipped('search');
const config: ServiceConfig = {
  ...search,
  safety: { ...search.safety, exceedRateLimit: true, maxRequests: 2_000 },
};

interface Scene {
  /** A minute; 40 when left out. */
  readonly requests?: number;
  readonly variant?: string | null;
  readonly defects?: readonly string[];
  /** Requests of others before the first of ours. */
  readonly before?: number;
  /** How often others ask after our request of that number. */
  readonly meanwhile?: (ours: number) => number;
}

async function askedByOthers({ url }: RunningReference): Promise<void> {
  const response = await fetch(`${url}${OTHERS}`, {
    headers: { authorization: `Bearer ${config.credentials.secret?.reveal()}` },
  });
  await response.arrayBuffer();
}

/** What is found of a quota that others spend as well. */
async function shared(scene: Scene) {
  const { requests = 40, variant = null, defects = [], before = 0, meanwhile = () => 0 } = scene;
  const plan = { name: 'test', requests, windowMs: 60_000 };
  const clock = simulatedClock();
  let ours = 0;
  let others: Promise<unknown> = Promise.resolve();
  const provider = await startReference({
    service: 'search',
    credentials: config.credentials,
    plan,
    variant,
    defects,
    clock,
    log: (entry) => {
      if (entry.path === OTHERS) return;
      ours += 1;
      for (let left = meanwhile(ours); left > 0; left -= 1)
        others = others.then(() => askedByOthers(provider));
    },
  });
  for (let sent = 0; sent < before; sent += 1) await askedByOthers(provider);
  const all = await judged({ ...config, plan }, [limits], {
    url: provider.url,
    clock,
    random: () => 0.5,
  }).finally(async () => {
    await others;
    await provider.stop();
    clock.stop();
  });
  return { ...all, found: amiss(all) };
}

describe('a quota of which others have spent before', () => {
  it.each([
    ['a part, as its fields tell', 12, null],
    ['one request', 1, null],
    ['a part, and nothing tells', 12, 'no-quota-fields'],
    ['one request, and nothing tells', 1, 'no-quota-fields'],
    ['all of it', 40, null],
    ['all of it, and nothing tells', 40, 'no-quota-fields'],
  ])('%s: is measured in a window of our own', async (_, before, variant) => {
    const { found, observations, outcomes } = await shared({ before, variant });
    expect(found).toEqual([]);
    expect(outcomes).toMatchObject({ 'limits.exact': 'pass', 'limits.parallel': 'pass' });
    expect(observations['limits.first-refused']).toBe(41);
  });

  it.each(['limit-off-by-one-low', 'limit-counted-twice'])(
    'hides no fault of the service itself: %s',
    async (defect) => {
      for (const variant of ['no-quota-fields', null]) {
        const { found } = await shared({ before: 8, defects: [defect], variant });
        expect(found).toEqual(['limits.exact']);
      }
    },
  );
});

describe('a quota that others spend meanwhile', () => {
  it.each([
    ['now and then, as its fields tell', 40, null, (ours: number) => (ours % 9 === 0 ? 1 : 0)],
    [
      // Never as many in two counts.
      'a few at times and then more, and nothing tells',
      100,
      'no-quota-fields',
      (ours: number) => (ours % 50 === 0 ? ours / 10 : 0),
    ],
  ])('%s: is blocked, and never a failure', async (_, requests, variant, meanwhile) => {
    const { found, outcomes, messages } = await shared({ requests, meanwhile, variant });
    expect(found).toEqual([]);
    expect(outcomes['limits.exact']).toBe('blocked');
    expect(messages['limits.exact']).toMatch(/^others spend this quota/);
  });

  it('once, and nothing tells: is counted again of a fresh quota', async () => {
    const meanwhile = (ours: number) => (ours === 30 ? 10 : 0);
    const { found, outcomes } = await shared({ variant: 'no-quota-fields', meanwhile });
    expect(found).toEqual([]);
    expect(outcomes['limits.exact']).toBe('pass');
  });
});
