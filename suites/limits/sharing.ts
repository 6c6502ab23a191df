import {
  type CheckDefinition,
  check,
  clause,
  credentialed,
  inAuthorizationField,
  observation,
  practice,
  secondKey,
  settled,
} from '../../harness/check/suite.ts';
import { failuresCounted } from '../../harness/probe/quota/quota.ts';
import * as spent from '../../harness/probe/quota/spent.ts';

const grounds = [practice('OWASP API4:2023')];

/** Else anybody could spend the quota of others. */
export const failedAuthentication: CheckDefinition = check('limits.failures-free', {
  title: 'does not take requests with a wrong key from the quota of the right one',
  grounds,
  applies: [settled('limits.rate'), credentialed],
  async judge({ probe, violated, note }) {
    const { taken, wrong, evidence } = await probe(failuresCounted);
    if (taken >= wrong)
      violated(`expected wrong keys to take nothing, got ${taken} taken by ${wrong} of them`, evidence);
    note(`${wrong} wrong keys took nothing`);
  },
});

/** Whose requests are counted together, however they are written. */
export const sharing: readonly CheckDefinition[] = [
  // One customer must not be able to lock out another.
  check('limits.per-key', {
    title: 'counts each key by itself',
    grounds,
    applies: [credentialed],
    needs: [secondKey],
    judge: ({ expect }) => expect(spent.secondKeyWhileExhausted).toHaveStatusClass(2),
  }),

  // A limit that another spelling gets around is none.
  check('limits.variants-share', {
    title: 'counts HEAD, other spellings of the path and other queries against the same quota',
    grounds,
    judge: ({ expect }) => expect(spent.variantsWhileExhausted).toBeUnserved(),
  }),

  // Whoever can name his own address has as many quotas as he likes.
  check('limits.forwarded-for', {
    title: 'does not let a client choose its quota by X-Forwarded-For',
    grounds,
    judge: ({ expect }) => expect(spent.forwardedWhileExhausted).toBeUnserved(),
  }),

  // RFC 9110 §11.1: the scheme name is case-insensitive, so this is the same credential.
  check('limits.spelling-shares', {
    title: 'has one quota for a credential, however it is written',
    grounds,
    applies: [inAuthorizationField],
    judge: ({ expect }) => expect(spent.spelledWhileExhausted).toBeUnserved(),
  }),

  // limits.other does not show whose requests are counted together.
  observation('limits.keyed-by', {
    title: 'counts requests by some property of them',
    grounds: [clause('limits.other')],
    applies: [inAuthorizationField],
    needs: [secondKey],
    async observe({ probe }) {
      const other = await probe(spent.secondKeyWhileExhausted);
      const spelled = await probe(spent.spelledWhileExhausted);
      const by = spelled.served ? 'raw-header' : other.served ? 'credential' : 'address';
      return { seen: by, note: by };
    },
  }),
];
