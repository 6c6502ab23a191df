import {
  check,
  clause,
  credentialed,
  furtherScopeStated,
  furtherStated,
  given,
  limitMayBeExceeded,
  observation,
  quotaFieldsDraft,
  type Suite,
  secondKey,
  settled,
  suite,
} from '../../harness/engine/check/suite.ts';
import { secondKeyServed } from '../auth/bad-credentials.ts';
import { measurements, recoveries } from './measurement.ts';
import { quotaFields, quotaFieldsWhenSpent } from './quota-fields.ts';
import { failures, refusalShape, refusals } from './refusal.ts';
import { failedAuthentication, sharing } from './sharing.ts';
import * as further from './stimuli/further.ts';

const inWords = ({ requests, windowMs }: further.FurtherLimitMet['limit']) =>
  `${requests} requests in ${windowMs / 1000} s`;

/** A fast client meets the shorter limit on the way to the main one. Other requests of the run judge the others. */
const keepsFurther = check('limits.further', {
  title: 'keeps the further limits that the documents state',
  headline: 'A further limit is not the documented one: {got}',
  why: 'Clients that keep to all limits are refused all the same, or nothing holds back those that send too much.',
  change: 'Count each request against each limit, with the documented numbers.',
  grounds: [clause('limits.rate')],
  applies: [furtherStated],
  uses: [further.furtherLimits],
  async judge({ probe, violated, notApplicable, note }) {
    const met = await probe(further.furtherLimits);
    for (const { limit, kept, evidence } of met) {
      if (kept.kind !== 'broken') continue;
      const wanted = `request ${limit.requests + 1} within ${limit.windowMs / 1000} s to be the first refused`;
      violated(wanted, kept.got, evidence);
    }
    const said = met.map(({ limit, kept }) =>
      kept.kind === 'unmet'
        ? `not judged: ${inWords(limit)} (${kept.reason})`
        : `${inWords(limit)}, and then a refusal`,
    );
    if (met.every(({ kept }) => kept.kind === 'unmet')) notApplicable(said.join('; '));
    note(said.join('; '));
  },
});

/** Limits that the documents state beside the main one. */
export const furtherLimits = [
  keepsFurther,

  // The draft of the RateLimit fields: `r` is what a client may still use of each limit.
  check('limits.further-remaining', {
    title: 'counts down what remains of its further limits',
    headline: 'What remains of a further limit does not fall by what is sent: {got}',
    why: 'Clients that pace themselves by it are refused without a warning, or stop too early.',
    change: 'Take the remaining number of each limit from the counter that decides for it.',
    grounds: [quotaFieldsDraft],
    applies: [furtherStated],
    // What remains of another number than the documented one is counted against that.
    restsOn: [keepsFurther],
    uses: [further.furtherFalls],
    async judge({ probe, violated, notApplicable, note }) {
      const told = await probe(further.furtherFalls);
      if (told.length === 0) notApplicable('no quota header tells what remains of a further limit');
      for (const { limit, fault, evidence } of told) {
        if (fault !== null)
          violated(`what remains of ${inWords(limit)} to fall by one each`, fault, evidence);
      }
      note(`told of ${told.map(({ limit }) => inWords(limit)).join(' and ')}`);
    },
  }),

  check('limits.further-scope', {
    title: 'counts together for a further limit the requests that the documents say',
    headline: 'A further limit counts others together than the documents say: {got}',
    why: 'Clients plan by the documents. They are refused for what others send, or the limit is easily multiplied.',
    change: 'Count by what the documents name (key, account or address), or correct limits.rate.',
    grounds: [clause('limits.rate')],
    applies: [credentialed, furtherScopeStated],
    needs: [secondKey],
    restsOn: [secondKeyServed],
    uses: [further.furtherShared],
    async judge({ probe, violated, notApplicable, note }) {
      const told = await probe(further.furtherShared);
      if (told.length === 0)
        notApplicable('no quota header tells the second key enough of what remains of a further limit');
      for (const { limit, fault, evidence } of told) {
        const wanted = limit.per === 'address' ? 'one count for both keys' : 'a count for each key';
        if (fault !== null) violated(`${wanted} of ${inWords(limit)}`, fault, evidence);
      }
      note(`told of ${told.map(({ limit }) => inWords(limit)).join(' and ')}`);
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
    uses: [further.furtherPolicies],
    async judge({ probe, violated, notApplicable }) {
      const { told, evidence } = await probe(further.furtherPolicies);
      if (told.length === 0) notApplicable('no quota header tells of a further limit');
      const other = told.find(({ limit, policies }) => !policies.includes(limit.requests));
      if (other !== undefined) {
        const { limit, policies } = other;
        const window = `${limit.windowMs / 1000} s`;
        violated(`${limit.requests} in ${window}`, policies.join(' and '), evidence);
      }
    },
  }),

  // Nothing demands that each is announced.
  observation('limits.further-told', {
    title: 'tells in its headers of each limit that the documents state, or of some',
    why: 'A client that sees one limit alone is refused by the other without a warning.',
    grounds: [clause('limits.other')],
    applies: [furtherStated],
    uses: [further.furtherPolicies],
    async observe({ probe, service: { plan } }) {
      const { told } = await probe(further.furtherPolicies);
      const stated = plan?.further?.length ?? 0;
      const seen = told.length === 0 ? 'none' : told.length < stated ? 'some' : 'all';
      return { seen, note: `${told.length} of ${stated} further limits are told` };
    },
  }),
];

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
