import { type CheckDefinition, check } from '../../harness/check/check.ts';
import { clause, practice } from '../../harness/contract/ground.ts';
import * as quota from '../../harness/probe/quota/quota.ts';
import { recovery } from '../../harness/probe/quota/recovery.ts';
import { exceeding } from './exceeding.ts';

/** How the quota comes back, held against what was promised. */

export const recoveries: readonly CheckDefinition[] = [
  check(
    'limits.retry-after-honest',
    {
      title: 'serves again when Retry-After says so, and does not ask for more than the window',
      grounds: [practice('honest Retry-After')],
      applies: exceeding,
      provenBy: [
        'retry-after-too-early',
        'retry-after-milliseconds',
        'retry-after-floored',
        'retry-after-zero',
        'retry-after-absurd',
        'retry-after-whole-window',
      ],
    },
    async ({ probe, violated, notApplicable, note }) => {
      const { retryAfterMs, dishonesty, evidence } = await probe(recovery);
      if (retryAfterMs === null) return notApplicable('the refusal has no valid Retry-After');
      if (dishonesty !== null) return violated(dishonesty, evidence);
      note(`Retry-After ${Math.round(retryAfterMs / 1000)} s held`);
    },
  ),

  check(
    'limits.reset-honest',
    {
      title: 'tells a reset on the refusal that agrees with when it serves again',
      grounds: [practice('RateLimit header fields draft')],
      applies: exceeding,
      provenBy: ['reset-whole-window', 'reset-too-early'],
    },
    async ({ probe, violated, notApplicable, note }) => {
      const { resetSeconds } = (await probe(quota.refusal)).response.quota;
      if (resetSeconds === null) return notApplicable('no reset is told on the refusal');
      const { resetDishonesty, evidence } = await probe(recovery);
      if (resetDishonesty !== null) return violated(resetDishonesty, evidence);
      note(`a reset in ${Math.round(resetSeconds)} s held`);
    },
  ),

  check(
    'limits.recovery',
    {
      title: 'serves again after the window',
      grounds: [clause('limits.rate')],
      applies: exceeding,
      provenBy: ['never-recovers'],
    },
    async ({ probe, violated, note }) => {
      const { servedAfterMs, waitedMs, window, evidence } = await probe(recovery);
      if (servedAfterMs === null) {
        return violated(
          `expected service again within ${window} of the refusal, got refusals for ${Math.round(waitedMs / 1000)} s`,
          evidence,
        );
      }
      note(`served again ${(servedAfterMs / 1000).toFixed(1)} s after the refusal`);
    },
  ),

  check(
    'limits.refusals-free',
    {
      title: 'does not put the end of the wait off for requests that it refuses',
      grounds: [practice('a client that asks too early recovers')],
      applies: exceeding,
      provenBy: ['refusals-extend-window', 'requests-extend-window'],
    },
    async ({ probe, violated, notApplicable, note }) => {
      const { putOff, evidence } = await probe(recovery);
      if (putOff === null) return notApplicable('what was seen does not tell');
      if (putOff)
        return violated(
          'expected service one window after the first requests, got it only after a window without any',
          evidence,
        );
      note('a further refused request changed nothing');
    },
  ),

  check(
    'limits.client-backoff',
    {
      title: 'lets a client that backs off exponentially and heeds Retry-After recover',
      grounds: [clause('limits.client-backoff'), practice('capped exponential backoff with jitter')],
      applies: exceeding,
      provenBy: ['never-recovers'],
    },
    async ({ probe, violated, note }) => {
      const { attempts, servedAfterMs, waitedMs, evidence } = await probe(recovery);
      if (servedAfterMs === null)
        return violated(
          `expected the client to recover, got ${attempts} refused attempts within ${Math.round(waitedMs / 1000)} s`,
          evidence,
        );
      note(`recovered at attempt ${attempts}`);
    },
  ),
];
