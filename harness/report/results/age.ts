import type { Outcome } from '../../base/verdict.ts';
import type { Change, Results } from './results.ts';
import { type JudgedCheck, judgedWith } from './tally.ts';

/** How old findings are, by the runs before. */

/** A finding, as causes name it or as a page shows it. */
type Aged = { readonly service: { readonly service: string }; readonly check: { readonly id: string } };

export type Changes = (finding: Aged) => Change | undefined;

/** What the runs before say of each check; nothing where no history is kept. */
export function changesOf({ history }: Pick<Results, 'history'>): Changes {
  const keyOf = (service: string, check: string) => `${service} ${check}`;
  const known = new Map((history?.changes ?? []).map((each) => [keyOf(each.service, each.check), each]));
  return ({ service, check }) => known.get(keyOf(service.service, check.id));
}

export const NEWEST_FIRST: readonly Change['state'][] = ['new', 'back', 'still failing'];

/** Place of the newest of these findings among others: 0 for new, the highest if its age is unknown. */
export function newestRank(changes: Changes, findings: readonly JudgedCheck[]): number {
  return Math.min(
    NEWEST_FIRST.length,
    ...findings.flatMap((each) => {
      const state = changes(each)?.state;
      return state === undefined || state === 'fixed' ? [] : [NEWEST_FIRST.indexOf(state)];
    }),
  );
}

/** Checks of all services that ended with one of these outcomes, the new ones first. */
export function newestFirst(results: Results, ...outcomes: readonly Outcome[]): readonly JudgedCheck[] {
  const changes = changesOf(results);
  return judgedWith(results, ...outcomes).toSorted(
    (one, other) => newestRank(changes, [one]) - newestRank(changes, [other]),
  );
}
