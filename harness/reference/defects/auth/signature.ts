import { type Defect, REALTIME, tableOf, under } from '../../behavior/deviation.ts';
import { inCredentials } from '../../behavior/patches/parts.ts';
import type { Patch } from '../../behavior/patches/patch.ts';
import type { SignatureRules } from '../../credentials.ts';

const loosened = (change: Partial<SignatureRules>): Patch =>
  inCredentials(({ signature }) => ({ signature: { ...signature, ...change } }));

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

export const SIGNATURE_DEFECTS = tableOf<Defect>(under('signed', REALTIME), {
  'accepts-any-signature': {
    cause: 'A request that was signed with a wrong secret is served',
    fails: ['auth.wrong-credential'],
    patch: loosened({ signatureMatches: () => true }),
  },
  'accepts-stale-timestamp': {
    cause: 'A request that was signed an hour ago is served',
    fails: ['auth.signed-stale'],
    patch: loosened({ toleranceMs: Number.POSITIVE_INFINITY }),
  },
  'ignores-body-digest': {
    cause: 'A signed request is served although its body was changed',
    fails: ['auth.signed-content'],
    patch: loosened({ digestDemanded: false }),
  },
  'signature-ignores-method': {
    cause: 'A request that was signed for another method is served',
    fails: ['auth.signed-method'],
    patch: loosened({ spellings: (of) => [of, ...METHODS.map((method) => ({ ...of, method }))] }),
  },
  'signature-ignores-path': {
    cause: 'A request that was signed for another path is served',
    fails: ['auth.signed-path'],
    patch: loosened({ spellings: (of) => [of, { ...of, path: `${of.path}/other` }] }),
  },
  'signature-ignores-query': {
    cause: 'A signed request is served although its query was changed',
    fails: ['auth.signed-query'],
    patch: loosened({
      spellings: (of) => [
        of,
        { ...of, parameters: of.parameters.filter(([name]) => /^(auth_|body_md5)/.test(name)) },
      ],
    }),
  },
});
