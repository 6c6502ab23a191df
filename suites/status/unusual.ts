import {
  type CheckContext,
  type CheckDefinition,
  capitalized,
  check,
  clause,
  type Probe,
  type Reply,
} from '../../harness/engine/check/suite.ts';
import type { Notes } from '../row.ts';

interface UnusualRequest extends Notes<'repeats'> {
  /** Completes "does not fail over …", and with a capital letter "… gets status 500". */
  readonly what: string;
}

/** An unusual request: whatever the answer, it is no 5xx, no hang and no dropped connection. */
export const handles = (
  id: string,
  probe: Probe<Reply | readonly Reply[]>,
  { what, ...notes }: UnusualRequest,
): CheckDefinition =>
  check(id, {
    ...notes,
    title: `does not fail over ${what}`,
    headline: `${capitalized(what)} gets {answer}`,
    grounds: [clause('responses.status-codes')],
    uses: [probe],
    judge: ({ expect }) => expect().toBeHandled(),
  });

/** What an observation says of the status of several requests, each by its name. */
export async function statusesOf(
  probe: CheckContext['probe'],
  requests: Readonly<Record<string, Probe<Reply>>>,
): Promise<{ readonly seen: Readonly<Record<string, number | null>>; readonly note: string }> {
  const seen: Record<string, number | null> = {};
  for (const [name, request] of Object.entries(requests)) seen[name] = (await probe(request)).status;
  const statuses = Object.entries(seen).map(([name, status]) => `${name} ${status ?? 'no answer'}`);
  return { seen, note: statuses.join(', ') };
}
