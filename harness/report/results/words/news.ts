import type { Outcome } from '../../../base/verdict.ts';
import { changesOf } from '../age.ts';
import { firstOf } from '../causes.ts';
import type { Change, ListedFailure, Results, ServiceResult } from '../results.ts';
import { counted, type JudgedCheck, judgedWith } from '../tally.ts';
import { dayInWords } from './words.ts';

/** The service and the check of a change. */
type ChangedCheck = Pick<Change, 'service' | 'check' | 'operations'>;

const NAMED = 5;
const FINDINGS: readonly Outcome[] = ['fail', 'warning'];

/**
 * `new`, `back`, `9 runs, since 14 Nov`; of several findings the longest, and the number of those that are newer: `9
 * runs, since 14 Nov, 1 new`. `flaky` where one of them is. Empty if no earlier run tells.
 */
export function ageInWords(findings: readonly JudgedCheck[], results: Results): string {
  const changesIn = changesOf(results);
  const changes = findings.flatMap((each) => changesIn(each) ?? []).filter(({ state }) => state !== 'fixed');
  const [oldest, ...others] = changes.toSorted((one, other) => other.runs - one.runs);
  const flaky = flakyNow(results);
  const isFlaky = findings.some(({ check }) => flaky.some((each) => each.check === check));
  if (oldest === undefined) return '';
  const count = (state: Change['state']) => {
    const n = others.filter((each) => each.state === state).length;
    return n > 0 ? [`${n} ${state}`] : [];
  };
  const words =
    oldest.state === 'still failing'
      ? [counted(oldest.runs, 'run'), `since ${dayInWords(oldest.since)}`, ...count('new'), ...count('back')]
      : [oldest.state];
  return [...words, ...(isFlaky ? ['flaky'] : [])].join(', ');
}

/**
 * Changes since the runs before and entries of the known list that end soon, a line for each kind. `isMarked`: failures
 * that are new, back or flaky are marked elsewhere.
 */
export function newsInWords(results: Results, { isMarked = false } = {}): readonly string[] {
  const { runs = [], changes = [] } = results.history ?? {};
  const names = results.services.map(({ service }) => service);
  const line = (head: string, found: readonly ChangedCheck[]) => {
    const named = found.map(({ check, service, operations = [] }) => {
      const of = operations.length === 0 ? '' : ` for ${firstOf(operations, 2)}`;
      return `${check}${of} (${service})`;
    });
    return named.length === 0 ? [] : [`${head}: ${firstOf(named, NAMED)}`];
  };
  const changesIn = changesOf(results);
  const inState = (wanted: Change['state'], outcome: 'fail' | 'warning') =>
    judgedWith(results, outcome).flatMap((each) => {
      const change = changesIn(each);
      return change?.state === wanted ? [change] : [];
    });
  // The last run that could tell.
  const last = runs.findLast(({ noVerdict }) => !noVerdict) ?? runs.at(-1);
  return [
    ...(isMarked
      ? []
      : [
          ...line('New', inState('new', 'fail')),
          ...line('Back', inState('back', 'fail')),
          ...line('New warnings', inState('new', 'warning')),
          ...line('Warnings that are back', inState('back', 'warning')),
        ]),
    ...(last === undefined
      ? []
      : line(
          `Fixed since ${dayInWords(last.startedAt)}`,
          changes.filter(({ state, service }) => state === 'fixed' && names.includes(service)),
        )),
    ...line(
      'Flaky, with no known change of the provider',
      flakyNow(results)
        .filter(({ check }) => !isMarked || !FINDINGS.includes(check.outcome))
        .map(({ service, check }) => ({ service: service.service, check: check.id })),
    ),
    ...endingSoon(results).map(({ message }) => message),
  ];
}

/** The flaky checks that changed since the run before, or are still wrong. */
export function flakyNow({ history, services }: Results): readonly JudgedCheck[] {
  const changes = history?.changes ?? [];
  return (history?.flaky ?? [])
    .filter((each) => changes.some(({ service, check }) => service === each.service && check === each.check))
    .flatMap((each) => {
      const service = services.find((one) => one.service === each.service);
      const check = service?.checks.find(({ id }) => id === each.check);
      return service === undefined || check === undefined ? [] : [{ service, check }];
    });
}

/** An entry of the known list that ends within days. */
export interface EndingEntry {
  readonly service: ServiceResult;
  readonly entry: ListedFailure;
  /** `Known failure headers.date (search) ends in 3 days, on 2026-11-22: … (config/known/search.yaml:12)` */
  readonly message: string;
}

export function endingSoon({ services }: Results): readonly EndingEntry[] {
  return services.flatMap((service) =>
    (service.known ?? []).flatMap((entry) => {
      const { state, note, check, place } = entry;
      if (state !== 'known' || note === null) return [];
      return [{ service, entry, message: `Known failure ${check} (${service.service}): ${note} (${place})` }];
    }),
  );
}
