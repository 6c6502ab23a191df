import type { Reply } from '../../evidence/exchange/reply.ts';
import { resetFault, retryAfterFault } from '../../evidence/limit/honesty.ts';
import { type Probe, probe } from '../../session.ts';
import { limitMeasurement } from './measurement.ts';
import { planOf, refusal } from './quota.ts';

export interface Recovery {
  /** The plan's window in words: `60 s`. */
  readonly window: string;
  /** What a refusal asked to wait, in ms; null without a valid Retry-After. */
  readonly retryAfterMs: number | null;
  /** What was wrong with that; null when it was honest. */
  readonly dishonesty: string | null;
  /** What was wrong with the reset that refusals told; null when it was honest. */
  readonly resetDishonesty: string | null;
  /** Whether refused requests put the end of the wait off; null where nothing tells. */
  readonly putOff: boolean | null;
  /** Requests sent alone after the refusal, until one was served. */
  readonly attempts: number;
  /** From the refusal to the first served request; null when it never came. */
  readonly servedAfterMs: number | null;
  readonly waitedMs: number;
  readonly evidence: string;
}

/** How the quota came back: told by requests sent alone, each at the earliest moment that can tell something. */
export const recovery: Probe<Recovery> = probe('recovery', async ({ ask, config }) => {
  const met = await ask(refusal);
  const { observations, inference, probes } = await ask(limitMeasurement);
  const { windowMs } = planOf(config);
  const refusedAt = endOf(met);
  const served = probes.find((each) => each.served);
  const refused = probes.filter((each) => !each.served && each.answered);
  const told = [met, ...refused].find(({ response }) => response.retryAfterMs !== null);
  return {
    window: `${windowMs / 1000} s`,
    retryAfterMs: told?.response.retryAfterMs ?? null,
    dishonesty: retryAfterFault(observations, windowMs, inference),
    resetDishonesty: resetFault(observations, windowMs, inference),
    putOff: inference.refusalsExtend,
    attempts: served === undefined ? probes.length : probes.indexOf(served) + 1,
    servedAfterMs: served === undefined ? null : served.exchange.timing.startedMs - refusedAt,
    waitedMs: (probes.at(-1)?.exchange.timing.startedMs ?? refusedAt) - refusedAt,
    evidence: (served ?? probes.at(-1) ?? met).evidence,
  };
});

function endOf({ exchange: { timing } }: Reply): number {
  return timing.startedMs + timing.durationMs;
}
