import { type Defect, EVERY, tableOf } from '../../behavior/deviation.ts';
import { countingApart, inQuota, onAuthentication, onLimiter } from '../../behavior/patches/parts.ts';
import { aroundHandling, onAnswer, type Patch, together } from '../../behavior/patches/patch.ts';
import { asProblem } from '../../http/answer-changes.ts';
import { fieldValue, splitTarget } from '../../http/message.ts';
import {
  concurrencyLimit,
  extendedWindow,
  fixedWindow,
  slidingLogOfAll,
  smallBucket,
  tokenBucket,
} from '../../quota/algorithms.ts';
import type { Limiter, QuotaPlan } from '../../quota/limiter.ts';

/** Between looking at the counter and writing it, in ms: long enough for others to look in the meantime. */
const RACE_MS = 40;
/** How long a request takes where only those under way are limited. */
const WORK_MS = 40;
const TOGETHER = 4;
/** Requests in a row that a limiter takes which wants them evenly spread. */
const SMALL_BURST = 2;
/** Interval, in requests, of refusals without a reason. */
const STRAY_EVERY = 7;
/** Refusals after which a client is banned. */
const BANNED_BEHIND = 3;

/** Checks first and counts after the response: requests in between are not counted yet. */
const countedLate = ({ peek, take }: Limiter): Limiter => ({
  peek,
  take(key, nowMs) {
    const { remaining, ...admission } = peek(key, nowMs);
    return admission.admitted
      ? { ...admission, remaining: remaining - 1, delayMs: RACE_MS }
      : { ...admission, remaining };
  },
  release: (key, nowMs) => void take(key, nowMs),
});

/** Windows of another length than the stated one; headers and refusals go by it. */
const lasting = (share: number): Patch =>
  inQuota(({ algorithm }) => ({
    algorithm: (plan) => algorithm({ ...plan, windowMs: share * plan.windowMs }),
  }));

/** Instances that take requests in turn, each with its own count and this share of the limit. */
const inTurn =
  (shares: readonly number[]): Patch =>
  (behavior) => {
    let turn = -1;
    const planOf = (plan: QuotaPlan, share: number): QuotaPlan => ({
      ...plan,
      requests: share * plan.requests,
    });
    return inQuota(({ algorithm, fields }) => ({
      algorithm: (plan) => {
        const limiters = shares.map((share) => algorithm(planOf(plan, share)));
        const own = () => limiters[turn % limiters.length] ?? algorithm(plan);
        return {
          take(key, nowMs) {
            turn += 1;
            return own().take(key, nowMs);
          },
          peek: (key, nowMs) => own().peek(key, nowMs),
        };
      },
      fields: (plan, ...state) => fields(planOf(plan, shares[turn % shares.length] ?? 1), ...state),
    }))(behavior);
  };

/** Refuses one request of each interval although the quota is not spent. */
const refusingEvery = (nth: number): ((limiter: Limiter) => Limiter) => {
  let asked = 0;
  return (limiter) => ({
    ...limiter,
    take(key, nowMs) {
      const seen = limiter.peek(key, nowMs);
      if (!seen.admitted) return limiter.take(key, nowMs);
      asked += 1;
      return asked % nth === 0 ? { ...seen, admitted: false } : limiter.take(key, nowMs);
    },
  });
};

