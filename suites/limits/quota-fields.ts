import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { settled } from '../../harness/check/requirement.ts';
import { clause, practice } from '../../harness/contract/ground.ts';
import { quotaReplies } from '../../harness/probe/gathered.ts';
import * as quota from '../../harness/probe/quota/quota.ts';
import { exceeding } from './exceeding.ts';

/** What is told of the quota, before it is spent and on the refusal. */

export const quotaFields: readonly CheckDefinition[] = [
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
];

export const quotaFieldsWhenSpent: readonly CheckDefinition[] = [
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
];
