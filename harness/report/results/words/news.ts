import { type CauseEntry, firstOf } from '../causes.ts';
import type { Change, Results } from '../results.ts';
import { counted } from '../tally.ts';
import { dayInWords } from './words.ts';

/** The service and the check of a change. */
type ChangedCheck = Pick<Change, 'service' | 'check'>;

const NAMED = 5;

/** `new`, `back`, `9 runs, since 14 Nov`, by the oldest of these checks; empty if no earlier run tells. */
export function ageInWords(checks: readonly ChangedCheck[], { history }: Results): string {
  const changes = (history?.changes ?? []).filter(({ service, check }) =>
    checks.some((each) => each.service === service && each.check === check),
  );
  const [oldest] = changes.toSorted((one, other) => other.runs - one.runs);
  if (oldest === undefined || oldest.state === 'fixed') return '';
  return oldest.state === 'still failing'
    ? `${counted(oldest.runs, 'run')}, since ${dayInWords(oldest.since)}`
    : oldest.state;
}

/** The same of a cause, by its findings. */
export function ageOf({ findings }: CauseEntry, results: Results): string {
  return ageInWords(
    findings.map(({ service, check }) => ({ service: service.service, check: check.id })),
    results,
  );
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
