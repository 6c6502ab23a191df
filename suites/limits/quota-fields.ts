import {
  type CheckDefinition,
  check,
  clause,
  observation,
  practice,
  type Reply,
  settled,
} from '../../harness/check/suite.ts';
import { quotaReplies } from '../../harness/probe/every-reply.ts';
import * as quota from '../../harness/probe/quota/quota.ts';

const grounds = [practice('RateLimit header fields draft')];
const tellsQuota = ({ response }: Reply) => response.quota.dialect !== 'none';

// Clients pace themselves by what these fields say.
const wellFormed = check('limits.quota-fields', {
  title: 'sends well-formed quota fields',
  grounds,
  judge: ({ expect }) =>
    expect(quotaReplies)
      .where(tellsQuota, 'no quota fields are seen')
      .toConform('well-formed quota fields', ({ response }) => response.quota.faults[0] ?? null),
});

/** What is told of the quota before it is spent. */
export const quotaFields: readonly CheckDefinition[] = [
  // limits.other does not show quota fields.
  observation('limits.dialect', {
    title: 'tells the quota in its responses',
    grounds: [clause('limits.other')],
    async observe({ probe }) {
      const { dialect } = (await probe(quota.quotaSample)).response.quota;
      return { seen: dialect, note: dialect === 'none' ? 'no quota fields are seen' : `dialect ${dialect}` };
    },
  }),

  wellFormed,

  // limits.rate: the plan has one number.
  check('limits.quota-fields-agree', {
    title: 'tells the quota that the plan has',
    grounds,
    applies: [settled('limits.rate')],
    judge: ({ expect, service: { plan } }) =>
      expect(quota.quotaSample)
        .where(
          ({ response }) => plan !== null && response.quota.limit !== null,
          'no limit is told in quota fields',
        )
        .toConform(`a limit of ${plan?.requests}`, ({ response: { quota } }) =>
          quota.limit === plan?.requests ? null : String(quota.limit),
        ),
  }),

  // What contradicts itself is no help, whichever half is true.
  check('limits.quota-consistent', {
    title: 'sends no quota fields that contradict each other',
    grounds,
    judge: ({ expect }) =>
      expect(quotaReplies)
        .where(tellsQuota, 'no quota fields are seen')
        .toConform(
          'quota fields that can all be true',
          ({ response }) => response.quota.contradictions[0] ?? null,
        ),
  }),

  // A client that takes milliseconds for seconds waits for days.
  check('limits.reset-unit', {
    title: 'tells the reset in seconds',
    grounds: [practice('resets in seconds, as clients take them')],
    judge: ({ expect }) =>
      expect(quota.quotaSample)
        .where(({ response }) => response.quota.resetSeconds !== null, 'no reset is told')
        .toConform('seconds, from now or since 1970', ({ response }) =>
          response.quota.dialect.endsWith('-ms') ? 'milliseconds' : null,
        ),
  }),
];

/** What is told of it on the refusal. */
export const quotaFieldsWhenSpent: readonly CheckDefinition[] = [
  // The refusal tells of fewer requests than the last answer before the burst did.
  check('limits.quota-shrinks', {
    title: 'counts the remaining quota down',
    grounds,
    async judge({ probe, expect }) {
      const before = (await probe(quota.quotaSample)).response.quota.remaining ?? 0;
      await expect(quota.refusalAnswer)
        .where(
          ({ response }) => before !== 0 && response.quota.remaining !== null,
          'no remaining quota is told',
        )
        .toConform(`fewer than ${before} remaining`, ({ response: { quota } }) =>
          (quota.remaining ?? 0) < before ? null : `${quota.remaining} remaining`,
        );
    },
  }),

  // It is there that a client needs them.
  check('limits.quota-fields-on-refusal', {
    title: 'tells of the quota on the refusal as on other answers',
    grounds,
    async judge({ expect, probe, notApplicable }) {
      if (!tellsQuota(await probe(quota.quotaSample))) notApplicable('no quota fields are seen');
      await expect(quota.refusalAnswer).toConform('quota fields', (reply) =>
        tellsQuota(reply) ? null : 'none',
      );
    },
  }),

  // As on other answers.
  check('limits.refusal-fields', {
    title: 'sends well-formed quota fields on the refusal',
    grounds,
    restsOn: [wellFormed],
    judge: ({ expect }) =>
      expect(quota.refusalAnswer)
        .where(tellsQuota, 'the refusal has no quota fields')
        .toConform('well-formed quota fields', ({ response }) => response.quota.faults[0] ?? null),
  }),
];
