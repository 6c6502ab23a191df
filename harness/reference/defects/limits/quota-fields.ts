import type { FieldLine } from '../../../wire/exchange.ts';
import { policyName } from '../../../wire/quota/ratelimit-named.ts';
import { type Defect, EVERY, tableOf } from '../../behavior/deviation.ts';
import { inQuota, onAdmission } from '../../behavior/patches/parts.ts';
import { onAnswer, type Patch } from '../../behavior/patches/patch.ts';
import { withMembers } from '../../http/answer-changes.ts';
import { type Admission, type QuotaPlan, rateLimitFields, xRateLimitFields } from '../../quota/limiter.ts';

/** Faults of what the fields tell of a quota, while the quota itself is in order. */

const MALFORMED_FIELDS: readonly FieldLine[] = [
  ['RateLimit-Policy', '"default";q=many;w=1.5'],
  ['RateLimit', '"default";r = ;t=soon'],
];

/** Refusals say that these policies are spent. */
const violating = (policies: unknown): Patch =>
  onAnswer('rate-limited', (answer) => withMembers(answer, { 'violated-policies': policies }));

/** Reports a wrong quota state for each request. */
const telling = (change: (admission: Admission, plan: QuotaPlan) => Partial<Admission>): Patch =>
  inQuota(({ fields }) => ({
    fields: (plan, admission, nowMs) => fields(plan, { ...admission, ...change(admission, plan) }, nowMs),
  }));

/** Writes X-RateLimit-Reset in another way. */
const resetting = (reset: (admission: Admission, nowMs: number) => string): Patch =>
  inQuota(() => ({
    fields: (plan, admission, nowMs) =>
      xRateLimitFields(plan, admission, nowMs).map(([name, value]) => [
        name,
        name === 'X-RateLimit-Reset' ? reset(admission, nowMs) : value,
      ]),
  }));

export const QUOTA_FIELD_DEFECTS = tableOf<Defect>(EVERY, {
  'quota-fields-lie': {
    cause: 'The remaining quota never goes down',
    fails: ['limits.quota-shrinks'],
    patch: onAdmission((admission, limit) => ({ ...admission, remaining: limit })),
  },
  'remaining-one-too-many': {
    cause: 'The remaining quota is told one too high',
    fails: ['limits.remaining-true'],
    patch: onAdmission((admission) =>
      admission.admitted ? { ...admission, remaining: admission.remaining + 1 } : admission,
    ),
  },
  'remaining-too-few': {
    cause: 'The remaining quota falls faster than requests are counted',
    fails: ['limits.remaining-true'],
    patch: onAdmission((admission, limit) => ({
      ...admission,
      remaining: Math.max(0, 2 * admission.remaining - limit),
    })),
  },
  'remaining-from-cache': {
    cause: 'The remaining quota is told as it was some requests ago',
    fails: ['limits.remaining-true'],
    patch: onAdmission((admission, limit) => ({
      ...admission,
      remaining: admission.admitted ? Math.min(limit, Math.ceil((admission.remaining + 1) / 10) * 10) : 0,
    })),
  },
  'reset-rolls-on': {
    cause: 'The reset on served answers moves with each request, and the quota is back before',
    fails: ['limits.served-reset'],
    patch: telling(({ admitted, renewsInMs }, { windowMs }) => ({
      renewsInMs: admitted ? windowMs : renewsInMs,
    })),
  },
  'reset-of-served-too-early': {
    cause: 'The reset on served answers is over before the quota is back',
    fails: ['limits.served-reset'],
    patch: telling(({ admitted, renewsInMs }) => ({ renewsInMs: admitted ? renewsInMs / 2 : renewsInMs })),
  },
  'quota-fields-malformed': {
    // RFC 9651
    cause: 'The RateLimit headers cannot be parsed',
    fails: ['limits.quota-fields'],
    patch: inQuota(() => ({ fields: () => MALFORMED_FIELDS })),
  },
  'quota-fields-other-limit': {
    cause: 'The quota headers name another limit than the one that is enforced',
    fails: ['limits.quota-fields-agree'],
    patch: inQuota(({ fields }) => ({
      fields: (plan, admission, nowMs) => fields({ ...plan, requests: 2 * plan.requests }, admission, nowMs),
    })),
  },
  'refusal-without-quota-fields': {
    cause: 'The 429 lacks the quota headers that other responses have',
    fails: ['limits.quota-fields-on-refusal'],
    patch: onAnswer('rate-limited', (answer) => ({
      ...answer,
      fields: answer.fields.filter(([name]) => !/ratelimit/i.test(name)),
    })),
  },
  'violates-unknown-policy': {
    cause: 'The 429 names a policy that RateLimit-Policy does not have',
    fails: ['limits.violated-policies'],
    patch: violating(['free-plan']),
  },
  'violated-policy-is-text': {
    cause: 'The 429 gives violated-policies as a text in place of a list',
    fails: ['limits.violated-policies'],
    patch: violating(policyName(0)),
  },
  'remaining-negative': {
    cause: 'The remaining quota is negative on the 429',
    fails: ['limits.refusal-fields'],
    patch: inQuota(({ fields }) => ({
      fields: (plan, admission, nowMs) =>
        fields(plan, admission, nowMs).map(([name, value]) => [
          name,
          admission.admitted ? value : value.replace(/\br=0\b/, 'r=-1'),
        ]),
    })),
  },
  'reset-not-a-number': {
    cause: 'The reset of the quota is neither a number nor a date',
    fails: ['limits.quota-fields'],
    patch: resetting(() => 'NaN'),
  },
  'quota-fields-contradict': {
    cause: 'The quota headers contradict each other',
    fails: ['limits.quota-consistent'],
    patch: inQuota(() => ({
      fields: (plan, admission, nowMs) => [
        ...rateLimitFields(plan, admission, nowMs),
        ...xRateLimitFields(plan, { ...admission, remaining: admission.remaining + 1 }, nowMs),
      ],
    })),
  },
  'reset-epoch-milliseconds': {
    cause: 'The reset of the quota counts milliseconds, not seconds',
    fails: ['limits.reset-unit'],
    patch: resetting(({ renewsInMs }, nowMs) => String(Math.ceil(nowMs + renewsInMs))),
  },
  'remaining-twice': {
    cause: 'The remaining quota comes in two headers of the same name',
    fails: ['headers.single-fields'],
    patch: inQuota(() => ({
      fields: (plan, admission, nowMs) =>
        xRateLimitFields(plan, admission, nowMs).flatMap(([name, value]) =>
          name === 'X-RateLimit-Remaining'
            ? [[name, value] as const, [name, value] as const]
            : [[name, value] as const],
        ),
    })),
  },
  'reset-whole-window': {
    cause: 'The reset on the 429 always names the whole window, not the time that is left',
    fails: ['limits.reset-honest'],
    patch: telling((_, { windowMs }) => ({ renewsInMs: windowMs })),
  },
  'reset-too-early': {
    cause: 'A request after the announced reset is still refused',
    fails: ['limits.reset-honest'],
    patch: telling(({ renewsInMs }) => ({ renewsInMs: renewsInMs / 2 })),
  },
});
