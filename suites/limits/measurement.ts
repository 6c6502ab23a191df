import {
  burstStated,
  check,
  clause,
  numberOf,
  observation,
  practice,
  quotaFieldsDraft,
} from '../../harness/engine/check/suite.ts';
import { measuredLimit, togetherAdmitted, unmetInTurn } from './stimuli/limit.ts';
import { instancesApart, limitMeasurement, recovery } from './stimuli/measurement.ts';
import * as quota from './stimuli/quota.ts';

export const exact = check('limits.exact', {
  title: 'allows exactly the documented number of requests in a window',
  headline: 'The first request refused is not the documented one: {got}',
  why: 'Clients that keep to the documented limit are refused, or nothing keeps others from using too much.',
  change: 'Set the limit to the documented number, or document the real one.',
  grounds: [clause('limits.rate')],
  records: 'limits.first-refused',
  uses: [measuredLimit],
  async judge({ probe, observe, violated, note }) {
    const { documented, firstRefused, isStray, sent, uncertainty, evidence } = await probe(measuredLimit);
    observe(firstRefused);
    const { requests, window } = documented;
    if (isStray || firstRefused !== requests + 1) {
      const behind = isStray ? ', and the next ones served at once' : '';
      const got = firstRefused === null ? `none refused of ${sent}` : `request ${firstRefused}${behind}`;
      violated(`request ${requests + 1} within ${window} to be the first refused`, got, evidence);
    }
    const how = uncertainty === null ? '' : ` (${uncertainty})`;
    note(`request ${firstRefused} is the first refused${how}`);
  },
});

/** Limiters that refuse nothing of one client, or hold it back instead. */
const NO_REFUSALS: ReadonlySet<string> = new Set(['queue', 'delay', 'none', 'concurrency']);

const parallel = check('limits.parallel', {
  title: 'allows no more requests that come together than one by one',
  headline: 'Requests that come together get past the limit: {got}',
  why: 'Whoever sends in parallel gets more than the plan allows.',
  change: 'Check and count a request in one atomic step.',
  grounds: [clause('limits.rate')],
  uses: [togetherAdmitted],
  async judge({ probe, violated, note }) {
    const { excess, sent, evidence } = await probe(togetherAdmitted);
    const together = `${sent} requests sent together`;
    if (excess > 0) {
      const got = `${excess} more`;
      violated(`no more of ${together} to be served than one by one`, got, evidence);
    }
    note(together);
  },
});

/** How many requests are admitted, and by what kind of limiter. */
export const measurements = [
  exact,

  check('limits.burst', {
    title: 'gives the burst back one by one, at the documented rate',
    headline: 'The burst does not come back at the documented rate: {got}',
    why: 'Clients that go on at the documented rate are refused, or get bursts that nobody planned for.',
    change: 'Use a bucket of the size of the burst that is filled at the rate, or correct limits.rate.',
    grounds: [clause('limits.rate')],
    applies: [burstStated],
    restsOn: [exact],
    uses: [limitMeasurement],
    async judge({ probe, violated, notApplicable, note }) {
      const { inference, probes } = await probe(limitMeasurement);
      const { algorithm, compatible, because } = inference;
      if (NO_REFUSALS.has(algorithm)) notApplicable(because.join('; '));
      if (algorithm === 'unknown' && (compatible.length === 0 || compatible.includes('token-bucket')))
        notApplicable('not enough evidence to decide');
      if (algorithm !== 'token-bucket') {
        const got = algorithm === 'unknown' ? compatible.join(' or ') : algorithm;
        violated('a bucket that is filled at the rate', got, probes.at(-1)?.evidence);
      }
      note('the burst came back one by one');
    },
  }),

  parallel,

  // limits.other does not show what else is limited.
  observation('limits.second-limit', {
    title: 'has a second limit for requests that follow each other fast, or none',
    why: 'A client that keeps to the documented limit is refused all the same when it sends too fast.',
    // Whether it is met hangs on how fast the answers come.
    varies: 'text',
    grounds: [clause('limits.other')],
    uses: [quota.exhaustion],
    async observe({ probe }) {
      const { second } = await probe(quota.exhaustion);
      if (second === null) return { seen: 'none', note: 'none was met' };
      const { requests, backMs } = second;
      const seen = `${numberOf(requests, 'request was', 'requests were')} served at once, and more after ${Math.ceil(backMs / 1000)} s`;
      return { seen, note: seen };
    },
  }),

  // limits.other does not show how requests are counted.
  observation('limits.algorithm', {
    title: 'counts requests by some algorithm',
    why: 'A client plans better when it knows how its quota comes back.',
    grounds: [clause('limits.other')],
    uses: [limitMeasurement, unmetInTurn, instancesApart],
    async observe({ probe }) {
      const { algorithm, compatible, because } = (await probe(limitMeasurement)).inference;
      const { fault } = await probe(instancesApart);
      if (algorithm === 'unknown' && compatible.includes('concurrency') && (await probe(unmetInTurn)))
        return { seen: 'concurrency', note: `concurrency: ${because.slice(0, 3).join('; ')}` };
      if (['unknown', 'none'].includes(algorithm) && fault)
        return { seen: 'count-per-instance', note: `a count for each instance: ${fault}` };
      return { seen: algorithm, note: `${algorithm}: ${because.slice(0, 3).join('; ')}` };
    },
  }),
];

