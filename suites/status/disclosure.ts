import { type CheckDefinition, check } from '../../harness/check/check.ts';
import { SEARCHED, THROUGHOUT } from '../../harness/check/reading.ts';
import { practice } from '../../harness/contract/ground.ts';
import { errorReplies, serverErrorReplies } from '../../harness/probe/gathered.ts';
import * as target from '../../harness/probe/request/target.ts';

/** What answers give away. */
export const disclosure: readonly CheckDefinition[] = [
  check(
    'status.no-internals',
    {
      title: 'tells nothing of its insides in error bodies',
      grounds: [practice('OWASP API8:2023')],
      provenBy: ['stack-trace-in-error'],
    },
    async ({ probe, expect }) => {
      const errors = [...(await probe(errorReplies)), ...(await probe(serverErrorReplies))];
      expect(...errors).toConform(
        'no stack trace, file path, SQL or version',
        ({ response }) => response.internals,
        SEARCHED,
      );
    },
  ),

  // RFC 9110 §9.3.8: a TRACE answer reflects the request, credentials included.
  check(
    'status.trace',
    {
      title: 'does not send the credential back in answer to TRACE',
      grounds: [practice('OWASP API8:2023')],
      provenBy: ['trace-echoes-credential'],
    },
    async ({ probe, expect }) => {
      expect(await probe(target.traceSample)).toConform(
        'no credential in the response',
        ({ response }) => (response.credentialTrace === null ? null : `one in ${response.credentialTrace}`),
        THROUGHOUT,
      );
    },
  ),
];
