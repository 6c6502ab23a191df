import {
  type CheckDefinition,
  check,
  clause,
  furtherStated,
  observation,
  quotaFieldsDraft,
} from '../../harness/check/suite.ts';
import { furtherLimit, furtherPolicies } from '../../harness/probe/quota/further.ts';

/** Limits that the documents state beside the main one. */
export const furtherLimits: readonly CheckDefinition[] = [
  // limits.rate: `further`. Who sends fast meets the shorter limit on the way to the main one.
  check('limits.further', {
    title: 'keeps the further limit that the documents state',
    headline: 'The further limit is not the documented one: {got}',
    why: 'Clients that keep to both limits are refused all the same, or nothing holds back those that send too fast.',
    change: 'Count each request against both limits, with the documented numbers.',
    grounds: [clause('limits.rate')],
    applies: [furtherStated],
    async judge({ probe, violated, notApplicable, note }) {
      const { limit, kept, evidence } = await probe(furtherLimit);
      const { requests, windowMs } = limit;
      if (kept.kind === 'unmet') return notApplicable(kept.reason);
      if (kept.kind === 'broken') {
        const wanted = `request ${requests + 1} within ${windowMs / 1000} s to be the first refused`;
        return violated(`expected ${wanted}, got ${kept.got}`, evidence);
      }
      note(`${requests} requests in ${windowMs / 1000} s, and then a refusal`);
    },
  }),

  // The draft of the RateLimit fields: a policy for each limit.
  check('limits.further-policies', {
    title: 'gives in its headers the documented numbers of further limits',
    headline: 'The headers give another number for a further limit: {got}',
    why: 'Clients that pace themselves by it are refused, or use less than they may.',
    change: 'Take the number of each policy from the setting of its limit.',
    grounds: [quotaFieldsDraft],
    applies: [furtherStated],
    async judge({ probe, violated, notApplicable }) {
      const { told, evidence } = await probe(furtherPolicies);
      if (told.length === 0) notApplicable('no quota header tells of a further limit');
      const other = told.find(({ limit, policies }) => !policies.includes(limit.requests));
      if (other !== undefined) {
        const { limit, policies } = other;
        const window = `${limit.windowMs / 1000} s`;
        violated(`expected ${limit.requests} in ${window}, got ${policies.join(' and ')}`, evidence);
      }
    },
  }),

  // Nothing demands that each is announced.
  observation('limits.further-told', {
    title: 'tells in its headers of each limit that the documents state, or of some',
    why: 'A client that sees one limit alone is refused by the other without a warning.',
    grounds: [clause('limits.other')],
    applies: [furtherStated],
    async observe({ probe, service: { plan } }) {
      const { told } = await probe(furtherPolicies);
      const stated = plan?.further?.length ?? 0;
      const seen = told.length === 0 ? 'none' : told.length < stated ? 'some' : 'all';
      return { seen, note: `${told.length} of ${stated} further limits are told` };
    },
  }),
];