/** The requests of a run at a spent quota are no client that waits for Retry-After. */
const bans = (status: number) =>
  `a client that goes on asking gets status ${status}, and was not served again`;

const tooLong = (toWaitMs: number) =>
  `the refusal asks to wait ${Math.round(toWaitMs / 1000)} s, which is longer than a measurement takes`;

const recoveryCheck = check('limits.recovery', {
  title: 'serves again after the window',
  headline: 'The service does not recover after the window: {got}',
  why: 'A client that has reached the limit once stays locked out.',
  change: 'Let the count end with its window, whatever comes in meanwhile.',
  grounds: [clause('limits.rate')],
  uses: [recovery],
  async judge({ probe, violated, notApplicable, blocked, note }) {
    const { servedAfterMs, waitedMs, toWaitMs, window, banned, evidence } = await probe(recovery);
    if (servedAfterMs === null && banned !== null) return notApplicable(bans(banned));
    if (servedAfterMs === null && toWaitMs > waitedMs) return blocked(tooLong(toWaitMs));
    if (servedAfterMs === null) {
      const got = `refusals for ${Math.round(waitedMs / 1000)} s`;
      return violated(`service again within ${window} of the refusal`, got, evidence);
    }
    note(`served again ${(servedAfterMs / 1000).toFixed(1)} s after the refusal`);
  },
});

// A client that asks once too early would else be shut out for ever.
export const refusalsFree = check('limits.refusals-free', {
  title: 'does not extend the wait for requests that it refuses',
  headline: 'Refused requests extend the wait',
  why: 'A client that asks a little too early stays locked out for as long as it asks.',
  change: 'Do not count the requests that you refuse.',
  grounds: [practice('a client that asks too early recovers')],
  restsOn: [exact],
  uses: [recovery, limitMeasurement],
  async judge({ probe, violated, notApplicable, note }) {
    const { putOff, isLogged, banned, silenceMs, evidence } = await probe(recovery);
    if (banned !== null) {
      const until = silenceMs === null ? '' : `, until it was silent for ${(silenceMs / 1000).toFixed(1)} s`;
      const got = `status ${banned} for a client that went on asking${until}`;
      violated('one refusal to be like the other', got, evidence);
    }
    if (isLogged)
      violated(
        'refused requests to take nothing of the quota',
        'each of them counted for a window',
        evidence,
      );
    const { algorithm, because } = (await probe(limitMeasurement)).inference;
    if (putOff === null && NO_REFUSALS.has(algorithm)) return notApplicable(because.join('; '));
    if (putOff === null) return notApplicable('nothing shows whether refused requests extend the wait');
    if (putOff)
      violated('service one window after the first requests', 'it only after a window without any', evidence);
    note('a request was served less than a window after one that was refused');
  },
});

// The reset of quota fields is a promise of the same kind.
/** Nothing but what was measured, to the first refusal. */
const servedAgain = (afterMs: number | null): string =>
  afterMs === null ? '' : `, and served again ${(afterMs / 1000).toFixed(1)} s after the first refusal`;

