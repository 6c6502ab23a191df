import { type CheckDefinition, check, clause, type Probe, type Reply } from '../../harness/check/suite.ts';

interface Unusual {
  readonly id: string;
  /** Completes "answers … in good order". */
  readonly what: string;
  readonly probe: Probe<Reply>;
}

/** An unusual request: whatever the answer, it is no 5xx, no hang and no dropped connection. */
export function handles({ id, what, probe }: Unusual): CheckDefinition {
  return check(id, {
    title: `answers ${what} in good order`,
    grounds: [clause('responses.status-codes')],
    judge: ({ expect }) => expect(probe).toBeHandled(),
  });
}
