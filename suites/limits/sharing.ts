import {
  check,
  clause,
  countedByKey,
  credentialed,
  inAuthorizationField,
  observation,
  practice,
  scopeOpen,
  scopeStated,
  secondKey,
  settled,
  spokenOverHttp2,
  streamed,
} from '../../harness/engine/check/suite.ts';
import { secondKeyServed, wrongCredential } from '../auth/bad-credentials.ts';
import { instancesApart } from './stimuli/measurement.ts';
import { failuresCounted } from './stimuli/quota.ts';
import * as spent from './stimuli/spent.ts';

const grounds = [practice('OWASP API4:2023')];

/** Else anybody could spend the quota of others. */
export const failedAuthentication = check('limits.failures-free', {
  title: 'does not count requests with a wrong key against the right one',
  headline: 'Requests with a wrong key use up the quota of the right one: {got}',
  why: 'Anyone can lock a customer out without knowing the key.',
  change: 'Check the credential before you count the request.',
  grounds,
  applies: [settled('limits.rate'), credentialed, countedByKey],
  restsOn: [wrongCredential],
  uses: [failuresCounted],
  async judge({ probe, violated, note }) {
    const { taken, wrong, evidence } = await probe(failuresCounted);
    if (taken >= wrong)
      violated('wrong keys to take nothing', `${taken} taken by ${wrong} of them`, evidence);
    note(`${wrong} wrong keys used up nothing`);
  },
});

// RFC 9110 §11.1: the scheme name is case-insensitive, so this is the same credential.
const spellingShares = check('limits.spelling-shares', {
  title: 'has one quota for a key, however its header is spelled',
  headline: 'The key in another spelling gets {answer} beyond the limit',
  why: 'Each spelling has a quota of its own, so the limit is easily multiplied.',
  change: 'Count by the key itself instead of by the text of the header.',
  grounds,
  applies: [inAuthorizationField],
  uses: [spent.spelledWhileExhausted],
  judge: ({ expect }) => expect().toBeUnserved(),
});