export const resetHonest = check('limits.reset-honest', {
  title: 'gives a reset on the refusal that agrees with when it serves again',
  headline: 'The reset in the quota headers is not the real wait: {got}',
  why: 'Clients that pace themselves by it are refused again, or wait for nothing.',
  change: 'Compute the reset from the moment when the quota comes back.',
  grounds: [quotaFieldsDraft],
  restsOn: [recoveryCheck],
  uses: [quota.refusalAnswer, recovery],
  async judge({ probe, violated, notApplicable, note }) {
    const { resetSeconds } = (await probe(quota.refusalAnswer)).response.quota;
    if (resetSeconds === null) return notApplicable('the refusal gives no reset');
    const { resetDishonesty, resetMeaning, servedAfterMs, evidence } = await probe(recovery);
    if (resetDishonesty !== null) violated(resetDishonesty.expected, resetDishonesty.got, evidence);
    if (resetMeaning === 'unknown')
      return notApplicable('how the limiter counts is unknown, and so what its reset means');
    if (resetMeaning === 'open')
      return notApplicable('the quota comes back bit by bit, and drafts differ in what a reset means then');
    note(`a reset ${Math.round(resetSeconds)} s after the refusal${servedAgain(servedAfterMs)}`);
  },
});

/** How the quota comes back, held against what was promised. */
export const recoveries = [
  // Who waits as long as he was told is served, and need not wait longer.
  check('limits.retry-after-honest', {
    title: 'serves again when Retry-After says so, and not long before',
    headline: 'Retry-After does not give the real wait: {got}',
    why: 'Clients come back too early and are refused again, or wait for nothing.',
    change: 'Compute Retry-After, in seconds, from the moment when the quota comes back.',
    grounds: [practice('honest Retry-After')],
    restsOn: [recoveryCheck],
    uses: [recovery],
    async judge({ probe, violated, notApplicable, note }) {
      const { retryAfterMs, dishonesty, servedAfterMs, evidence } = await probe(recovery);
      if (retryAfterMs === null) return notApplicable('the refusal has no valid Retry-After');
      if (dishonesty !== null) violated(dishonesty.expected, dishonesty.got, evidence);
      note(`Retry-After: ${Math.round(retryAfterMs / 1000)}${servedAgain(servedAfterMs)}`);
    },
  }),

  resetHonest,

  recoveryCheck,

  refusalsFree,

  check('limits.window', {
    title: 'keeps the window of the documented length',
    headline: 'The window of the limit has another length than the documented one: {got}',
    why: 'Clients that pace themselves by the documents are refused, or wait for nothing.',
    change: 'Set the window of the limiter to the documented length, or document the real one.',
    grounds: [clause('limits.rate')],
    restsOn: [exact, parallel, recoveryCheck, refusalsFree, resetHonest],
    uses: [recovery, limitMeasurement],
    async judge({ probe, violated, blocked, note }) {
      const { window, windowFault, mayBeShorter, evidence } = await probe(recovery);
      const { algorithm } = (await probe(limitMeasurement)).inference;
      if (windowFault !== null) violated(`windows of ${window}`, windowFault, evidence);
      if (mayBeShorter && !NO_REFUSALS.has(algorithm))
        return blocked('windows of half the length would explain every refusal as well');
      note(`nothing shows another length than ${window}`);
    },
  }),

  check('limits.client-backoff', {
    title: 'lets a client recover that backs off exponentially and heeds Retry-After',
    headline: 'A client that backs off does not recover: {got}',
    why: 'Clients that do everything right stay locked out.',
    change: 'Let a client in again once its quota is back, however often it has asked.',
    grounds: [clause('limits.client-backoff'), practice('capped exponential backoff with jitter')],
    uses: [recovery],
    async judge({ probe, violated, notApplicable, blocked, note }) {
      const { attempts, servedAfterMs, waitedMs, toWaitMs, banned, evidence } = await probe(recovery);
      if (servedAfterMs === null && banned !== null) return notApplicable(bans(banned));
      if (servedAfterMs === null && toWaitMs > waitedMs) return blocked(tooLong(toWaitMs));
      if (servedAfterMs === null) {
        const got = `${attempts} refused attempts within ${Math.round(waitedMs / 1000)} s`;
        violated('the client to recover', got, evidence);
      }
      note(`recovered at attempt ${attempts}`);
    },
  }),
];
