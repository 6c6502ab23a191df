import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { judge } from '../../harness/check/judge.ts';
import { loadServices } from '../../harness/config/load.ts';
import type { ServiceConfig } from '../../harness/config/service.ts';
import { DEADLINE_MS, proofClock } from '../../harness/proof/clock.ts';
import { type ReferenceProvider, startReference } from '../../harness/provider/reference/reference.ts';
import { openSession } from '../../harness/session/session.ts';
import { limits } from '../limits/limits.suite.ts';

/** A quota that somebody else spends as well: another run, a colleague, a dashboard. */

const CONFIG = fileURLToPath(new URL('../../config', import.meta.url));
/** What others ask for; counted like everything else. */
const OTHERS = '/v1/of-others';

const { services } = await loadServices({ configDir: CONFIG, env: {}, services: ['search'] });
const [loaded] = services;
if (loaded === undefined) throw new Error('the search service is not configured');
const config: ServiceConfig = {
  ...loaded.config,
  timeouts: { connectMs: DEADLINE_MS, responseMs: DEADLINE_MS },
  safety: { ...loaded.config.safety, exceedRateLimit: true, maxRequests: 2_000 },
};

interface Scene {
  readonly variant?: string;
  readonly defects?: readonly string[];
  /** Requests of others before the first of ours. */
  readonly before?: number;
  /** How often others ask after our request of that number. */
  readonly meanwhile?: (ours: number) => number;
}

interface Judged {
  readonly outcomes: Readonly<Record<string, string>>;
  readonly found: readonly string[];
  readonly observed: Readonly<Record<string, unknown>>;
}

async function askedByOthers({ url }: ReferenceProvider): Promise<void> {
  const response = await fetch(`${url}${OTHERS}`, {
    headers: { authorization: `Bearer ${config.credentials.secret?.reveal()}` },
  });
  await response.arrayBuffer();
}

async function judged({ variant, defects, before = 0, meanwhile = () => 0 }: Scene): Promise<Judged> {
  const clock = proofClock();
  let ours = 0;
  let others: Promise<unknown> = Promise.resolve();
  const provider = await startReference({
    service: 'search',
    credentials: config.credentials,
    plan: config.plan,
    variant: variant ?? null,
    defects: defects ?? [],
    clock: clock.provider,
    log: (entry) => {
      if (entry.path === OTHERS) return;
      ours += 1;
      for (let left = meanwhile(ours); left > 0; left -= 1)
        others = others.then(() => askedByOthers(provider));
    },
  });
  for (let sent = 0; sent < before; sent += 1) await askedByOthers(provider);
  const observed: Record<string, unknown> = {};
  const session = openSession({
    config,
    providerUrl: provider.url,
    runId: 'test',
    userAgent: 'conform/test',
    clock: clock.session,
    random: () => 0.5,
    record: (event) => {
      if (event.type === 'observation') observed[event.key] = event.value;
    },
  });
  const outcomes: Record<string, string> = {};
  const found: string[] = [];
  try {
    for (const check of limits.checks) {
      const { outcome, message } = await judge(check, session, {
        strict: false,
        signal: AbortSignal.timeout(60_000),
      });
      outcomes[check.id] = outcome;
      if (outcome === 'blocked') outcomes[check.id] = `blocked: ${message}`;
      if (['fail', 'warning', 'error'].includes(outcome)) found.push(`${check.id}: ${message}`);
    }
  } finally {
    await session.close();
    await others;
    await provider.stop();
  }
  return { outcomes, found, observed };
}

describe('a quota of which others have spent before', () => {
  it.each([
    ['a part, as its fields tell', 30, 'conforming'],
    ['one request', 1, 'conforming'],
    ['a part, and nothing tells', 30, 'no-quota-fields'],
    ['one request, and nothing tells', 1, 'no-quota-fields'],
    ['all of it', 100, 'conforming'],
    ['all of it, and nothing tells', 100, 'no-quota-fields'],
  ])('%s: is measured in a window of our own', async (_, before, variant) => {
    const { found, observed, outcomes } = await judged({
      before,
      ...(variant === 'conforming' ? {} : { variant }),
    });
    expect(found).toEqual([]);
    expect(outcomes).toMatchObject({ 'limits.exact': 'pass', 'limits.parallel': 'pass' });
    expect(observed['limits.first-refused']).toBe(101);
  });

  it.each(['limit-off-by-one-low', 'limit-counted-twice'])(
    'hides no fault of the service itself: %s',
    async (defect) => {
      for (const variant of ['no-quota-fields', null]) {
        const { found } = await judged({
          before: 20,
          defects: [defect],
          ...(variant ? { variant } : {}),
        });
        expect(found).toEqual([expect.stringMatching(/^limits\.exact: /)]);
      }
    },
  );
});

describe('a quota that others spend meanwhile', () => {
  it.each([
    ['now and then, as its fields tell', 'conforming', (ours: number) => (ours % 9 === 0 ? 1 : 0)],
    [
      'a few at times, and nothing tells',
      'no-quota-fields',
      (ours: number) => ({ 30: 10, 230: 25 })[ours] ?? 0,
    ],
  ])('%s: is blocked, and never a failure', async (_, variant, meanwhile) => {
    const { found, outcomes } = await judged({
      meanwhile,
      ...(variant === 'conforming' ? {} : { variant }),
    });
    expect(found).toEqual([]);
    expect(outcomes['limits.exact']).toMatch(/^blocked: others spend this quota/);
  });
});
