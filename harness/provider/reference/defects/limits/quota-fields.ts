import type { FieldLine } from '../../../../evidence/exchange.ts';
import { type Defect, EVERY, tableOf } from '../../conduct/deviation.ts';
import { inQuota, onAdmission, onAnswer } from '../../conduct/patch.ts';
import { rateLimitFields, xRateLimitFields } from '../../quota/quota-fields.ts';

/** Faults of what the fields tell of a quota, while the quota itself is in order. */

const MALFORMED_FIELDS: readonly FieldLine[] = [
  ['RateLimit-Policy', '"default";q=many;w=1.5'],
  ['RateLimit', '"default";r = ;t=soon'],
];

export const QUOTA_FIELD_DEFECTS = tableOf<Defect>(EVERY, {
  'quota-fields-lie': {
    summary: 'announces a quota that never shrinks',
    breaks: 'the remaining quota is the same on every answer, refusals included',
    trips: ['limits.quota-shrinks'],
    patch: onAdmission((admission, limit) => ({ ...admission, remaining: limit })),
  },
  'quota-fields-malformed': {
    summary: 'writes quota fields that are no structured fields (RFC 9651)',
    breaks: 'RateLimit and RateLimit-Policy cannot be parsed',
    trips: ['limits.quota-fields'],
    patch: inQuota(() => ({ fields: () => MALFORMED_FIELDS })),
  },
  'quota-fields-other-limit': {
    summary: 'announces twice the quota that it has',
    breaks: 'RateLimit-Policy tells of 2N requests, N are served',
    trips: ['limits.quota-fields-agree'],
    patch: inQuota(({ fields }) => ({
      fields: (plan, admission, nowMs) => fields({ ...plan, requests: 2 * plan.requests }, admission, nowMs),
    })),
  },
  'refusal-without-quota-fields': {
    summary: 'tells of the quota as long as there is some, and no more when it is spent',
    breaks: 'RateLimit and RateLimit-Policy are missing on the 429',
    trips: ['limits.quota-fields-on-refusal'],
    patch: onAnswer('rate-limited', (answer) => ({
      ...answer,
      fields: answer.fields.filter(([name]) => !/ratelimit/i.test(name)),
    })),
  },
  'remaining-negative': {
    summary: 'counts the remaining quota below zero',
    breaks: 'RateLimit tells of -1 remaining requests on the 429 (a non-negative integer in the draft)',
    trips: ['limits.refusal-fields'],
    patch: inQuota(({ fields }) => ({
      fields: (plan, admission, nowMs) =>
        fields(plan, admission, nowMs).map(([name, value]) => [
          name,
          admission.admitted ? value : value.replace(/\br=0\b/, 'r=-1'),
        ]),
    })),
  },
  'reset-not-a-number': {
    summary: 'tells the reset as what a failed calculation came to',
    breaks: 'X-RateLimit-Reset is NaN',
    trips: ['limits.quota-fields'],
    patch: inQuota(() => ({
      fields: (plan, admission, nowMs) =>
        xRateLimitFields(plan, admission, nowMs).map(([name, value]) => [
          name,
          name === 'X-RateLimit-Reset' ? 'NaN' : value,
        ]),
    })),
  },
  'quota-fields-contradict': {
    summary: 'announces the same quota in two sets of fields that disagree',
    breaks: 'X-RateLimit-Remaining tells of one request more than RateLimit',
    trips: ['limits.quota-consistent'],
    patch: inQuota(() => ({
      fields: (plan, admission, nowMs) => [
        ...rateLimitFields(plan, admission, nowMs),
        ...xRateLimitFields(plan, { ...admission, remaining: admission.remaining + 1 }, nowMs),
      ],
    })),
  },
  'reset-epoch-milliseconds': {
    summary: 'tells the reset in milliseconds since 1970',
    breaks: 'X-RateLimit-Reset is a thousand times what clients take it for',
    trips: ['limits.reset-unit'],
    patch: inQuota(() => ({
      fields: (plan, admission, nowMs) => [
        ...xRateLimitFields(plan, admission, nowMs).filter(([name]) => name !== 'X-RateLimit-Reset'),
        ['X-RateLimit-Reset', String(Math.ceil(nowMs + admission.renewsInMs))],
      ],
    })),
  },
  'reset-whole-window': {
    summary: 'tells a whole window as the time until the reset, however much of it is over',
    breaks: 'RateLimit on the 429 tells of the full window, and the service serves before it is over',
    trips: ['limits.reset-honest'],
    patch: inQuota(({ fields }) => ({
      fields: (plan, admission, nowMs) => fields(plan, { ...admission, renewsInMs: plan.windowMs }, nowMs),
    })),
  },
  'reset-too-early': {
    summary: 'tells half the time until the reset',
    breaks: 'a request after the reset that the 429 told of is refused',
    trips: ['limits.reset-honest'],
    patch: inQuota(({ fields }) => ({
      fields: (plan, admission, nowMs) =>
        fields(plan, { ...admission, renewsInMs: admission.renewsInMs / 2 }, nowMs),
    })),
  },
});
