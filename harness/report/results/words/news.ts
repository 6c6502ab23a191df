import { changesOf } from '../age.ts';
import { firstOf } from '../causes.ts';
import type { Change, Results } from '../results.ts';
import { counted, type JudgedCheck } from '../tally.ts';
import { dayInWords } from './words.ts';

/** The service and the check of a change. */
type ChangedCheck = Pick<Change, 'service' | 'check'>;

const NAMED = 5;

/**
 * `new`, `back`, `9 runs, since 14 Nov`; of several findings the longest, and the number of those that are newer: `9
 * runs, since 14 Nov, 1 new`. Empty if no earlier run tells.
 */
export function ageInWords(findings: readonly JudgedCheck[], results: Results): string {
  const changes = findings.flatMap((each) => changesOf(results)(each) ?? []);
  const [oldest, ...others] = changes
    .filter(({ state }) => state !== 'fixed')
    .toSorted((one, other) => other.runs - one.runs);
  if (oldest === undefined) return '';
  if (oldest.state !== 'still failing') return oldest.state;
  const fresh = (['new', 'back'] as const).flatMap((state) => {
    const n = others.filter((each) => each.state === state).length;
    return n > 0 ? [`${n} ${state}`] : [];
  });
  return [counted(oldest.runs, 'run'), `since ${dayInWords(oldest.since)}`, ...fresh].join(', ');
}

/** Changes since the runs before, a line for each kind. `isMarked`: new failures and those that are back are marked elsewhere. */
export function newsInWords({ history }: Results, { isMarked = false } = {}): readonly string[] {
  const { runs = [], changes = [], flaky = [] } = history ?? {};
  const line = (head: string, found: readonly ChangedCheck[]) => {
    const named = found.map(({ check, service }) => `${check} (${service})`);
    return named.length === 0 ? [] : [`${head}: ${firstOf(named, NAMED)}`];
  };
  const inState = (wanted: Change['state']) => changes.filter(({ state }) => state === wanted);
  const last = runs.at(-1);
  const isNews = ({ service, check }: ChangedCheck) =>
    changes.some((each) => each.service === service && each.check === check);
  return [
    ...(isMarked ? [] : [...line('New', inState('new')), ...line('Back', inState('back'))]),
    ...(last === undefined ? [] : line(`Fixed since ${dayInWords(last.startedAt)}`, inState('fixed'))),
    ...line('Flaky, though the provider is the same', flaky.filter(isNews)),
  ];
}
