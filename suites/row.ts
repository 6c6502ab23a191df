import {
  type CheckContext,
  capitalized,
  check,
  clause,
  type Ground,
  type Probe,
  practice,
  type Reply,
  type ResponseReading,
  type Selected,
} from '../harness/engine/check/suite.ts';
import { type Likeness, type OddOnes, sameRequests } from './caching/stimuli/repeated.ts';
import type { Trials } from './operations/stimuli/trials.ts';

type RowOptions = Parameters<typeof check>[1];

/** The words of a row in a table of checks, and other options of a check that it may have. */
export type RowNotes<Further extends keyof RowOptions = never> = Pick<RowOptions, 'why' | 'change' | Further>;

/** The same with the id of the check. */
export type Row<Further extends keyof RowOptions = never> = RowNotes<Further> & { readonly id: string };

interface Steady extends RowNotes<'title' | 'headline' | 'restsOn'> {
  readonly ground?: Ground;
  /** In what the answers are to be alike, that which comes first counting. */
  readonly alike: readonly Likeness[];
  /** Complete "expected …, got … for 3 of 20 answers to the same request". */
  readonly wanted: (odd: OddOnes) => string;
  readonly got: (odd: OddOnes) => string;
  /** Why nothing can be judged, where that shows before: it ends the judging itself. */
  readonly unless?: (context: CheckContext) => Promise<void>;
  /** The part of the answers that they are compared in, if that may be unreadable. */
  readonly reading?: ResponseReading;
  /** What that asks for. */
  readonly uses?: readonly Probe<unknown>[];
}

/** The same request is answered alike, by whichever instance behind the address, throughout the run. */
export function steady(
  id: string,
  {
    alike,
    wanted,
    got,
    unless,
    reading,
    uses = [],
    ground = practice('repeatable answers'),
    ...notes
  }: Steady,
) {
  return check(id, {
    ...notes,
    grounds: [ground],
    uses: [...uses, sameRequests],
    async judge(context) {
      await unless?.(context);
      const { unlike, replies } = await context.probe(sameRequests);
      const odd = alike.map((each) => unlike[each]).find((each) => each !== null);
      if (odd) {
        const share = `${odd.answers.length} of ${odd.of} answers to the same request`;
        context.violated(wanted(odd), `${got(odd)} for ${share}`, odd.answers[0]?.evidence);
      }
      const served = replies.filter((reply) => reply.served);
      if (reading && served.length > 0) await context.expect(served).toBeRead('an odd one', reading);
    },
  });
}

interface UnusualRequest extends RowNotes<'repeats' | 'applies'> {
  /** The ground beside the documented statuses. */
  readonly relied?: Ground;
  /** Completes "does not fail over …", and with a capital letter "… gets status 500". */
  readonly what: string;
}

/** An unusual request: whatever the answer, it is no 5xx, no hang and no dropped connection. */
export const handles = (
  id: string,
  probe: Probe<Reply | readonly Reply[] | Trials | Selected<Reply>>,
  { what, relied, ...notes }: UnusualRequest,
) =>
  check(id, {
    ...notes,
    title: `does not fail over ${what}`,
    headline: `${capitalized(what)} gets {answer}`,
    grounds: [clause('responses.status-codes'), ...(relied ? [relied] : [])],
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
