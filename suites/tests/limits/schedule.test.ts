import { describe, expect, it, onTestFinished } from 'vitest';
import { withPlan } from '../../../harness/config/blocks/facts.ts';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import type { ReferenceName, ServiceConfig } from '../../../harness/config/service.ts';
import { suitesFor } from '../../../harness/engine/check/check.ts';
import { estimate } from '../../../harness/engine/estimate.ts';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { startReference } from '../../../harness/reference/reference.ts';
import { evidenceFromJson } from '../../../harness/wire/evidence.ts';
import { suites } from '../../catalogue.ts';
import { findings, type Judged, judged } from '../fixtures/judged.ts';

/** How many windows of its plan a whole verdict takes, and requests, on a clock that both sides share. */

const WINDOW_MS = 60_000;

type Run = readonly [service: ReferenceName, requests: number, variant: string | null];

async function configOf([service, requests, variant]: Run): Promise<ServiceConfig> {
  const { pacts: _, ...config } = await shipped(service);
  const allowed = {
    ...config,
    provider: { kind: 'reference', name: service, defects: [], variant } as const,
    safety: { ...config.safety, exceedRateLimit: true, maxRequests: 2_000 },
  };
  return withPlan(allowed, { name: null, requests, windowMs: WINDOW_MS }, 'the test');
}

/** When it begins, in ms behind a full minute, and what the service's clock is ahead of ours. */
interface Begin {
  readonly atMs?: number;
  readonly aheadMs?: number;
}

async function measured(config: ServiceConfig, [service, , variant]: Run, { atMs, aheadMs = 0 }: Begin = {}) {
  const clock = simulatedClock({ phaseMs: atMs });
  const { credentials, plan } = config;
  const ahead = { ...clock, wallNow: () => new Date(clock.wallNow().getTime() + aheadMs) };
  const provider = await startReference({ service, credentials, plan, variant, clock: ahead });
  onTestFinished(async () => {
    await provider.stop();
    clock.stop();
  });
  const fromMs = clock.now();
  const all = await judged(config, suitesFor(suites, config), {
    url: provider.url,
    clock,
    random: () => 0.5,
  });
  const windows = (clock.now() - fromMs) / WINDOW_MS;
  return { ...all, exact: all.messages['limits.exact'], windows };
}

/** In windows, where no answer tells what remains: the limit is met early, to learn what each request takes of it. */
const LONGEST_UNTOLD = 2.2;

/** What the burst met is recorded before it. */
const TO_MEET = 'to meet the rate limit';

/** Service, plan and variant; at most so many windows, requests and handshakes. */
const MOST: readonly (readonly [...Run, windows: number, sent: number, handshakes: number])[] = [
  ['search', 100, null, 1.1, 335, 0],
  ['search', 20, null, 5.1, 250, 0],
  ['realtime', 100, null, 1.1, 460, 96],
  ['realtime', 20, null, 5.1, 340, 96],
  ['realtime', 100, 'counts-handshakes', 2.1, 440, 96],
  ['search', 100, 'no-quota-fields', 2.1, 375, 0],
  ['realtime', 100, 'no-quota-fields', LONGEST_UNTOLD, 460, 96],
  ['realtime', 20, 'no-quota-fields', 9.2, 345, 96],
];

/** Purposes of what was refused before the limit was exceeded on purpose. */
function refusedBeforeBurst({ events }: Pick<Judged, 'events'>): readonly string[] {
  const evidence = events.flatMap((event) =>
    event.type === 'evidence' ? [evidenceFromJson(event.value)] : [],
  );
  const burst = evidence.findIndex(({ kind }) => kind === 'burst');
  return evidence
    .slice(0, burst)
    .flatMap((each) =>
      each.kind === 'exchange' && each.response?.status === 429 && each.purpose !== TO_MEET
        ? [each.purpose]
        : [],
    );
}

describe('a whole verdict', () => {
  it.each(MOST)('of %s with a plan of %i, %s, takes %d windows at the most', async (...row) => {
    const [service, requests, variant, mostWindows, mostSent, mostHandshakes] = row;
    const config = await configOf([service, requests, variant]);
    const told = estimate(config, { suites, catalogue: 0 });
    const all = await measured(config, [service, requests, variant]);
    const { windows, requests: sent } = all;
    expect(findings(all)).toEqual([]);
    expect(refusedBeforeBurst(all)).toEqual([]);
    expect(all.exact).toContain(`request ${requests + 1} is the first refused`);
    expect(windows).toBeLessThanOrEqual(mostWindows);
    expect(windows * WINDOW_MS).toBeLessThanOrEqual(1.1 * told.longestMs);
    expect(sent).toBeLessThanOrEqual(told.requests);
    expect(sent).toBeLessThanOrEqual(mostSent);
    const handshakes = all.events.filter((event) => event.type === 'evidence' && event.kind === 'handshake');
    expect(handshakes.length).toBeLessThanOrEqual(mostHandshakes);
  });

  // About 33 s behind it, a window of the clock ends right behind the burst.
  it.each([0, 30_000, 33_000, 36_000, 55_000])(
    'of a service that tells no quota takes no longer where it begins %s ms behind the minute',
    async (atMs) => {
      const { windows, exact } = await measured(await configOf(UNTOLD), UNTOLD, { atMs });
      expect(exact).toContain('request 101 is the first refused');
      expect(windows).toBeLessThanOrEqual(LONGEST_UNTOLD);
    },
  );

  it('of a service whose clock is known to the second alone takes less than a window more where one ends by the burst', async () => {
    const begin = { atMs: 28_000, aheadMs: 5_300 };
    const { windows, exact } = await measured(await configOf(UNTOLD), UNTOLD, begin);
    expect(exact).toBe('request 101 is the first refused');
    expect(windows).toBeLessThanOrEqual(LONGEST_UNTOLD + 1);
  });
});

const UNTOLD: Run = ['realtime', 100, 'no-quota-fields'];
