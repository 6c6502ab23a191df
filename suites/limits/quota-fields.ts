import {
  check,
  clause,
  IN_JSON,
  observation,
  practice,
  quotaFieldsDraft,
  type Reply,
  settled,
} from '../../harness/engine/check/suite.ts';
import { singleFields } from '../headers/headers.suite.ts';
import { everyExchange } from '../stimuli/record.ts';
import { exact, refusalsFree, resetHonest } from './measurement.ts';
import { recovery } from './stimuli/measurement.ts';
import * as quota from './stimuli/quota.ts';

const grounds = [quotaFieldsDraft];
const tellsQuota = ({ response }: Reply) => response.quota.dialect !== 'none';

/** Windows of the documented quota: no served answer of a limiter gives a reset that is as far away. */
const MOST_WINDOWS = 10;

/** A delay that is too long for the documented quota in seconds, and within its window in milliseconds. */
function isDelayInMs(
  { limit, resetSeconds: reset }: Reply['response']['quota'],
  plan: { readonly requests: number; readonly windowMs: number } | null,
): boolean {
  if (plan === null || limit !== plan.requests || reset === null) return false;
  return reset > (MOST_WINDOWS * plan.windowMs) / 1_000 && reset <= plan.windowMs;
}

// Clients pace themselves by what these fields say.
const wellFormed = check('limits.quota-fields', {
  title: 'sends well-formed quota headers',
  headline: 'A quota header is malformed: {got}',
  why: 'Clients pace themselves by these headers, and cannot read them.',
  change: 'Write the header as its format says: whole numbers, and the reset in seconds.',
  grounds,
  restsOn: [singleFields],
  uses: [quota.quotaSample, everyExchange],
  judge: ({ expect }) =>
    expect()
      // What refusals tell has a check of its own.
      .where((reply) => reply.served && tellsQuota(reply), 'no quota headers are sent')
      .toConform('well-formed quota fields', ({ response }) => response.quota.faults[0] ?? null),
});

