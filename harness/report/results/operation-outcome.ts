import type { Outcome } from '../../base/verdict.ts';
import { firstOf } from './causes.ts';
import type { CheckResult } from './check-result.ts';
import type { OperationCoverage, Results, ServiceResult } from './results.ts';
import { counted, JUDGED, WORST_FIRST } from './tally.ts';
import { plainLine } from './words/plain.ts';

/** Name of the suite with a case for each operation; `operations` has the checks. */
export const BY_OPERATION = 'by-operation';

/** A check that one operation violates. */
export interface OperationFinding {
  readonly check: CheckResult;
  readonly outcome: Outcome;
  /** The first result of this operation that deviates. */
  readonly got: string | null;
}

/** The outcome of one documented operation over all checks that judged it. */
export interface OperationOutcome extends OperationCoverage {
  readonly outcome: Outcome;
  /** Number of checks that judged it. */
  readonly judged: number;
  /** Worst first. */
  readonly findings: readonly OperationFinding[];
}

type SubjectOfCheck = NonNullable<CheckResult['subjects']>[number];

const FINDINGS: readonly Outcome[] = ['error', 'fail', 'warning', 'known'];

/** `GET /v1/orders/{id}` */
const OPERATION = /^[A-Z]+ \//;

/** Names of the operations that violate a check, sorted. */
export function operationsAgainst({ subjects = [] }: CheckResult): readonly string[] {
  const names = subjects
    .filter(({ subject, outcome }) => OPERATION.test(subject) && FINDINGS.includes(outcome))
    .map(({ subject }) => subject);
  return [...new Set(names)].toSorted();
}

/** Each documented operation once, in the order of the document: the worst outcome of the checks that judged it. */
export function operationOutcomes({
  operationCoverage = [],
  checks,
}: Pick<ServiceResult, 'operationCoverage' | 'checks'>): readonly OperationOutcome[] {
  const judged = checks.flatMap((check) =>
    (check.subjects ?? []).map((subject) => ({ check, subject, outcome: outcomeIn(check, subject) })),
  );
  const bySubject = Map.groupBy(judged, ({ subject }) => subject.subject);
  const distinct = new Map(operationCoverage.map((each) => [each.operation, each]));
  return [...distinct.values()].map((operation) => {
    const of = bySubject.get(operation.operation) ?? [];
    const exercised = of.filter(({ outcome }) => JUDGED.includes(outcome));
    const findings = exercised
      .filter(({ outcome }) => FINDINGS.includes(outcome))
      .map(({ check, subject, outcome }) => ({ check, outcome, got: subject.got ?? null }))
      .toSorted((one, other) => rankOf(one.outcome) - rankOf(other.outcome));
    return {
      ...operation,
      outcome: outcomeOf(findings, exercised.length > 0),
      judged: exercised.length,
      findings,
    };
  });
}

/** A listed failure is known for each of its operations. */
function outcomeIn({ outcome }: CheckResult, subject: SubjectOfCheck): Outcome {
  return outcome === 'known' && FINDINGS.includes(subject.outcome) ? 'known' : subject.outcome;
}

function outcomeOf([worst]: readonly OperationFinding[], isJudged: boolean): Outcome {
  return worst?.outcome ?? (isJudged ? 'pass' : 'skipped');
}

function rankOf(outcome: Outcome): number {
  return WORST_FIRST.indexOf(outcome);
}

/** `2 checks: operations.schema: body.id is a text; headers.date: none`; the reason if nothing judged it. */
export function outcomeInWords({ findings, notExercised, judged }: OperationOutcome): string {
  if (findings.length > 0) {
    const each = findings.map(({ check, got }) => (got === null ? check.id : `${check.id}: ${got}`));
    return plainLine(`${counted(findings.length, 'finding')}: ${each.join('; ')}`);
  }
  if (judged > 0) return '';
  return notExercised ? `not exercised: ${plainLine(notExercised.reason)}` : 'no check judged it';
}

/** UTF-16 units of a name in a sentence. */
const LONGEST_NAME = 120;
/** Operations that a sentence names. */
const NAMED = 3;

/** `3 of 14 operations fail: GET /v1/orders, POST /v1/orders and 1 more`; null if none does. */
export function failingOperationsInWords({
  services,
  run,
}: Pick<Results, 'services' | 'run'>): string | null {
  const all = services.flatMap((service) => operationOutcomes(service));
  const failing = all.filter(({ outcome }) => outcome === 'fail' || (run.strict && outcome === 'warning'));
  if (failing.length === 0) return null;
  const names = firstOf(
    failing.map(({ operation }) => plainLine(operation, LONGEST_NAME)),
    NAMED,
  );
  return `${failing.length} of ${counted(all.length, 'operation')} ${failing.length === 1 ? 'fails' : 'fail'}: ${names}`;
}
