import { type CheckDefinition, check, observation, suite } from '../harness/check/check.ts';
import {
  credentialed,
  inAuthorizationField,
  limitMayBeExceeded,
  secondKey,
  settled,
} from '../harness/check/requirement.ts';
import { clause, practice, rfc6585, rfc9110 } from '../harness/contract/ground.ts';
import { shapeOf } from '../harness/evidence/shape.ts';
import { quotaReplies } from '../harness/probe/gathered.ts';
import { limitMeasurement } from '../harness/probe/limit/measurement.ts';
import * as quota from '../harness/probe/quota.ts';
import { failuresCounted } from '../harness/probe/quota-failures.ts';
import { measuredLimit, togetherAdmitted } from '../harness/probe/quota-limit.ts';
import { recovery } from '../harness/probe/quota-recovery.ts';
import * as spent from '../harness/probe/quota-spent.ts';
import { unknownPath } from '../harness/probe/target.ts';

/** Checks that need the limit to be met. */
const exceeding = [settled('limits.rate'), limitMayBeExceeded];

/** In ms. A service may hold each answer back instead of refusing any: then a burst takes two windows and more. */
const LONGEST_MS = 15 * 60_000;

const checks: readonly CheckDefinition[] = [
  observation(
    'limits.dialect',
    {
      title: 'tells the quota in its responses',
      grounds: [clause('limits.other')],
      shownBy: ['x-ratelimit-fields', 'no-quota-fields'],
    },
    async ({ probe, observe, note }) => {
      const { response } = await probe(quota.quotaSample);
      observe('limits.dialect', response.quota.dialect);
      note(
        response.quota.dialect === 'none' ? 'no quota fields are seen' : `dialect ${response.quota.dialect}`,
      );
    },
  ),

  check(
    'limits.quota-fields',
    {
      title: 'sends well-formed quota fields',
      grounds: [practice('RateLimit header fields draft')],
      provenBy: ['quota-fields-malformed', 'reset-not-a-number'],
    },
    async ({ probe, expect, notApplicable }) => {
      const telling = (await probe(quotaReplies)).filter(({ response }) => response.quota.dialect !== 'none');
      if (telling.length === 0) return notApplicable('no quota fields are seen');
      expect(...telling).toConform(
        'well-formed quota fields',
        ({ response }) => response.quota.faults[0] ?? null,
      );
    },
  ),

  check(
    'limits.quota-fields-agree',
    {
      title: 'tells the quota that the plan has',
      grounds: [practice('RateLimit header fields draft')],
      applies: [settled('limits.rate')],
      provenBy: ['quota-fields-other-limit'],
    },
    async ({ probe, expect, service, notApplicable }) => {
      const reply = await probe(quota.quotaSample);
      const { plan } = service;
      const { limit } = reply.response.quota;
      if (plan === null || limit === null) return notApplicable('no limit is told in quota fields');
      expect(reply).toConform(`a limit of ${plan.requests}`, () =>
        limit === plan.requests ? null : String(limit),
      );
    },
  ),

  check(
    'limits.quota-consistent',
    {
      title: 'sends no quota fields that contradict each other',
      grounds: [practice('RateLimit header fields draft')],
      provenBy: ['quota-fields-contradict'],
    },
    async ({ probe, expect, notApplicable }) => {
      const telling = (await probe(quotaReplies)).filter(({ response }) => response.quota.dialect !== 'none');
      if (telling.length === 0) return notApplicable('no quota fields are seen');
      expect(...telling).toConform(
        'quota fields that can all be true',
        ({ response }) => response.quota.contradictions[0] ?? null,
      );
    },
  ),

  check(
    'limits.reset-unit',
    {
      title: 'tells the reset in seconds',
      grounds: [practice('resets in seconds, as clients take them')],
      provenBy: ['reset-epoch-milliseconds'],
    },
    async ({ probe, expect, notApplicable }) => {
      const reply = await probe(quota.quotaSample);
      if (reply.response.quota.resetSeconds === null) return notApplicable('no reset is told');
      expect(reply).toConform('seconds, from now or since 1970', ({ response }) =>
        /-ms$/.test(response.quota.dialect) ? 'milliseconds' : null,
      );
    },
  ),

  check(
    'limits.failures-free',
    {
      title: 'does not take requests with a wrong key from the quota of the right one',
      grounds: [practice('OWASP API4:2023')],
      applies: [settled('limits.rate'), credentialed],
      provenBy: ['failed-authentication-counts'],
    },
    async ({ probe, violated, note }) => {
      const { taken, wrong, evidence } = await probe(failuresCounted);
      if (taken >= wrong)
        return violated(
          `expected wrong keys to take nothing, got ${taken} taken by ${wrong} of them`,
          evidence,
        );
      note(`${wrong} wrong keys took nothing`);
    },
  ),

  observation(
    'limits.refusal-shape',
    {
      title: 'gives the refusal the shape of its other errors',
      grounds: [clause('errors.shape')],
      applies: exceeding,
      shownBy: ['plain-json-errors', 'error-shape-by-status'],
    },
    async ({ probe, observe, note }) => {
      // The 404 first: once the quota is spent there is none to be had.
      const [there, here] = [await probe(unknownPath), await probe(quota.refusal)].map(({ response }) =>
        shapeOf(response.json.value),
      );
      const same = JSON.stringify(here) === JSON.stringify(there);
      observe('limits.refusal-shape', { shape: here ?? null, sameAsNotFound: same });
      note(same ? 'the shape of a 404' : 'another shape than a 404');
    },
  ),

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

  // RFC 6585 §4: 429 is the status for too many requests in a given amount of time; §7.2 does not demand it.
  check(
    'limits.refusal-status',
    {
      title: 'refuses with 429',
      grounds: [rfc6585('4', 'SHOULD')],
      applies: exceeding,
      provenBy: ['refusal-503', 'refusal-403'],
    },
    async ({ probe, expect }) => {
      expect(await probe(quota.refusal)).toHaveStatus(429);
    },
  ),

  check(
    'limits.refusal-json',
    {
      title: 'refuses with a JSON body, like its other errors',
      grounds: [clause('errors.format')],
      applies: exceeding,
      provenBy: ['rate-refusal-html'],
    },
    async ({ probe, expect }) => {
      expect(await probe(quota.refusal)).toBeJson();
    },
  ),

  check(
    'limits.retry-after',
    {
      title: 'says when to try again (Retry-After)',
      grounds: [practice('tell clients when to come back')],
      applies: exceeding,
      provenBy: ['retry-after-missing'],
    },
    async ({ probe, expect }) => {
      expect(await probe(quota.refusal)).toHaveField('Retry-After');
    },
  ),

  // RFC 9110 §10.2.3: an HTTP-date or a whole number of seconds.
  check(
    'limits.retry-after-valid',
    {
      title: 'sends a well-formed Retry-After',
      grounds: [rfc9110('10.2.3', 'MUST')],
      applies: exceeding,
      provenBy: ['retry-after-malformed', 'retry-after-fractional'],
    },
    async ({ probe, expect, notApplicable }) => {
      const reply = await probe(quota.refusal);
      if (!reply.response.has('retry-after')) return notApplicable('the refusal has no Retry-After');
      expect(reply).toConform('seconds or an HTTP-date', ({ response }) =>
        response.retryAfter?.kind === 'invalid' ? `"${response.field('retry-after')}"` : null,
      );
    },
  ),

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

  // RFC 6585 §4: responses with 429 are not stored by a cache.
  check(
    'limits.refusal-not-cacheable',
    {
      title: 'does not let the refusal be cached',
      grounds: [rfc6585('4', 'MUST')],
      applies: exceeding,
      provenBy: ['refusal-cacheable-429'],
    },
    async ({ probe, expect }) => {
      expect(await probe(quota.refusal)).toBeUncacheable();
    },
  ),

  check(
    'limits.refusal-prompt',
    {
      title: 'refuses promptly',
      grounds: [practice('no tarpit')],
      applies: exceeding,
      provenBy: ['refusal-tarpit'],
    },
    async ({ probe, violated, note }) => {
      const { typicalMs, refusalMs, evidence } = await probe(spent.refusalDelay);
      // A refusal costs less work than an answer; one that takes a second longer is held back on purpose.
      if (refusalMs > typicalMs + 1000) {
        violated(
          `expected a refusal about as fast as an answer (${Math.round(typicalMs)} ms), got ${Math.round(refusalMs)} ms`,
          evidence,
        );
      }
      note(`${Math.round(refusalMs)} ms`);
    },
  ),

  check(
    'limits.per-key',
    {
      title: 'counts each key by itself',
      grounds: [practice('OWASP API4:2023')],
      applies: [...exceeding, credentialed],
      needs: [secondKey],
      provenBy: ['limit-shared-between-keys'],
    },
    async ({ probe, expect }) => {
      expect(await probe(spent.secondKeyWhileExhausted)).toHaveStatusClass(2);
    },
  ),

  check(
    'limits.variants-share',
    {
      title: 'counts HEAD and other queries against the same quota',
      grounds: [practice('OWASP API4:2023')],
      applies: exceeding,
      provenBy: ['head-bypasses-limit', 'query-bypasses-limit'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(spent.variantsWhileExhausted))).toBeUnserved();
    },
  ),

  // The refusal tells of fewer requests than the last answer before the burst did.
  check(
    'limits.quota-shrinks',
    {
      title: 'counts the remaining quota down',
      grounds: [practice('RateLimit header fields draft')],
      applies: exceeding,
      provenBy: ['quota-fields-lie'],
    },
    async ({ probe, expect, notApplicable }) => {
      const before = (await probe(quota.quotaSample)).response.quota.remaining;
      const refused = await probe(quota.refusal);
      const { remaining } = refused.response.quota;
      if (before === null || before === 0 || remaining === null)
        return notApplicable('no remaining quota is told');
      expect(refused).toConform(`fewer than ${before} remaining`, () =>
        remaining < before ? null : `${remaining} remaining`,
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

  check(
    'limits.forwarded-for',
    {
      title: 'does not let a client choose its quota by X-Forwarded-For',
      grounds: [practice('OWASP API4:2023')],
      applies: exceeding,
      provenBy: ['keyed-by-forwarded-for'],
    },
    async ({ probe, expect }) => {
      expect(await probe(spent.forwardedWhileExhausted)).toBeUnserved();
    },
  ),

  // RFC 9110 §11.1: the scheme name is case-insensitive, so this is the same credential.
  check(
    'limits.spelling-shares',
    {
      title: 'has one quota for a credential, however it is written',
      grounds: [practice('OWASP API4:2023')],
      applies: [...exceeding, inAuthorizationField],
      provenBy: ['keyed-by-raw-credential'],
    },
    async ({ probe, expect }) => {
      expect(await probe(spent.spelledWhileExhausted)).toBeUnserved();
    },
  ),

  check(
    'limits.quota-fields-on-refusal',
    {
      title: 'tells of the quota on the refusal as on other answers',
      grounds: [practice('RateLimit header fields draft')],
      applies: exceeding,
      provenBy: ['refusal-without-quota-fields'],
    },
    async ({ probe, expect, notApplicable }) => {
      const before = (await probe(quota.quotaSample)).response.quota.dialect;
      if (before === 'none') return notApplicable('no quota fields are seen');
      expect(await probe(quota.refusal)).toConform('quota fields', ({ response }) =>
        response.quota.dialect === 'none' ? 'none' : null,
      );
    },
  ),

  check(
    'limits.refusal-fields',
    {
      title: 'sends well-formed quota fields on the refusal',
      grounds: [practice('RateLimit header fields draft')],
      applies: exceeding,
      provenBy: ['remaining-negative'],
    },
    async ({ probe, expect, notApplicable }) => {
      const refused = await probe(quota.refusal);
      if (refused.response.quota.dialect === 'none') return notApplicable('the refusal has no quota fields');
      expect(refused).toConform(
        'well-formed quota fields',
        ({ response }) => response.quota.faults[0] ?? null,
      );
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

  observation(
    'limits.keyed-by',
    {
      title: 'counts requests by some property of them',
      grounds: [clause('limits.other')],
      applies: [...exceeding, inAuthorizationField],
      needs: [secondKey],
      shownBy: ['limit-shared-between-keys', 'keyed-by-raw-credential'],
    },
    async ({ probe, observe, note }) => {
      const other = await probe(spent.secondKeyWhileExhausted);
      const spelled = await probe(spent.spelledWhileExhausted);
      const by = spelled.served ? 'raw-header' : other.served ? 'credential' : 'address';
      observe('limits.keyed-by', by);
      note(by);
    },
  ),

  observation(
    'limits.refusal',
    {
      title: 'refuses in some form',
      grounds: [clause('limits.other')],
      applies: exceeding,
      shownBy: ['http-date-retry-after', 'plain-json-errors'],
    },
    async ({ probe, observe, note }) => {
      const { response } = await probe(quota.refusal);
      const mediaType = response.mediaType?.essence ?? null;
      const retryAfter = response.retryAfter?.kind ?? null;
      observe('limits.refusal', { status: response.status, mediaType, retryAfter });
      note(
        `status ${response.status}, ${mediaType ?? 'no media type'}, Retry-After: ${retryAfter ?? 'none'}`,
      );
    },
  ),
];

export const rateLimit = suite(
  'rate-limit',
  'Rate limit and backoff',
  checks.map((each) => ({ ...each, limitMs: LONGEST_MS })),
);
