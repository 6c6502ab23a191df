import { type Defect, EVERY, tableOf } from '../../behavior/deviation.ts';
import { countingApart, inQuota, onAdmission, onLimiter } from '../../behavior/patches/parts.ts';
import {
  aroundHandling,
  droppedInsteadOf,
  onAnswer,
  onLaterRefusals,
  type Patch,
} from '../../behavior/patches/patch.ts';
import { asProblem, having, holding, lacking } from '../../http/answer-changes.ts';
import { queryParameters } from '../../http/message.ts';
import { extendedWindow } from '../../quota/algorithms.ts';
import { type Admission, saying, wholeSeconds } from '../../quota/limiter.ts';

const sayingRetryAfter = (value: (renewsInMs: number) => string): Patch =>
  inQuota(() => ({ retryAfter: (renewsInMs) => value(renewsInMs) }));

/** Enforces another number than the one announced, which the admission still goes by. */
const offBy = (difference: number): Patch =>
  inQuota(({ algorithm }) => ({
    algorithm: (plan) => {
      const limiter = algorithm({ ...plan, requests: plan.requests + difference });
      return saying(limiter, (admission) => ({
        ...admission,
        remaining: admission.admitted ? Math.max(0, admission.remaining - difference) : 0,
      }));
    },
  }));

/** A client notices it, and no time limit of one. */
const TARPIT_MS = 1_500;

