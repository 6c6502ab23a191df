import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { credentialed, inAuthorizationField, secondKey, settled } from '../../harness/check/requirement.ts';
import { clause, practice } from '../../harness/contract/ground.ts';
import { failuresCounted } from '../../harness/probe/quota/failures.ts';
import * as spent from '../../harness/probe/quota/spent.ts';
import { exceeding } from './exceeding.ts';

/** Whose requests are counted together, however they are written. */

export const failedAuthentication: readonly CheckDefinition[] = [
  check(
    'limits.failures-free',
    {
      title: 'does not take requests with a wrong key from the quota of the right one',
      grounds: [practice('OWASP API4:2023')],
      applies: [settled('limits.rate'), credentialed],
      provenBy: ['failed-authentication-counts'],
    },
    async ({ probe, violated, note }) => {
      const { taken, wrong, evidence } = await probe(failuresCounted);
      if (taken >= wrong)
        return violated(
          `expected wrong keys to take nothing, got ${taken} taken by ${wrong} of them`,
          evidence,
        );
      note(`${wrong} wrong keys took nothing`);
    },
  ),
];

export const sharing: readonly CheckDefinition[] = [
  check(
    'limits.per-key',
    {
      title: 'counts each key by itself',
      grounds: [practice('OWASP API4:2023')],
      applies: [...exceeding, credentialed],
      needs: [secondKey],
      provenBy: ['limit-shared-between-keys'],
    },
    async ({ probe, expect }) => {
      expect(await probe(spent.secondKeyWhileExhausted)).toHaveStatusClass(2);
    },
  ),

  check(
    'limits.variants-share',
    {
      title: 'counts HEAD, other spellings of the path and other queries against the same quota',
      grounds: [practice('OWASP API4:2023')],
      applies: exceeding,
      provenBy: ['head-bypasses-limit', 'path-bypasses-limit', 'query-bypasses-limit'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(spent.variantsWhileExhausted))).toBeUnserved();
    },
  ),

  check(
    'limits.forwarded-for',
    {
      title: 'does not let a client choose its quota by X-Forwarded-For',
      grounds: [practice('OWASP API4:2023')],
      applies: exceeding,
      provenBy: ['keyed-by-forwarded-for'],
    },
    async ({ probe, expect }) => {
      expect(await probe(spent.forwardedWhileExhausted)).toBeUnserved();
    },
  ),

  // RFC 9110 §11.1: the scheme name is case-insensitive, so this is the same credential.
  check(
    'limits.spelling-shares',
    {
      title: 'has one quota for a credential, however it is written',
      grounds: [practice('OWASP API4:2023')],
      applies: [...exceeding, inAuthorizationField],
      provenBy: ['keyed-by-raw-credential'],
    },
    async ({ probe, expect }) => {
      expect(await probe(spent.spelledWhileExhausted)).toBeUnserved();
    },
  ),

  observation(
    'limits.keyed-by',
    {
      title: 'counts requests by some property of them',
      grounds: [clause('limits.other')],
      applies: [...exceeding, inAuthorizationField],
      needs: [secondKey],
      shownBy: ['limit-shared-between-keys', 'keyed-by-raw-credential'],
    },
    async ({ probe, observe, note }) => {
      const other = await probe(spent.secondKeyWhileExhausted);
      const spelled = await probe(spent.spelledWhileExhausted);
      const by = spelled.served ? 'raw-header' : other.served ? 'credential' : 'address';
      observe('limits.keyed-by', by);
      note(by);
    },
  ),
];
