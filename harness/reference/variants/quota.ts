import { QUOTA_DIALECTS } from '../../wire/quota/quota.ts';
import { imfFixdate } from '../behavior/clock.ts';
import { EVERY, REALTIME, REST, tableOf, type Variant } from '../behavior/deviation.ts';
import { inQuota } from '../behavior/patches/parts.ts';
import { onAnswer, onLaterRefusals } from '../behavior/patches/patch.ts';
import { holding, lacking, withMembers } from '../http/answer-changes.ts';
import { fieldValue, withField } from '../http/message.ts';
import {
  fixedWindow,
  fixedWindowAligned,
  leakyQueue,
  penaltyBlock,
  shiftedSlidingCounter,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from '../quota/algorithms.ts';
import { inDialect, wholeSeconds } from '../quota/limiter.ts';
import { beside, countingRefusals, furtherBy } from '../quota/several-limits.ts';

/** Requests that may wait in a queue. */
const QUEUE_ROOM = 20;
/** A limit beside the documented one: with 20 requests a minute, 8 a second. */
const HASTE = { requests: 0.4, window: 1 / 60 };
/** With 20 requests a minute, 32 an hour. */
const ENDURANCE = { requests: 1.6, window: 60 };

export const QUOTA_VARIANTS = tableOf<Variant>(EVERY, {
  'no-quota-fields': {
    summary: 'enforces its limit without announcing it; the refusal still says when to come back',
    changes: ['limits.dialect'],
    patch: inQuota(() => ({ fields: () => [] })),
  },
  ...Object.fromEntries(
    QUOTA_DIALECTS.flatMap(({ name, variant }) => {
      const patch = inQuota(() => ({ fields: inDialect(name) }));
      return variant
        ? [[variant.name, { summary: variant.summary, changes: ['limits.dialect'], patch }]]
        : [];
    }),
  ),
  'refusal-without-policy-field': {
    summary: 'sends RateLimit-Policy with what it serves, and with its refusals RateLimit alone',
    patch: onAnswer('rate-limited', lacking('RateLimit-Policy')),
  },
  'violated-policies-untold': {
    summary: 'does not say in its refusals which policy is spent',
    patch: onAnswer('rate-limited', (answer) => withMembers(answer, { 'violated-policies': undefined })),
  },
  'retry-after-whole-window': {
    summary: 'asks for a whole window, however much of it is over',
    patch: onAnswer('rate-limited', (answer, _request, { plan }) =>
      withField(answer, 'Retry-After', String(wholeSeconds(plan?.windowMs ?? 0))),
    ),
  },
  'http-date-retry-after': {
    summary: 'says when to come back as a date',
    changes: ['limits.refusal'],
    patch: inQuota(() => ({
      retryAfter: (renewsInMs, nowMs) => imfFixdate(Math.ceil((nowMs + renewsInMs) / 1000) * 1000),
    })),
  },
  'later-refusals-dated': {
    summary: 'says on its first refusal in seconds when to come back, and on later ones as a date',
    patch: onLaterRefusals((answer, nowMs) => {
      const seconds = Number(fieldValue(answer, 'Retry-After') ?? 0);
      return withField(answer, 'Retry-After', imfFixdate(Math.ceil(nowMs / 1000 + seconds) * 1000));
    }),
  },
  'later-refusals-in-other-words': {
    summary: 'explains its first refusal, and tells no more than the error on later ones',
    patch: onLaterRefusals(holding('{"error":"too many requests"}')),
  },
  'limiter-clock-aligned': {
    summary: 'has windows that begin on the clock, not with the first request',
    patch: inQuota(() => ({ algorithm: fixedWindowAligned })),
  },
  'limiter-sliding-log': {
    summary: 'remembers every request for one window',
    changes: ['limits.algorithm'],
    patch: inQuota(() => ({ algorithm: slidingLog })),
  },
  'limiter-token-bucket': {
    summary: 'refills its quota evenly',
    changes: ['limits.algorithm'],
    patch: inQuota(() => ({ algorithm: tokenBucket })),
  },
  'limiter-sliding-counter': {
    summary: 'weighs the requests of the last window of the clock by what of it is not yet over',
    patch: inQuota(() => ({ algorithm: slidingCounter })),
  },
  'limiter-sliding-counter-own-clock': {
    summary: 'weighs the requests of the last window, and its windows begin at no round time',
    patch: inQuota(() => ({ algorithm: shiftedSlidingCounter(0.4) })),
  },
  'limiter-penalty-block': {
    summary: 'blocks a key for one window from its first refusal on',
    changes: ['limits.algorithm'],
    patch: inQuota(() => ({ algorithm: penaltyBlock })),
  },
  'limiter-queue': {
    summary: 'holds requests back so that they keep to the rate, and refuses only when too many wait',
    patch: inQuota(() => ({ algorithm: leakyQueue(QUEUE_ROOM) })),
  },
  'limits-haste-as-well': {
    summary: 'has a limit for each second beside the documented one, and announces both',
    changes: ['limits.second-limit'],
    patch: inQuota(({ algorithm }) => ({ algorithm: beside(fixedWindow, HASTE)(algorithm) })),
  },
  'limits-haste-by-bucket': {
    summary:
      'has a bucket that is soon empty and soon full beside the documented limit, and announces neither',
    changes: ['limits.dialect', 'limits.second-limit'],
    patch: inQuota(({ algorithm }) => ({
      algorithm: beside(tokenBucket, HASTE)(algorithm),
      fields: () => [],
    })),
  },
  'limits-endurance-as-well': {
    // Elsewhere some requests may count or not, and the hour leaves none to count them by.
    ...REALTIME,
    summary: 'has a limit for each hour beside the documented one, which is soon spent by several bursts',
    patch: inQuota(({ algorithm }) => ({ algorithm: beside(fixedWindow, ENDURANCE)(algorithm) })),
  },
  'longer-limit-by-bucket': {
    services: REST.services,
    setting: 'two limits, the further one longer',
    summary: 'gives its longer limit back one by one',
    unseen: 'the longer limit is not met',
    patch: inQuota(() => ({ algorithm: furtherBy(tokenBucket) })),
  },
  'longer-limit-counts-refusals': {
    services: REST.services,
    setting: 'two limits, the further one longer',
    summary: 'counts what the main limit refuses against the longer one as well',
    unseen: 'the longer limit is not met',
    patch: inQuota(() => ({ algorithm: countingRefusals('further') })),
  },
  'main-limit-counts-refusals': {
    services: REST.services,
    setting: 'two limits',
    summary: 'counts what a further limit refuses against the main one as well',
    patch: inQuota(() => ({ algorithm: countingRefusals('main') })),
  },
  'counts-known-paths': {
    summary: 'counts requests for resources that it has, and serves or refuses others for nothing',
    countsByKind: true,
    patch: inQuota(() => ({ counts: ({ path }) => path === '/' || path.startsWith('/v1/resources') })),
  },
});
