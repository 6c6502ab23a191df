import type { Cause, Results, ServiceResult } from '../results/results.ts';
import { judgedWith } from '../results/tally.ts';
import { type Diagnosis, diagnose, dictionary, type Entry, isFinding } from './diagnose.ts';

/** A fault, where it was found. */
interface LocatedFault {
  readonly service: ServiceResult;
  readonly diagnosis: Diagnosis;
}

const WEAKEST_FIRST: readonly Cause['confidence'][] = ['low', 'medium', 'high'];

/** The results with their causes, unless they have them. One fault of several services is one cause. */
export function withCauses(results: Results, entries?: readonly Entry[]): Results {
  if (results.causes !== undefined) return results;
  const found = results.services
    .filter(({ checks }) => checks.some(isFinding))
    .flatMap((service): readonly LocatedFault[] =>
      diagnose(service.checks, entries ?? dictionary()).map((diagnosis) => ({ service, diagnosis })),
    );
  const causes = [...Map.groupBy(found, ({ diagnosis }) => diagnosis.entry.defect).values()]
    .map((all) => ({ cause: causeOf(all), fails: failuresIn(all) }))
    .sort((one, other) => other.fails - one.fails || other.cause.findings.length - one.cause.findings.length)
    .map(({ cause }) => cause);
  const explained = new Set(causes.flatMap(({ findings }) => findings.map(keyOf)));
  const unexplained = judgedWith(results, 'fail', 'warning')
    .map(({ service: { service }, check: { id } }) => ({ service, check: id }))
    .filter((each) => !explained.has(keyOf(each)));
  return { ...results, causes, unexplained };
}

function keyOf({ service, check }: Cause['findings'][number]): string {
  return `${service} ${check}`;
}

function causeOf(found: readonly LocatedFault[]): Cause {
  const [first] = found as readonly [LocatedFault, ...LocatedFault[]];
  const { service, diagnosis } = first;
  const { decisive, evidence = [] } = service.checks.find(({ id }) => id === diagnosis.checks[0]) ?? {};
  return {
    sentence: diagnosis.sentence,
    alternatives: [...new Set(found.flatMap(({ diagnosis: { alternatives } }) => alternatives))],
    confidence: WEAKEST_FIRST.find((each) => found.some((one) => one.diagnosis.confidence === each)) ?? 'low',
    findings: found.flatMap((one) =>
      one.diagnosis.checks.map((check) => ({ service: one.service.service, check })),
    ),
    evidence: decisive ?? evidence[0] ?? null,
    command: commandFor(service, diagnosis.entry),
  };
}

function failuresIn(found: readonly LocatedFault[]): number {
  const failed = found.flatMap(({ service, diagnosis: { checks } }) =>
    service.checks.filter(({ id, outcome }) => outcome === 'fail' && checks.includes(id)),
  );
  return failed.length;
}

/** On the reference provider of the same contract, where that can have the fault. */
function commandFor({ contract }: ServiceResult, { services, defect }: Entry): string {
  return `conform serve ${services.includes(contract) ? contract : services[0]} --defect ${defect}`;
}
