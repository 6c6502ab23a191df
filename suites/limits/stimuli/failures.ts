import { type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Burst } from '../../../harness/wire/evidence.ts';
import type { Exchange } from '../../../harness/wire/exchange.ts';
import { isLimitersRefusal } from '../../../harness/wire/limit/observed/observation.ts';
import { limitMeasurement } from './measurement.ts';

/** Answers of the bursts that were failures of the moment: no refusals, for the next requests were served at once. */
export interface BurstFailures {
  /** The status of the first of them; null where there were none. */
  readonly status: number | null;
  readonly count: number;
  /** How many requests of bursts were not refused. */
  readonly of: number;
  readonly evidence: string;
}

/** RFC 9110 §15.6.4: a limiter may refuse with it as well. */
const UNAVAILABLE = 503;
/** By chance a window of some limiter ends right behind one refusal; not behind two. */
const FEWEST_UNAVAILABLE = 2;

export const burstFailures: Probe<BurstFailures> = probe(
  'burst-failures',
  { needs: [limitMeasurement] },
  async ({ ask, quota }) => {
    const { evidence: measured } = await ask(limitMeasurement);
    const evidence = quota.evidenceSoFar();
    const bursts = evidence.filter((each): each is Burst => each.kind === 'burst');
    const ids = new Set(bursts.flatMap(({ faults = [] }) => faults));
    const failed = evidence.filter(
      (each): each is Exchange =>
        each.kind === 'exchange' && ids.has(each.id) && !isLimitersRefusal(each, quota.refusal),
    );
    const unavailable = failed.filter(({ response }) => response?.status === UNAVAILABLE).length;
    const told = failed.filter(
      ({ response }) => response?.status !== UNAVAILABLE || unavailable >= FEWEST_UNAVAILABLE,
    );
    const [first] = told;
    const refused = quota.refusal?.status ?? null;
    const unrefused = bursts.flatMap(({ entries }) => entries).filter(({ status }) => status !== refused);
    return {
      status: first?.response?.status ?? null,
      count: told.length,
      of: unrefused.length,
      evidence: first?.id ?? bursts[0]?.id ?? measured,
    };
  },
);
