import {
  type CheckContext,
  type CheckDefinition,
  check,
  type Ground,
  type Probe,
  practice,
} from '../harness/engine/check/suite.ts';
import { type Likeness, type OddOnes, sameRequests } from './caching/stimuli/repeated.ts';
import type { Notes } from './row.ts';

interface Steady extends Notes<'title' | 'headline' | 'restsOn'> {
  readonly ground?: Ground;
  /** In what the answers are to be alike, that which comes first counting. */
  readonly alike: readonly Likeness[];
  /** Complete "expected …, got … for 3 of 20 answers to the same request". */
  readonly wanted: (odd: OddOnes) => string;
  readonly got: (odd: OddOnes) => string;
  /** Why nothing can be judged, where that shows before: it ends the judging itself. */
  readonly unless?: (context: CheckContext) => Promise<void>;
  /** What that asks for. */
  readonly uses?: readonly Probe<unknown>[];
}

/** The same request is answered alike, by whichever instance behind the address, throughout the run. */
export function steady(
  id: string,
  { alike, wanted, got, unless, uses = [], ground = practice('repeatable answers'), ...notes }: Steady,
): CheckDefinition {
  return check(id, {
    ...notes,
    grounds: [ground],
    uses: [...uses, sameRequests],
    async judge(context) {
      await unless?.(context);
      const { unlike } = await context.probe(sameRequests);
      const odd = alike.map((each) => unlike[each]).find((each) => each !== null);
      if (odd) {
        const share = `${odd.answers.length} of ${odd.of} answers to the same request`;
        context.violated(wanted(odd), `${got(odd)} for ${share}`, odd.answers[0]?.evidence);
      }
    },
  });
}
