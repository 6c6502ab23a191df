import { suite } from '../harness/check/check.ts';
import { measurements } from './rate-limit/measurement.ts';
import { quotaFields, quotaFieldsWhenSpent } from './rate-limit/quota-fields.ts';
import { recoveries } from './rate-limit/recovery.ts';
import { refusalShape, refusals } from './rate-limit/refusal.ts';
import { failedAuthentication, sharing } from './rate-limit/sharing.ts';

/** In ms. A service may hold each answer back instead of refusing any: then a burst takes two windows and more. */
const LONGEST_MS = 15 * 60_000;

/** What needs some of the quota comes first: once it is spent there is nothing else to be had. */
const checks = [
  ...quotaFields,
  ...failedAuthentication,
  ...refusalShape,
  ...measurements,
  ...refusals,
  ...recoveries,
  ...sharing,
  ...quotaFieldsWhenSpent,
];

export const rateLimit = suite(
  'rate-limit',
  'Rate limit and backoff',
  checks.map((each) => ({ ...each, limitMs: LONGEST_MS })),
);