export const LIMIT_DEFECTS = tableOf<Defect>(EVERY, {
  'limit-off-by-one-low': {
    cause: 'The limit refuses one request too early',
    fails: ['limits.exact'],
    patch: offBy(-1),
  },
  'limit-off-by-one-high': {
    cause: 'The limit lets one request too many through',
    fails: ['limits.exact'],
    patch: offBy(1),
  },
  'limit-ignored': {
    cause: 'No request is ever refused: the limit is not enforced',
    fails: ['limits.exact'],
    patch: onAdmission((admission) => ({ ...admission, admitted: true })),
  },
  'limit-counted-twice': {
    cause: 'Each request counts twice: half of the documented limit is served',
    fails: ['limits.exact'],
    patch: onLimiter((limiter) => ({
      ...limiter,
      take(key, nowMs) {
        const first = limiter.take(key, nowMs);
        return first.admitted ? { ...limiter.take(key, nowMs), admitted: true } : first;
      },
    })),
  },
  'refusal-503': {
    cause: 'A spent quota is answered {status:503}, not 429',
    fails: ['limits.refusal-status'],
    patch: onAnswer('rate-limited', asProblem(503)),
  },
  'undocumented-refusal-503': {
    setting: 'error codes',
    cause: 'A spent quota is answered {status:503}, not as the documents say',
    fails: ['limits.documented-refusal'],
    patch: onAnswer('rate-limited', asProblem(503)),
  },
  'refusal-403': {
    cause: 'A spent quota is answered {status:403}, not 429',
    fails: ['limits.refusal-status'],
    patch: onAnswer('rate-limited', asProblem(403)),
  },
  'refusal-500': {
    cause: 'A spent quota is answered {status:500}, a server error',
    fails: ['limits.refusal-meaning'],
    patch: onAnswer('rate-limited', asProblem(500)),
  },
  'refusal-401': {
    cause: 'A spent quota is answered {status:401}, as if the key were wrong',
    fails: ['limits.refusal-meaning'],
    patch: onAnswer('rate-limited', asProblem(401)),
  },
  'refusal-drops-connection': {
    // RFC 6585 §7.2
    cause: 'A request beyond the limit gets no response',
    fails: ['limits.refusal-status'],
    patch: droppedInsteadOf('rate-limited'),
  },
  'rate-refusal-html': {
    cause: 'The body of the 429 is {media type:text/html}, not JSON',
    fails: ['limits.refusal-json'],
    patch: onAnswer(
      'rate-limited',
      holding('<!doctype html><title>429</title><h1>Slow down</h1>', 'text/html; charset=utf-8'),
    ),
  },
  'retry-after-missing': {
    // RFC 6585 §4
    cause: 'The 429 has no Retry-After header',
    fails: ['limits.retry-after'],
    patch: onAnswer('rate-limited', lacking('Retry-After')),
  },
  'retry-after-malformed': {
    cause: 'Retry-After has a unit or other text in it',
    fails: ['limits.retry-after-valid'],
    patch: sayingRetryAfter((renewsInMs) => `${wholeSeconds(renewsInMs)}s`),
  },
  'retry-after-fractional': {
    cause: 'Retry-After has a decimal point',
    fails: ['limits.retry-after-valid'],
    patch: sayingRetryAfter((renewsInMs) => (renewsInMs / 1000).toFixed(3)),
  },
  'retry-after-milliseconds': {
    // RFC 9110 §10.2.3
    cause: 'Retry-After counts milliseconds, not seconds',
    fails: ['limits.retry-after-honest'],
    patch: sayingRetryAfter((renewsInMs) => String(Math.ceil(renewsInMs))),
  },
  'retry-after-too-early': {
    cause: 'A client that waits for Retry-After is refused again',
    fails: ['limits.retry-after-honest'],
    patch: sayingRetryAfter((renewsInMs) => String(Math.floor(renewsInMs / 2000))),
  },
  'refusals-extend-window': {
    cause: 'A refused request makes the wait longer',
    fails: ['limits.refusals-free'],
    patch: inQuota(() => ({ algorithm: extendedWindow((admitted) => !admitted) })),
  },
  'refusal-cacheable-429': {
    cause: 'Caches may keep the 429',
    fails: ['limits.refusal-not-cacheable'],
    patch: onAnswer('rate-limited', having('Cache-Control', 'public, max-age=60')),
  },
  'later-refusals-503': {
    cause: 'The first refusal is 429, and those after it {status:503}',
    fails: ['limits.refusal-status'],
    patch: onLaterRefusals(asProblem(503)),
  },
  'undocumented-later-refusals': {
    setting: 'error codes',
    cause: 'The first refusal is as the documents say, and those after it {status:503}',
    fails: ['limits.documented-refusal'],
    patch: onLaterRefusals(asProblem(503)),
  },
  'later-refusals-html': {
    cause: 'The first refusal is JSON, and those after it {media type:text/html}',
    fails: ['limits.refusal-json'],
    patch: onLaterRefusals(holding('<!doctype html><title>429</title>', 'text/html; charset=utf-8')),
  },
  'later-refusals-without-retry-after': {
    cause: 'Only the first refusal has Retry-After',
    fails: ['limits.retry-after'],
    patch: onLaterRefusals(lacking('Retry-After')),
  },
  'later-retry-after-malformed': {
    cause: 'Retry-After is malformed on every refusal but the first',
    fails: ['limits.retry-after-valid'],
    patch: onLaterRefusals(having('Retry-After', 'soon')),
  },
  'later-refusals-cacheable': {
    cause: 'Caches may keep every 429 but the first',
    fails: ['limits.refusal-not-cacheable'],
    patch: onLaterRefusals(having('Cache-Control', 'public, max-age=60')),
  },
  'limit-shared-between-keys': {
    cause: 'One key is refused because another key has spent its quota',
    fails: ['limits.per-key'],
    changes: ['limits.keyed-by'],
    patch: inQuota(() => ({ keyOf: () => 'everybody' })),
  },
  'limit-shared-between-accounts': {
    setting: 'limit by account',
    cause: 'One account is refused because another account has spent its quota, which is not as documented',
    fails: ['limits.scope'],
    changes: ['limits.keyed-by'],
    patch: inQuota(() => ({ keyOf: () => 'everybody' })),
  },
  'limit-by-key-not-address': {
    setting: 'limit by address',
    cause: 'A second key has a quota of its own, where the documents count by address',
    fails: ['limits.scope'],
    changes: ['limits.keyed-by'],
    patch: inQuota(() => ({ keyOf: (identity) => identity })),
  },
  'head-bypasses-limit': {
    cause: 'HEAD is served after the quota is spent',
    fails: ['limits.variants-share'],
    patch: inQuota(({ counts }) => ({ counts: (request) => request.method !== 'HEAD' && counts(request) })),
  },
  'query-bypasses-limit': {
    cause: 'Another query is served after the quota is spent',
    fails: ['limits.variants-share'],
    patch: countingApart(({ query }) => {
      // A credential in the query is no further parameter.
      const names = [...queryParameters(query)].filter(([name]) => !/key|auth|token|md5/i.test(name));
      return `?${new URLSearchParams(names)}`;
    }),
  },
  'never-recovers': {
    cause: 'A key that was refused once is never served again',
    fails: ['limits.recovery', 'limits.client-backoff'],
    patch: onLimiter(({ take, peek }) => {
      const barred = new Set<string>();
      const until = (key: string, admission: Admission): Admission =>
        barred.has(key)
          ? { admitted: false, remaining: 0, renewsInMs: Math.max(1_000, admission.renewsInMs) }
          : admission;
      return {
        take(key, nowMs) {
          const admission = take(key, nowMs);
          if (!admission.admitted) barred.add(key);
          return until(key, admission);
        },
        peek: (key, nowMs) => until(key, peek(key, nowMs)),
      };
    }),
  },
  'refusal-tarpit': {
    cause: 'The 429 is held back before it is sent',
    fails: ['limits.refusal-prompt'],
    patch: aroundHandling(async (request, next, kernel) => {
      const answer = await next(request, kernel);
      if (answer.responseKind === 'rate-limited') await kernel.clock.sleep(TARPIT_MS);
      return answer;
    }),
  },
});
