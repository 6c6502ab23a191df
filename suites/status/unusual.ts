import {
  type CheckDefinition,
  capitalized,
  check,
  clause,
  type Probe,
  type Reply,
} from '../../harness/check/suite.ts';

interface Unusual {
  readonly id: string;
  /** Completes "does not fail over …", and with a capital letter "… gets status 500". */
  readonly what: string;
  readonly why: string;
  readonly change: string;
  readonly probe: Probe<Reply | readonly Reply[]>;
  readonly repeats?: readonly CheckDefinition[];
}

/** An unusual request: whatever the answer, it is no 5xx, no hang and no dropped connection. */
export function handles({ id, what, probe, ...notes }: Unusual): CheckDefinition {
  return check(id, {
    ...notes,
    title: `does not fail over ${what}`,
    headline: `${capitalized(what)} gets {answer}`,
    grounds: [clause('responses.status-codes')],
    judge: ({ expect }) => expect(probe).toBeHandled(),
  });
}
