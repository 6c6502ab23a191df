import { type Defect, REALTIME, tableOf } from '../conduct/deviation.ts';
import { inCredentials, type Patch } from '../conduct/patch.ts';
import type { SignatureRules } from '../credentials/signature.ts';

const loosened = (change: Partial<SignatureRules>): Patch =>
  inCredentials(({ signature }) => ({ signature: { ...signature, ...change } }));

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

const SIGNED = { ...REALTIME, setting: 'signed' };

/** Where signed requests are held to less than they should be. */
export const SIGNATURE_DEFECTS = tableOf<Defect>(SIGNED, {
  'accepts-any-signature': {
    summary: 'looks at the application key of a signed request and not at its signature',
    breaks: 'a request signed with a wrong secret is served',
    trips: ['auth.wrong-credential'],
    patch: loosened({ signatureMatches: () => true }),
  },
  'accepts-stale-timestamp': {
    summary: 'takes signatures of any age',
    breaks: 'a request signed an hour ago is served',
    trips: ['auth.signed-stale'],
    patch: loosened({ toleranceMs: Number.POSITIVE_INFINITY }),
  },
  'ignores-body-digest': {
    summary: 'does not hold signed content against its digest',
    breaks: 'a signed request whose content was altered is served',
    trips: ['auth.signed-content'],
    patch: loosened({ digestDemanded: false }),
  },
  'signature-ignores-method': {
    summary: 'takes a signature for whatever method it comes with',
    breaks: 'a request signed for PUT is served as GET',
    trips: ['auth.signed-method'],
    patch: loosened({ spellings: (of) => [of, ...METHODS.map((method) => ({ ...of, method }))] }),
  },
  'signature-ignores-path': {
    summary: 'takes a signature for whatever lies below as one for the path above it',
    breaks: 'a request signed for `/v1/resources/other` is served as `/v1/resources`',
    trips: ['auth.signed-path'],
    patch: loosened({ spellings: (of) => [of, { ...of, path: `${of.path}/other` }] }),
  },
  'signature-ignores-query': {
    summary: 'does not hold the parameters of a signed request against its signature',
    breaks: 'a signed request that was given a further parameter is served',
    trips: ['auth.signed-query'],
    patch: loosened({
      spellings: (of) => [
        of,
        { ...of, parameters: of.parameters.filter(([name]) => /^(auth_|body_md5)/.test(name)) },
      ],
    }),
  },
});
