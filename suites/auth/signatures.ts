import {
  type CheckDefinition,
  type Condition,
  check,
  clause,
  given,
  observation,
  type Probe,
  practice,
  pusherDialect,
  type Reply,
  signed,
  unsafeMethods,
} from '../../harness/engine/check/suite.ts';
import { missingCredential, refusalClass, wrongCredential } from './bad-credentials.ts';
import * as signature from './stimuli/signature.ts';

const grounds = [clause('auth.scheme'), practice('OWASP API2:2023')];

/** `what` completes "refuses a request that was signed for …" and "A request signed for … gets status 200". */
const holdsTo = (
  id: string,
  what: string,
  probe: Probe<Reply>,
  options: { readonly applies?: readonly Condition[] } = {},
): CheckDefinition =>
  check(id, {
    title: `refuses a request that was signed for ${what}`,
    headline: `A request signed for ${what} gets {answer}`,
    why: 'What a signature does not cover can be changed by anyone between the client and the service.',
    change:
      'Compute the signature over method, path, query and a digest of the body, and compare it with the one sent.',
    grounds,
    restsOn: [refusalClass, missingCredential, wrongCredential],
    ...options,
    uses: [probe],
    judge: ({ expect }) => expect(probe).toHaveStatus(400, 401, 403),
  });

/** A signature speaks for one request at one time; `auth.wrong-credential` is its wrong secret. */
export const signatures: readonly CheckDefinition[] = given(
  [signed],
  [
    // auth.scheme: what is signed is what is asked.
    holdsTo('auth.signed-method', 'another method', signature.signedForOtherMethod),
    holdsTo('auth.signed-path', 'another path', signature.signedForOtherPath),
    holdsTo('auth.signed-query', 'fewer parameters', signature.signedForOtherQuery),
    holdsTo('auth.signed-content', 'other content', signature.signedForOtherContent, {
      applies: [pusherDialect, unsafeMethods],
    }),

    // auth.scheme: the time is signed along, so that what was overheard is of no use for long.
    check('auth.signed-stale', {
      title: 'refuses a signature that is an hour old',
      headline: 'A signature that is an hour old gets {answer}',
      why: 'Whoever records one signed request can send it again at any time.',
      change: 'Check the signed timestamp, and refuse what is older than a few minutes.',
      grounds,
      uses: [signature.staleSignature],
      judge: ({ expect }) => expect(signature.staleSignature).toHaveStatus(400, 401, 403),
    }),

    // auth.usage does not show whether a signature may come twice.
    observation('auth.signed-replay', {
      title: 'accepts the same signature twice, or refuses it the second time',
      why: 'A signature that works twice lets anyone who recorded a request send it again.',
      grounds: [clause('auth.usage')],
      uses: [signature.replayedSignature],
      async observe({ probe }) {
        const { served, response } = await probe(signature.replayedSignature);
        const note = served
          ? 'a replayed request is served'
          : `a replayed request is refused with ${response.status}`;
        return { seen: served, note };
      },
    }),
  ],
);
