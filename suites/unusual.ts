import { type CheckDefinition, check } from '../harness/check/check.ts';
import { clause } from '../harness/contract/ground.ts';
import type { Reply } from '../harness/evidence/exchange/reply.ts';
import type { Probe } from '../harness/session.ts';

/** An unusual request: whatever the answer, it is no 5xx, no hang and no dropped connection. */
export function handles(
  id: string,
  what: string,
  stimulus: Probe<Reply>,
  provenBy: readonly [string, ...string[]],
): CheckDefinition {
  return check(
    id,
    { title: `answers ${what} in good order`, grounds: [clause('responses.status-codes')], provenBy },
    async ({ probe, expect }) => {
      expect(await probe(stimulus)).toBeHandled();
    },
  );
}
