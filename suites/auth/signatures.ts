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
} from '../../harness/check/suite.ts';
import * as signature from '../../harness/probe/request/signature.ts';
import { wrongCredential } from './bad-credentials.ts';

interface SignedFor {
  readonly id: string;
  /** Completes "refuses a request that was signed for …". */
  readonly what: string;
  readonly probe: Probe<Reply>;
  readonly applies?: readonly Condition[];
}

const grounds = [clause('auth.scheme'), practice('OWASP API2:2023')];

function holdsTo({ what, id, probe, ...options }: SignedFor): CheckDefinition {
  return check(id, {
    title: `refuses a request that was signed for ${what}`,
    grounds,
    restsOn: [wrongCredential],
    ...options,
    judge: ({ expect }) => expect(probe).toHaveStatus(400, 401, 403),
  });
}

/** A signature speaks for one request at one time; `auth.wrong-credential` is its wrong secret. */
export const signatures: readonly CheckDefinition[] = given(
  [signed],
  [
    // auth.scheme: what is signed is what is asked.
    holdsTo({ id: 'auth.signed-method', what: 'another method', probe: signature.signedForOtherMethod }),
    holdsTo({ id: 'auth.signed-path', what: 'another path', probe: signature.signedForOtherPath }),
    holdsTo({ id: 'auth.signed-query', what: 'fewer parameters', probe: signature.signedForOtherQuery }),
    holdsTo({
      id: 'auth.signed-content',
      what: 'other content',
      probe: signature.signedForOtherContent,
      applies: [pusherDialect, unsafeMethods],
    }),

    // auth.scheme: the time is signed along, so that what was overheard is of no use for long.
    check('auth.signed-stale', {
      title: 'refuses a signature of an hour ago',
      grounds,
      judge: ({ expect }) => expect(signature.staleSignature).toHaveStatus(400, 401, 403),
    }),

    // auth.usage does not show whether a signature may come twice.
    observation('auth.signed-replay', {
      title: 'takes the same signature a second time',
      grounds: [clause('auth.usage')],
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
