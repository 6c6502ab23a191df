import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { clause } from '../../harness/contract/ground.ts';
import { measuredLimit, togetherAdmitted } from '../../harness/probe/quota/limit.ts';
import { limitMeasurement } from '../../harness/probe/quota/measurement.ts';
import { exceeding } from './exceeding.ts';

/** How many requests are admitted, and by what kind of limiter. */

export const measurements: readonly CheckDefinition[] = [
  check(
    'limits.exact',
    {
      title: 'admits exactly the documented number of requests in the window and refuses the next one',
      grounds: [clause('limits.rate')],
      applies: exceeding,
      provenBy: [
        'limit-off-by-one-low',
        'limit-off-by-one-high',
        'limit-ignored',
        'limit-counted-twice',
        'limit-of-concurrency',
        'burst-refused',
      ],
    },
    async ({ probe, observe, violated, note }) => {
      const measured = await probe(measuredLimit);
      observe('limits.first-refused', measured.firstRefused);
      const { requests, window } = measured.documented;
      const wanted = `expected request ${requests + 1} within ${window} to be the first refused`;
      if (measured.firstRefused === null)
        return violated(`${wanted}, got none refused of ${measured.sent}`, measured.evidence);
      if (measured.firstRefused !== requests + 1)
        return violated(`${wanted}, got request ${measured.firstRefused}`, measured.evidence);
      note(
        `request ${measured.firstRefused} is the first refused${measured.uncertainty === null ? '' : ` (${measured.uncertainty})`}`,
      );
    },
  ),

  check(
    'limits.parallel',
    {
      title: 'admits no more of requests sent together than of requests one after the other',
      grounds: [clause('limits.rate')],
      applies: exceeding,
      provenBy: ['limit-race', 'limit-per-process'],
    },
    async ({ probe, violated, notApplicable, note }) => {
      const { parallelExcess, parallel, evidence } = await probe(togetherAdmitted);
      if (parallel === null) return notApplicable('the quota was not whole again while it was measured');
      if (parallelExcess > 0) {
        return violated(
          `expected no more of ${parallel.burst.entries.length} requests sent together to be served than one by one, got ${parallelExcess} more`,
          evidence,
        );
      }
      note(`${parallel.burst.entries.length} requests sent together`);
    },
  ),

  observation(
    'limits.algorithm',
    {
      title: 'limits requests by some algorithm',
      grounds: [clause('limits.other')],
      applies: exceeding,
      shownBy: ['limiter-sliding-log', 'limiter-token-bucket', 'limiter-penalty-block'],
    },
    async ({ probe, observe, note }) => {
      const { inference } = await probe(limitMeasurement);
      observe('limits.algorithm', inference.algorithm);
      note(`${inference.algorithm}: ${inference.because.slice(0, 3).join('; ')}`);
    },
  ),
];
