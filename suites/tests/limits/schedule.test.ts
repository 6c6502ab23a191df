import { describe, expect, it, onTestFinished } from 'vitest';
import { suitesFor } from '../../../harness/check/check.ts';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import type { ReferenceName, ServiceConfig } from '../../../harness/config/service.ts';
import { startReference } from '../../../harness/provider/reference/reference.ts';
import { estimate } from '../../../harness/run/rehearsal/estimate.ts';
import { simulatedClock } from '../../../harness/run/simulation/clock.ts';
import { suites } from '../../catalogue.ts';
import { judged } from '../fixtures/judged.ts';

/** How many windows of its plan a whole verdict takes, and requests, on a clock that both sides share. */

const WINDOW_MS = 60_000;

interface Measured {
  readonly windows: number;
  readonly sent: number;
  readonly handshakes: number;
  readonly outcomes: Readonly<Record<string, string>>;
  readonly messages: Readonly<Record<string, string>>;
}

interface Taken extends Measured {
  /** What is told before the run, in windows. */
  readonly told: number;
  readonly toldRequests: number;
  /** The same of a service of which nothing is known: where it tells what remains of its quota, and where it does not. */
  readonly toldOfOthers: readonly [number, number];
}

type Run = readonly [service: ReferenceName, requests: number, variant: string | null];

async function withPlan([service, requests, variant]: Run): Promise<ServiceConfig> {
  const { pacts: _, ...config } = await shipped(service);
  return {
    ...config,
    provider: { kind: 'reference', name: service, defects: [], variant },
    plan: { name: null, requests, windowMs: WINDOW_MS },
    safety: { ...config.safety, exceedRateLimit: true, maxRequests: 2_000 },
    facts: { ...config.facts, 'limits.rate': { value: { requests, window: '60s' }, origin: 'the test' } },
  };
}

/** When it begins, in ms behind a full minute, and what the service's clock is ahead of ours. */
interface Begin {
  readonly atMs?: number;
  readonly aheadMs?: number;
}

async function measured(
  config: ServiceConfig,
  [service, , variant]: Run,
  { atMs, aheadMs = 0 }: Begin = {},
): Promise<Measured> {
  const clock = simulatedClock(atMs);
  const { credentials, plan } = config;
  const ahead = { ...clock.provider, now: () => clock.provider.now() + aheadMs };
  const provider = await startReference({ service, credentials, plan, variant, clock: ahead });
  onTestFinished(async () => {
    await provider.stop();
    clock.stop();
  });
  const fromMs = clock.session.now();
  const { outcomes, messages, events, requests } = await judged(config, suitesFor(suites, config), {
    url: provider.url,
    clock: clock.session,
    random: () => 0.5,
  });
  const windows = (clock.session.now() - fromMs) / WINDOW_MS;
  const handshakes = events.filter((event) => event.type === 'evidence' && event.kind === 'handshake').length;
  return { windows, sent: requests, handshakes, outcomes, messages };
}

async function taken(run: Run): Promise<Taken> {
  const config = await withPlan(run);
  const { durationMs, requests } = await estimate(config, { suites, catalogue: 0 });
  const elsewhere = { ...config, provider: { kind: 'url', url: 'http://127.0.0.1:9' } } as const;
  const others = await estimate(elsewhere, { suites, catalogue: 0 });
  return {
    ...(await measured(config, run)),
    told: durationMs / WINDOW_MS,
    toldRequests: requests,
    toldOfOthers: [others.durationMs / WINDOW_MS, others.longestMs / WINDOW_MS],
  };
}

/** In windows, where no answer tells what remains: the limit is met early, to learn what each request takes of it. */
const LONGEST_UNTOLD = 2.2;

/** Service, plan and variant; at most so many windows, requests and handshakes. */
const MOST = [
  { service: 'search', requests: 100, variant: null, windows: 1.1, sent: 300, handshakes: 0 },
  { service: 'search', requests: 20, variant: null, windows: 4.1, sent: 190, handshakes: 0 },
  { service: 'realtime', requests: 100, variant: null, windows: 1.1, sent: 410, handshakes: 90 },
  { service: 'realtime', requests: 20, variant: null, windows: 4.1, sent: 310, handshakes: 90 },
  {
    service: 'realtime',
    requests: 100,
    variant: 'counts-handshakes',
    windows: 2.1,
    sent: 410,
    handshakes: 90,
  },
  {
    service: 'search',
    requests: 100,
    variant: 'no-quota-fields',
    windows: 2.1,
    sent: 330,
    handshakes: 0,
  },
  {
    service: 'realtime',
    requests: 100,
    variant: 'no-quota-fields',
    windows: LONGEST_UNTOLD,
    sent: 410,
    handshakes: 90,
  },
  {
    service: 'realtime',
    requests: 20,
    variant: 'no-quota-fields',
    windows: 9.2,
    sent: 300,
    handshakes: 90,
  },
] as const;

describe('a whole verdict', () => {
  it.each(MOST)(
    'of $service with a plan of $requests, $variant, takes $windows windows at the most',
    async ({ service, requests, variant, ...most }) => {
      const { windows, told, toldRequests, toldOfOthers, sent, handshakes, outcomes, messages } = await taken(
        [service, requests, variant],
      );
      const amiss = Object.keys(outcomes).filter((id) => !SOUND.has(outcomes[id] ?? ''));
      expect(amiss).toEqual([]);
      expect(messages['limits.exact']).toContain(`request ${requests + 1} is the first refused`);
      expect(windows).toBeLessThanOrEqual(most.windows);
      expect(Math.abs(windows / told - 1), `told ${told}, took ${windows}`).toBeLessThan(0.15);
      const [least, longest] = toldOfOthers;
      expect(windows).toBeGreaterThan(0.85 * least);
      expect(windows).toBeLessThan(1.15 * longest);
      if (variant === null) expect(windows).toBeLessThan(1.15 * least);
      if (variant === 'no-quota-fields') expect(windows).toBeGreaterThan(0.85 * longest);
      expect(Math.abs(toldRequests / sent - 1), `told ${toldRequests}, sent ${sent}`).toBeLessThanOrEqual(
        0.1,
      );
      expect(sent).toBeLessThanOrEqual(most.sent);
      expect(handshakes).toBeLessThanOrEqual(most.handshakes);
    },
  );

  // About 33 s behind it, a window of the clock ends right behind the burst.
  it.each([0, 30_000, 33_000, 36_000, 55_000])(
    'of a service that tells no quota takes no longer where it begins %s ms behind the minute',
    async (atMs) => {
      const { windows, messages } = await measured(await withPlan(UNTOLD), UNTOLD, { atMs });
      expect(messages['limits.exact']).toContain('request 101 is the first refused');
      expect(windows).toBeLessThanOrEqual(LONGEST_UNTOLD);
    },
  );

  it('of a service whose clock is known to the second alone takes less than a window more where one ends by the burst', async () => {
    const begin = { atMs: 28_000, aheadMs: 5_300 };
    const { windows, messages } = await measured(await withPlan(UNTOLD), UNTOLD, begin);
    expect(messages['limits.exact']).toBe('request 101 is the first refused');
    expect(windows).toBeLessThanOrEqual(LONGEST_UNTOLD + 1);
  });
});

const UNTOLD: Run = ['realtime', 100, 'no-quota-fields'];

/** A conforming service has no others. */
const SOUND: ReadonlySet<string> = new Set(['pass', 'observed', 'skipped']);
