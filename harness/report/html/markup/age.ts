import type { Change, Results } from '../../results/results.ts';
import type { Judged } from '../../results/tally.ts';
import { counted } from '../../results/tally.ts';
import { dayInWords } from '../../results/words/words.ts';

/** What the runs before say of a finding. */
export interface Age {
  readonly state: Change['state'];
  /** `9 runs, since 14 Nov` */
  readonly words: string;
}

export type Ages = (judged: Judged) => Age | null;

/** How old each finding is; nobody knows where no history is kept. */
export function agesOf({ history }: Results): Ages {
  const changes = new Map(history?.changes.map((each) => [keyOf(each.service, each.check), each]));
  const before = history?.runs.length ?? 0;
  return ({ service, check }) => {
    const change = changes.get(keyOf(service.service, check.id));
    return change === undefined ? null : { state: change.state, words: inWords(change, before) };
  };
}

function inWords({ state, runs, since }: Change, before: number): string {
  if (state === 'new') return `in none of the ${counted(before, 'run')} before`;
  if (state === 'back') return 'was fixed before';
  return `${counted(runs, 'run')}, since ${dayInWords(since)}`;
}

const NEWEST_FIRST: readonly Change['state'][] = ['new', 'back', 'still failing'];

/** The age of what explains several findings: that of the newest. */
export function newestOf(ages: readonly (Age | null)[]): Age | null {
  for (const state of NEWEST_FIRST) {
    const found = ages.find((each) => each?.state === state);
    if (found) return found;
  }
  return null;
}

/** Where in a list something of this age stands. */
export function rankOf(age: Age | null): number {
  return age === null ? NEWEST_FIRST.length : NEWEST_FIRST.indexOf(age.state);
}

/** `is:still` and the like find it by this word. */
export function ageTerm(age: Age | null): string {
  return age === null ? '' : (age.state.split(' ')[0] ?? '');
}

function keyOf(service: string, check: string): string {
  return `${service} ${check}`;
}
