import { type CheckDefinition, check, clause, observation, practice } from '../../harness/check/suite.ts';
import { measuredLimit, togetherAdmitted } from '../../harness/probe/quota/limit.ts';
import { limitMeasurement, recovery } from '../../harness/probe/quota/measurement.ts';
import * as quota from '../../harness/probe/quota/quota.ts';

/** How many requests are admitted, and by what kind of limiter. */
export const measurements: readonly CheckDefinition[] = [
  // limits.rate: so many in a window, and no more.
  check('limits.exact', {
    title: 'admits exactly the documented number of requests in the window and refuses the next one',
    grounds: [clause('limits.rate')],
    records: 'limits.first-refused',
    async judge({ probe, observe, violated, note }) {
      const { documented, firstRefused, sent, uncertainty, evidence } = await probe(measuredLimit);
      observe(firstRefused);
      const { requests, window } = documented;
      if (firstRefused !== requests + 1) {
        const got = firstRefused === null ? `none refused of ${sent}` : `request ${firstRefused}`;
        violated(
          `expected request ${requests + 1} within ${window} to be the first refused, got ${got}`,
          evidence,
        );
      }
      const how = uncertainty === null ? '' : ` (${uncertainty})`;
      note(`request ${firstRefused} is the first refused${how}`);
    },
  }),

  // limits.rate: several at once are no way around it.
  check('limits.parallel', {
    title: 'admits no more of requests sent together than of requests one after the other',
    grounds: [clause('limits.rate')],
    async judge({ probe, violated, note }) {
      const { excess, sent, evidence } = await probe(togetherAdmitted);
      const together = `${sent} requests sent together`;
      if (excess > 0) {
        const got = `${excess} more`;
        violated(`expected no more of ${together} to be served than one by one, got ${got}`, evidence);
      }
      note(together);
    },
  }),

  // limits.other does not show how requests are counted.
  observation('limits.algorithm', {
    title: 'limits requests by some algorithm',
    grounds: [clause('limits.other')],
    async observe({ probe }) {
      const { algorithm, because } = (await probe(limitMeasurement)).inference;
      return { seen: algorithm, note: `${algorithm}: ${because.slice(0, 3).join('; ')}` };
    },
  }),
];

const tooLong = (toWaitMs: number) =>
  `the refusal asks to wait ${Math.round(toWaitMs / 1000)} s, which is longer than a measurement takes`;

// limits.rate: the quota is one of each window.
const recoveryCheck = check('limits.recovery', {
  title: 'serves again after the window',
  grounds: [clause('limits.rate')],
  async judge({ probe, violated, blocked, note }) {
    const { servedAfterMs, waitedMs, toWaitMs, window, evidence } = await probe(recovery);
    if (servedAfterMs === null && toWaitMs > waitedMs) return blocked(tooLong(toWaitMs));
    if (servedAfterMs === null) {
      const got = `refusals for ${Math.round(waitedMs / 1000)} s`;
      return violated(`expected service again within ${window} of the refusal, got ${got}`, evidence);
    }
    note(`served again ${(servedAfterMs / 1000).toFixed(1)} s after the refusal`);
  },
});

/** How the quota comes back, held against what was promised. */
export const recoveries: readonly CheckDefinition[] = [
  // Who waits as long as he was told is served, and need not wait longer.
  check('limits.retry-after-honest', {
    title: 'serves again when Retry-After says so, and not long before',
    grounds: [practice('honest Retry-After')],
    restsOn: [recoveryCheck],
    async judge({ probe, violated, notApplicable, note }) {
      const { retryAfterMs, dishonesty, evidence } = await probe(recovery);
      if (retryAfterMs === null) return notApplicable('the refusal has no valid Retry-After');
      if (dishonesty !== null) violated(dishonesty, evidence);
      note(`Retry-After ${Math.round(retryAfterMs / 1000)} s held`);
    },
  }),

  // The reset of quota fields is a promise of the same kind.
  check('limits.reset-honest', {
    title: 'tells a reset on the refusal that agrees with when it serves again',
    grounds: [practice('RateLimit header fields draft')],
    restsOn: [recoveryCheck],
    async judge({ probe, violated, notApplicable, note }) {
      const { resetSeconds } = (await probe(quota.refusalAnswer)).response.quota;
      if (resetSeconds === null) return notApplicable('no reset is told on the refusal');
      const { resetDishonesty, evidence } = await probe(recovery);
      if (resetDishonesty !== null) violated(resetDishonesty, evidence);
      note(`a reset in ${Math.round(resetSeconds)} s held`);
    },
  }),

  recoveryCheck,

  // A client that asks once too early would else be shut out for ever.
  check('limits.refusals-free', {
    title: 'does not put the end of the wait off for requests that it refuses',
    grounds: [practice('a client that asks too early recovers')],
    async judge({ probe, violated, notApplicable, note }) {
      const { putOff, evidence } = await probe(recovery);
      if (putOff === null) notApplicable('what was seen does not tell');
      if (putOff) {
        violated(
          'expected service one window after the first requests, got it only after a window without any',
          evidence,
        );
      }
      note('a further refused request changed nothing');
    },
  }),

  // limits.client-backoff: what the documents advise clients to do helps them.
  check('limits.client-backoff', {
    title: 'lets a client that backs off exponentially and heeds Retry-After recover',
    grounds: [clause('limits.client-backoff'), practice('capped exponential backoff with jitter')],
    async judge({ probe, violated, blocked, note }) {
      const { attempts, servedAfterMs, waitedMs, toWaitMs, evidence } = await probe(recovery);
      if (servedAfterMs === null && toWaitMs > waitedMs) return blocked(tooLong(toWaitMs));
      if (servedAfterMs === null) {
        const got = `${attempts} refused attempts within ${Math.round(waitedMs / 1000)} s`;
        violated(`expected the client to recover, got ${got}`, evidence);
      }
      note(`recovered at attempt ${attempts}`);
    },
  }),
];