/** Whose requests are counted together, however they are written. */
export const sharing = [
  // One customer must not be able to lock out another.
  check('limits.per-key', {
    title: 'counts each key by itself',
    headline: 'The second key gets {answer} once the first has used up its quota',
    why: 'One customer can lock out all the others.',
    change: 'Count by key or by customer, and not for all together or by address.',
    grounds,
    applies: [credentialed, scopeOpen],
    needs: [secondKey],
    restsOn: [wrongCredential, secondKeyServed],
    uses: [spent.secondKeyWhileExhausted],
    judge: ({ expect }) => expect().toHaveStatusClass(2),
  }),

  check('limits.scope', {
    title: 'counts together the requests that the documents say',
    headline: 'The second key gets {answer} beyond the limit, and the documents count otherwise',
    why: 'Clients plan by the documents. They are refused for what others send, or the limit is easily multiplied.',
    change: 'Count by what the documents name (key, account or address), or correct limits.rate.',
    grounds: [clause('limits.rate')],
    applies: [credentialed, scopeStated],
    needs: [secondKey],
    restsOn: [wrongCredential, secondKeyServed],
    uses: [spent.secondKeyWhileExhausted],
    async judge({ expect, service: { plan }, note }) {
      const other = expect();
      if (plan?.per === 'address') return other.toBeUnserved();
      await other.toHaveStatusClass(2);
      note('the second key is of another account: keys of one account are not told apart');
    },
  }),

  // A limit that another spelling gets around is none.
  check('limits.variants-share', {
    title: 'counts HEAD, other spellings of the path and other queries against the same quota',
    headline: 'The same request in another form gets {answer} beyond the limit',
    why: 'A slash or a parameter more is enough to get around the limit.',
    change: 'Count by client, whatever the method, the query and the spelling of the path.',
    grounds,
    uses: [spent.variantsWhileExhausted],
    judge: ({ expect }) => expect().toBeUnserved(),
  }),

  // Whoever can name his own address has as many quotas as he likes.
  check('limits.forwarded-for', {
    title: 'does not let a client choose its quota by X-Forwarded-For',
    headline: 'A request with a made-up X-Forwarded-For gets {answer} beyond the limit',
    why: 'Anyone can write any address into that header, so there is no limit.',
    change: 'Count by key, or take the address of a client from your own proxy alone.',
    grounds,
    uses: [spent.forwardedWhileExhausted],
    judge: ({ expect }) => expect().toBeUnserved(),
  }),

  // What a client calls itself it chooses as well.
  check('limits.user-agent', {
    title: 'does not let a client choose its quota by User-Agent',
    headline: 'A request with another User-Agent gets {answer} beyond the limit',
    why: 'Anyone can write any name into that header, so there is no limit.',
    change: 'Count by key, and leave User-Agent to the statistics.',
    grounds,
    uses: [spent.otherAgentWhileExhausted],
    judge: ({ expect }) => expect().toBeUnserved(),
  }),

  // Clients open as many connections as they like.
  check('limits.connections-share', {
    title: 'counts the requests of all HTTP/2 connections together',
    headline: 'A request on another HTTP/2 connection gets {answer} beyond the limit',
    why: 'A new connection for every few requests is enough to get around the limit.',
    change: 'Count by key or by address, and keep no count with the connection.',
    grounds,
    applies: [spokenOverHttp2],
    uses: [spent.apartWhileExhausted],
    judge: ({ expect }) => expect().toBeUnserved(),
  }),

  // A stream costs one request; no standard says so.
  observation('limits.streams', {
    title: 'refuses streams beyond the limit, or serves them',
    why: 'Where streams are limited too, each lost connection costs a request of the quota.',
    grounds: [clause('limits.rate')],
    applies: [streamed],
    records: 'limits.streams',
    uses: [spent.streamWhileExhausted],
    async observe({ probe }) {
      const { served } = await probe(spent.streamWhileExhausted);
      const seen = served ? 'served' : 'refused';
      return { seen, note: `a stream beyond the limit is ${seen}` };
    },
  }),

  check('limits.one-count', {
    title: 'has one limit and one count behind its address',
    headline: 'Instances have other limits, or each counts by itself: {got}',
    why: 'A client gets the limit once from each instance, or is refused by one while others still serve it.',
    change: 'Keep the count where all instances see it, and give all of them the same limit.',
    grounds: [clause('limits.rate')],
    uses: [instancesApart],
    async judge({ probe, violated, notApplicable, note }) {
      const { fault, evidence } = await probe(instancesApart);
      if (fault === undefined)
        return notApplicable('too few answers in turn give a limit and what remains in quota headers');
      if (fault !== null) violated('one limit and one count', fault, evidence);
      note('nothing shows a second count');
    },
  }),

  spellingShares,

  // RFC 9110 §11.4: one or more spaces stand behind the scheme name.
  check('limits.spaces-share', {
    title: 'has one quota for a key, however many spaces stand before it',
    headline: 'The key behind more spaces gets {answer} beyond the limit',
    why: 'Each number of spaces has a quota of its own, so the limit is easily multiplied.',
    change: 'Count by the key that was found to be right, without the text around it.',
    grounds,
    applies: [inAuthorizationField],
    restsOn: [spellingShares],
    uses: [spent.spacedWhileExhausted],
    judge: ({ expect }) => expect().toBeUnserved(),
  }),

  // limits.other does not show whose requests are counted together.
  observation('limits.keyed-by', {
    title: 'counts requests by key, by the text of the header or by address',
    why: 'It decides who shares a quota with whom.',
    grounds: [clause('limits.other')],
    applies: [inAuthorizationField],
    needs: [secondKey],
    uses: [spent.secondKeyWhileExhausted, spent.spelledWhileExhausted],
    async observe({ probe }) {
      const other = await probe(spent.secondKeyWhileExhausted);
      const spelled = await probe(spent.spelledWhileExhausted);
      const by = spelled.served ? 'raw-header' : other.served ? 'credential' : 'address';
      return { seen: by, note: by };
    },
  }),
];
