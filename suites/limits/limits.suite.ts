import { given, limitMayBeExceeded, type Suite, settled, suite } from '../../harness/engine/check/suite.ts';
import { furtherLimits } from './further.ts';
import { measurements, recoveries } from './measurement.ts';
import { quotaFields, quotaFieldsWhenSpent } from './quota-fields.ts';
import { failures, refusalShape, refusals } from './refusal.ts';
import { failedAuthentication, sharing } from './sharing.ts';

/** In ms. A service may hold each answer back instead of refusing any: then a burst takes two windows and more. */
const LONGEST_MS = 15 * 60_000;

/** What needs some of the quota comes first: once it is spent there is nothing else to be had. */
const checks = [
  ...quotaFields,
  failedAuthentication,
  ...given(
    [settled('limits.rate'), limitMayBeExceeded],
    [
      refusalShape,
      ...measurements,
      failures,
      ...furtherLimits,
      ...refusals,
      ...recoveries,
      ...sharing,
      ...quotaFieldsWhenSpent,
    ],
  ),
];

const whole = suite(
  'limits',
  'Rate limit and backoff',
  checks.map((each) => ({ ...each, limitMs: LONGEST_MS })),
);

export const limits: Suite = { ...whole, exhausts: true };
