import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import type { Condition } from '../../harness/check/requirement.ts';
import { pusherDialect, signed, unsafeMethods } from '../../harness/check/requirement.ts';
import { clause, practice } from '../../harness/contract/ground.ts';
import type { Reply } from '../../harness/evidence/exchange/reply.ts';
import * as signature from '../../harness/probe/request/signature.ts';
import type { Probe } from '../../harness/session.ts';

/** A signature speaks for one request at one time; `auth.wrong-credential` is its wrong secret. */
export const signatures: readonly CheckDefinition[] = [
  holdsTo('auth.signed-method', 'another method', signature.signedForOtherMethod, [
    'signature-ignores-method',
  ]),
  holdsTo('auth.signed-path', 'another path', signature.signedForOtherPath, ['accepts-any-signature']),
  holdsTo('auth.signed-query', 'fewer parameters', signature.signedForOtherQuery, [
    'signature-ignores-query',
  ]),
  holdsTo(
    'auth.signed-content',
    'other content',
    signature.signedForOtherContent,
    ['ignores-body-digest'],
    [pusherDialect, unsafeMethods],
  ),

  check(
    'auth.signed-stale',
    {
      title: 'refuses a signature of an hour ago',
      grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
      applies: [signed],
      provenBy: ['accepts-stale-timestamp'],
    },
    async ({ probe, expect }) => {
      expect(await probe(signature.staleSignature)).toHaveStatus(400, 401, 403);
    },
  ),

  observation(
    'auth.signed-replay',
    {
      title: 'takes the same signature a second time',
      grounds: [clause('auth.usage')],
      applies: [signed],
    },
    async ({ probe, observe, note }) => {
      const { served, response } = await probe(signature.replayedSignature);
      observe('auth.signed-replay', served);
      note(served ? 'a replayed request is served' : `a replayed request is refused with ${response.status}`);
    },
  ),
];

function holdsTo(
  id: string,
  what: string,
  stimulus: Probe<Reply>,
  provenBy: readonly [string, ...string[]],
  applies: readonly Condition[] = [],
): CheckDefinition {
  return check(
    id,
    {
      title: `refuses a request that was signed for ${what}`,
      grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
      applies: [signed, ...applies],
      provenBy,
    },
    async ({ probe, expect }) => {
      expect(await probe(stimulus)).toHaveStatus(400, 401, 403);
    },
  );
}