/** What is told of the quota before it is spent. */
export const quotaFields = [
  // limits.other does not show quota fields.
  observation('limits.dialect', {
    title: 'tells clients their quota in headers, or does not',
    why: 'A client that sees its quota can slow down before it is refused.',
    grounds: [clause('limits.other')],
    uses: [quota.quotaSample],
    async observe({ probe }) {
      const { dialect } = (await probe(quota.quotaSample)).response.quota;
      return { seen: dialect, note: dialect === 'none' ? 'no quota headers are sent' : `dialect ${dialect}` };
    },
  }),

  wellFormed,

  check('limits.quota-fields-agree', {
    title: 'gives in its headers the documented quota',
    headline: 'The quota headers give another limit than the documents: {got}',
    why: 'Clients that trust them run into the limit, or use less than they may.',
    change: 'Take the number in the headers from the same setting as the limit itself.',
    grounds,
    applies: [settled('limits.rate')],
    uses: [quota.everyQuotaAnswer],
    judge: ({ expect, service: { plan } }) =>
      expect()
        .where(
          ({ response }) => plan !== null && response.quota.limit !== null,
          'no quota header gives a limit',
        )
        .toConform(
          `a limit of ${[plan?.rate?.requests ?? [], plan?.requests].flat().join(' or ')}`,
          ({ response: { quota } }) => {
            // Several limits may be announced: the documented one is among them.
            const told = [quota.limit, ...quota.policies.map((policy) => policy.quota)];
            const further = plan?.further ?? [];
            const isTold = [plan, plan?.rate, ...further].some(
              (each) => each && told.includes(each.requests),
            );
            return isTold ? null : String(quota.limit);
          },
        ),
  }),

  // What contradicts itself is no help, whichever half is true.
  check('limits.quota-consistent', {
    title: 'sends no quota headers that contradict each other',
    headline: 'The quota headers contradict each other: {got}',
    why: 'Each library reads another header, so clients behave differently.',
    change: 'Write all quota headers from the same counter.',
    grounds,
    uses: [quota.quotaSample, everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(tellsQuota, 'no quota headers are sent')
        .toConform(
          'quota fields that can all be true',
          ({ response }) => response.quota.contradictions[0] ?? null,
        ),
  }),

  // A client that takes milliseconds for seconds waits for days.
  check('limits.reset-unit', {
    title: 'gives the reset in seconds',
    headline: 'The reset is given in {got}',
    why: 'Clients that read it as seconds wait for days.',
    change: 'Send seconds, from now or since 1970.',
    // Rocket.Chat and a plugin of hapi document milliseconds in X- fields of their own.
    grounds: [practice('resets in seconds, as clients take them')],
    uses: [quota.everyQuotaAnswer],
    judge: ({ expect, service: { plan } }) =>
      expect()
        .where(({ response }) => response.quota.resetSeconds !== null, 'no quota header gives a reset')
        .toConform('seconds, from now or since 1970', ({ response: { quota } }) =>
          quota.dialect.endsWith('-ms') || isDelayInMs(quota, plan) ? 'milliseconds' : null,
        ),
  }),
];

// The refusal tells of fewer requests than the last answer before the burst did.
const quotaShrinks = check('limits.quota-shrinks', {
  title: 'counts the remaining quota down',
  headline: 'The remaining quota does not go down: {got}',
  why: 'Clients believe that they have requests left, and are refused.',
  change: 'Compute the remaining number after the request has been counted.',
  grounds,
  uses: [quota.quotaSample, quota.refusalAnswer],
  async judge({ probe, expect }) {
    const before = (await probe(quota.quotaSample)).response.quota.remaining ?? 0;
    await expect(quota.refusalAnswer)
      .where(
        ({ response }) => before !== 0 && response.quota.remaining !== null,
        'no quota header gives what remains',
      )
      .toConform(`fewer than ${before} remaining`, ({ response: { quota } }) =>
        (quota.remaining ?? 0) < before ? null : `${quota.remaining} remaining`,
      );
  },
});

/** What is told of it, once it is spent. */
export const quotaFieldsWhenSpent = [
  quotaShrinks,

  // The draft of the RateLimit fields: the remaining quota is what a client may still use.
  check('limits.remaining-true', {
    title: 'serves as many requests as it says remain',
    headline: 'The remaining quota is not what is served: {got}',
    why: 'Clients that pace themselves by it are refused without a warning, or stop too early.',
    change: 'Take the remaining number from the counter that decides, after this request was counted.',
    grounds,
    restsOn: [exact, quotaShrinks],
    uses: [recovery],
    async judge({ probe, violated, notApplicable, note }) {
      const { remainingDishonesty, evidence } = await probe(recovery);
      if (remainingDishonesty === undefined)
        return notApplicable('no answers in turn show whether what remains in quota headers is true');
      if (remainingDishonesty !== null)
        violated('a remaining quota that is true', remainingDishonesty, evidence);
      note('nothing contradicts what was told to remain');
    },
  }),

  // The same draft: the reset is when the quota is back, on whatever answer it stands.
  check('limits.served-reset', {
    title: 'gives a reset on served answers that agrees with when the quota is back',
    headline: 'The reset on a served answer is not when the quota is back: {got}',
    why: 'Clients that plan by it come back too early, or wait for nothing.',
    change: 'Compute the reset of every answer from the end of the window.',
    grounds,
    restsOn: [exact, refusalsFree, resetHonest],
    uses: [recovery],
    async judge({ probe, violated, notApplicable, note }) {
      const { servedResetDishonesty, evidence } = await probe(recovery);
      if (servedResetDishonesty === undefined)
        return notApplicable('no served answer gives a reset that can be compared');
      if (servedResetDishonesty !== null)
        violated('a reset when the quota is back', servedResetDishonesty, evidence);
      note('nothing contradicts the reset of served answers');
    },
  }),

  // It is there that a client needs them; of X-RateLimit fields no document says so.
  check('limits.quota-fields-on-refusal', {
    title: 'sends the quota headers on the refusal too',
    headline: 'The refusal has no quota headers',
    why: 'A client that was refused needs them most, to know when to come back.',
    change: 'Add the quota headers to the 429 as to other answers.',
    grounds,
    uses: [quota.quotaSample, quota.refusalAnswer],
    async judge({ expect, probe, notApplicable }) {
      if (!(await probe(quota.quotaSample)).response.quota.dialect.startsWith('ratelimit'))
        notApplicable('no RateLimit headers are sent');
      await expect(quota.refusalAnswer).toConform('quota fields', (reply) =>
        tellsQuota(reply) ? null : 'none',
      );
    },
  }),

  // As on other answers.
  check('limits.refusal-fields', {
    title: 'sends well-formed quota headers on the refusal',
    headline: 'A quota header on the refusal is malformed: {got}',
    why: 'It is from the refusal that a client reads when to come back.',
    change: 'Write the headers of the 429 with the same code as the others, and 0 where nothing remains.',
    grounds,
    restsOn: [wellFormed],
    uses: [quota.refusalAnswer],
    judge: ({ expect }) =>
      expect()
        .where(tellsQuota, 'the refusal has no quota headers')
        .toConform('well-formed quota fields', ({ response }) => response.quota.faults[0] ?? null),
  }),

  // The same draft has problem types, whose member `violated-policies` gives the names of policies.
  check('limits.violated-policies', {
    title: 'names in its refusal policies that RateLimit-Policy has',
    headline: 'The refusal says which policies are spent, but not by their names: {got}',
    why: 'A client with several quotas cannot tell which of them is spent, and slows down everything.',
    change: 'Send a list of names there, and take the names from RateLimit-Policy.',
    grounds,
    restsOn: [wellFormed],
    uses: [quota.quotaSample, quota.refusalAnswer],
    async judge({ expect, probe }) {
      const served = (await probe(quota.quotaSample)).response.quota;
      await expect(quota.refusalAnswer)
        .where(
          ({ response }) => response.isQuotaProblem || (response.isProblem && response.unreadJson !== null),
          'the refusal does not say which policies are spent',
        )
        .toConform(
          'names that RateLimit-Policy has',
          ({ response }) => response.violatedPoliciesFault(served),
          IN_JSON,
        );
    },
  }),
];
