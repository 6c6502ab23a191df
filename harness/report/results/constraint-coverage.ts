import type { Coverage, OperationCoverage, ServiceResult } from './results.ts';
import { counted } from './tally.ts';

type RecordedTrial = NonNullable<Coverage['trials']>[number];

/** One documented constraint of an operation, and the answers to the requests that tried it. */
export interface TriedConstraint {
  /** `limit in the query`, `/address/town in the body`, `the body` */
  readonly input: string;
  readonly keyword: string;
  /** Statuses; null for no response. */
  readonly outside: readonly (number | null)[];
  readonly inside: readonly (number | null)[];
}

/** The constraints of one operation. */
export interface ConstraintCoverage {
  readonly tried: readonly TriedConstraint[];
  /** Numbers of requests. */
  readonly sent: number;
  readonly notSent: number;
}

/** The constraints that a run tried, by operation: requests belong to an operation by its id. */
export function constraintCoverage({
  coverage = [],
}: Pick<ServiceResult, 'coverage'>): (operation: OperationCoverage) => ConstraintCoverage {
  const byOperation = Map.groupBy(
    coverage.flatMap(({ trials = [] }) => trials),
    ({ operation }) => operation,
  );
  return ({ id, trials: planned = 0 }) => {
    const sent = byOperation.get(id) ?? [];
    const byConstraint = Map.groupBy(sent, (trial) => JSON.stringify([trial.in, trial.name, trial.keyword]));
    return {
      tried: [...byConstraint.values()].flatMap(constraintOf),
      sent: sent.length,
      notSent: Math.max(0, planned - sent.length),
    };
  };
}

function constraintOf(trials: readonly RecordedTrial[]): readonly TriedConstraint[] {
  const statuses = (wanted: RecordedTrial['side']) =>
    trials.filter(({ side }) => side === wanted).map(({ status }) => status);
  return trials.slice(0, 1).map(({ in: place, name, keyword }) => ({
    input: name === '' ? `the ${place}` : `${name} in the ${place}`,
    keyword,
    outside: statuses('outside'),
    inside: statuses('inside'),
  }));
}

/** `9 constraints tried`, `9 constraints tried, 3 requests not sent`; empty if there is none. */
export function constraintsInWords({ tried, notSent }: ConstraintCoverage): string {
  if (tried.length + notSent === 0) return '';
  const left = notSent > 0 ? `, ${counted(notSent, 'request')} not sent` : '';
  return `${counted(tried.length, 'constraint')} tried${left}`;
}

/** `maximum: outside 422, inside 200` */
export function triedInWords({ keyword, outside, inside }: TriedConstraint): string {
  const said = (side: string, statuses: readonly (number | null)[]) => {
    const distinct = new Set(statuses.map((status) => status ?? 'no response'));
    return distinct.size === 0 ? [] : [`${side} ${[...distinct].join(' and ')}`];
  };
  return `${keyword}: ${[...said('outside', outside), ...said('inside', inside)].join(', ')}`;
}