export const LIMIT_COUNTING_DEFECTS = tableOf<Defect>(EVERY, {
  'limit-race': {
    cause: 'Requests that are sent together get past the limit',
    fails: ['limits.parallel'],
    patch: onLimiter(countedLate),
  },
  'limit-a-fifth-high': {
    services: ['search', 'messaging'],
    cause: 'A fifth more requests are served than the documented limit allows',
    fails: ['limits.exact'],
    alsoFails: {
      'limits.quota-consistent': 'its headers give the documented limit, and what remains of a larger one',
    },
    patch: inQuota(({ algorithm }) => ({
      algorithm: (plan) => algorithm({ ...plan, requests: Math.round(1.2 * plan.requests) }),
    })),
  },
  'refuses-at-random': {
    services: ['search'],
    cause: 'Some requests are refused although the quota is not spent',
    fails: ['limits.exact'],
    patch: onLimiter(refusingEvery(STRAY_EVERY)),
  },
  'limit-per-process': {
    cause: 'Each instance counts by itself, so a client gets the limit several times over',
    fails: ['limits.exact', 'limits.one-count'],
    patch: (behavior) => {
      const turns = new WeakMap<object, number>();
      let next = 0;
      const processOf = (connection: object): number => {
        const turn = turns.get(connection) ?? next++;
        turns.set(connection, turn);
        return turn % 2;
      };
      return countingApart((request) => `#${processOf(request.connection ?? request)}`)(behavior);
    },
  },
  'instances-count-apart': {
    cause: 'Each instance counts by itself, so a client gets the limit several times over',
    fails: ['limits.one-count', 'limits.exact'],
    patch: inTurn([1, 1, 1]),
  },
  'instance-of-half-the-limit': {
    cause: 'One instance has another limit than the others',
    fails: ['limits.one-count'],
    alsoFails: {
      'limits.quota-fields-agree': 'half of the answers are of another limit',
      'limits.parallel': 'half of the answers are of another limit',
      'limits.remaining-true': 'half of the answers are of another limit',
    },
    patch: inTurn([1, 0.5]),
  },
  'limit-of-concurrency': {
    cause: 'Only requests at the same time are limited, not their number',
    fails: ['limits.exact'],
    patch: inQuota(() => ({ algorithm: concurrencyLimit(TOGETHER, WORK_MS) })),
  },
  'burst-back-at-once': {
    setting: 'burst beside a rate',
    cause: 'The burst comes back at one moment, and not at the documented rate',
    fails: ['limits.burst'],
    changes: ['limits.algorithm'],
    patch: inQuota(() => ({ algorithm: fixedWindow })),
  },
  'burst-unbounded': {
    setting: 'burst beside a rate',
    cause: 'More requests are served at once than the documented burst has',
    fails: ['limits.exact'],
    alsoFails: {
      'limits.quota-consistent': 'its headers give the documented limit, and what remains of a larger one',
    },
    patch: inQuota(() => ({ algorithm: (plan) => tokenBucket({ ...plan, ...plan.rate }) })),
  },
  'burst-refused': {
    cause: 'A few requests in a row are refused long before the limit',
    fails: ['limits.exact'],
    patch: inQuota(() => ({ algorithm: smallBucket(SMALL_BURST) })),
  },
  'requests-extend-window': {
    cause: 'A client is refused until it has been silent for a whole window',
    fails: ['limits.refusals-free'],
    patch: inQuota(() => ({ algorithm: extendedWindow(() => true) })),
  },
  'refusals-are-logged': {
    cause: 'Refused requests count like served ones: a client that goes on asking is not served again',
    fails: ['limits.refusals-free'],
    changes: ['limits.algorithm'],
    patch: inQuota(() => ({ algorithm: slidingLogOfAll })),
  },
  'bans-who-goes-on': {
    cause: 'A client that goes on asking while it is refused is banned with {status:403}',
    fails: ['limits.refusals-free'],
    patch: (behavior) => {
      let refusals = 0;
      let lastMs = 0;
      return onAnswer('rate-limited', (answer, _request, { plan, clock }) => {
        const nowMs = clock.now();
        refusals = nowMs - lastMs < (plan?.windowMs ?? 0) ? refusals + 1 : 1;
        lastMs = nowMs;
        return refusals > BANNED_BEHIND ? asProblem(403)(answer) : answer;
      })(behavior);
    },
  },
  'window-too-short': {
    cause: 'The quota is renewed long before the documented window is over',
    fails: ['limits.window'],
    patch: lasting(0.5),
  },
  'window-a-quarter': {
    services: ['search', 'messaging'],
    cause: 'The quota is renewed four times in a documented window',
    fails: ['limits.window'],
    patch: lasting(0.25),
  },
  'window-half-untold': {
    services: ['search', 'messaging'],
    cause: 'The quota is renewed twice in a documented window, and no header tells it',
    fails: ['limits.window'],
    changes: ['limits.dialect'],
    patch: inQuota(({ algorithm }) => ({
      algorithm: (plan) => algorithm({ ...plan, windowMs: 0.5 * plan.windowMs }),
      fields: () => [],
    })),
  },
  'window-a-fifth-short': {
    cause: 'The window of the limit is shorter than documented',
    fails: ['limits.window'],
    patch: lasting(0.8),
  },
  'window-too-long': {
    cause: 'The quota is renewed long after the documented window is over',
    fails: ['limits.window'],
    patch: lasting(1.5),
  },
  'window-twice-as-long': {
    cause: 'The window of the limit lasts twice as long as documented',
    fails: ['limits.window'],
    patch: lasting(2),
  },
  'user-agent-bypasses-limit': {
    cause: 'Another User-Agent gets past the limit',
    fails: ['limits.user-agent'],
    patch: countingApart((request) => `@${fieldValue(request, 'user-agent') ?? ''}`),
  },
  'keyed-by-forwarded-for': {
    cause: 'A made-up client address gets past the limit',
    fails: ['limits.forwarded-for'],
    patch: countingApart((request) => `@${fieldValue(request, 'x-forwarded-for') ?? ''}`),
  },
  'keyed-by-raw-credential': {
    cause: 'The scheme name in another letter case gets past the limit',
    fails: ['limits.spelling-shares'],
    changes: ['limits.keyed-by'],
    patch: countingApart((request) => `=${fieldValue(request, 'authorization') ?? ''}`),
  },
  'keyed-by-spaced-credential': {
    cause: 'The key behind more spaces gets past the limit',
    fails: ['limits.spaces-share'],
    patch: countingApart((request) => `=${(fieldValue(request, 'authorization') ?? '').split(' ').length}`),
  },
  'failed-authentication-counts': {
    cause: 'Requests with a wrong key spend the quota of the right one',
    fails: ['limits.failures-free'],
    patch: (behavior) => {
      let failures = 0;
      const noticing = onAuthentication((request, access, authenticate) => {
        const authentication = authenticate(request, access);
        if (!authentication.admitted) failures += 1;
        return authentication;
      });
      const charging = onLimiter((limiter) => ({
        ...limiter,
        take(key, nowMs) {
          for (; failures > 0; failures -= 1) limiter.take(key, nowMs);
          return limiter.take(key, nowMs);
        },
      }));
      return charging(noticing(behavior));
    },
  },
  'path-bypasses-limit': {
    cause: 'The path in another spelling gets past the limit',
    fails: ['limits.variants-share'],
    patch: together(
      countingApart(({ target }) => `@${splitTarget(target).path}`),
      aroundHandling((request, next, kernel) =>
        next({ ...request, path: request.path.toLowerCase().replace(/(?<=.)\/$/, '') }, kernel),
      ),
    ),
  },
  'retry-after-floored': {
    cause: 'Retry-After is rounded down: a client comes up to a second too early',
    fails: ['limits.retry-after-honest'],
    patch: inQuota(() => ({ retryAfter: (renewsInMs) => String(Math.floor(renewsInMs / 1000)) })),
  },
  'retry-after-half': {
    cause: 'Retry-After gives half of the real wait',
    fails: ['limits.retry-after-honest'],
    patch: inQuota(() => ({ retryAfter: (renewsInMs) => String(Math.floor(renewsInMs / 2000)) })),
  },
  'retry-after-zero': {
    cause: 'Retry-After is 0 while requests are still refused',
    fails: ['limits.retry-after-honest'],
    patch: inQuota(() => ({ retryAfter: () => '0' })),
  },
  'retry-after-absurd': {
    cause: 'Retry-After is far longer than the window',
    fails: ['limits.retry-after-honest'],
    patch: inQuota(() => ({ retryAfter: () => '50331648' })),
  },
});
