import { listed } from '../../base/text.ts';
import type { OperationCoverage, ServiceResult } from './results.ts';
import { counted } from './tally.ts';

/** How much of its document a service was asked for. */
export interface ExercisedPart {
  readonly exercised: number;
  readonly operations: number;
  /** Of the documented answers, by their statuses. */
  readonly seen: number;
  readonly answers: number;
}

/** Of some operations. */
export function partOf(all: readonly OperationCoverage[]): ExercisedPart {
  const answers = all.flatMap((each) => each.answers);
  return {
    exercised: all.filter(isExercised).length,
    operations: all.length,
    seen: answers.filter(({ seen }) => seen > 0).length,
    answers: answers.length,
  };
}

export function isExercised({ notExercised }: OperationCoverage): boolean {
  return notExercised === undefined;
}

/** `14 of 14 operations, 31 of 52 documented answers`; null where no operation is documented. */
export function basisInWords(services: readonly Pick<ServiceResult, 'operationCoverage'>[]): string | null {
  const all = services.flatMap(({ operationCoverage = [] }) => operationCoverage);
  if (all.length === 0) return null;
  const { exercised, operations, seen, answers } = partOf(all);
  const excluded = all.filter(({ notExercised }) => notExercised?.why === 'excluded').length;
  return [
    `${exercised} of ${counted(operations, 'operation')}${excluded > 0 ? ` (${excluded} excluded)` : ''}`,
    ...(answers > 0 ? [`${seen} of ${counted(answers, 'documented answer')}`] : []),
  ].join(', ');
}

/** `1 of 4 operations were selected`; null where none was left out. */
export function chosenInWords(services: readonly ServiceResult[]): string | null {
  const all = services.flatMap(({ operationCoverage = [] }) => operationCoverage);
  const chosen = all.filter(({ notExercised }) => notExercised?.why !== 'excluded');
  if (chosen.length === all.length) return null;
  return `${chosen.length} of ${counted(all.length, 'operation')} were selected`;
}

/** What the config keeps off is no omission of the run. */
const KEPT_OFF: readonly unknown[] = ['unsafe', 'excluded'];
/** Operations and answers that a sentence names. */
const NAMED = 3;

/** `1 of 5 operations were exercised (GET /yards/{id} and 3 more: …)`; null where all was exercised that may be. */
export function leftUnexercised({ operationCoverage: all = [] }: ServiceResult): string | null {
  const left = all.filter(({ notExercised }) => notExercised && !KEPT_OFF.includes(notExercised.why));
  const byReason = [...Map.groupBy(left, ({ notExercised }) => notExercised?.reason ?? '')];
  const [first] = byReason.sort(([, a], [, b]) => b.length - a.length);
  if (first === undefined) return null;
  const [reason, together] = first;
  const others = left.length - together.length;
  const why = `${namesOf(together)}: ${reason}${others > 0 ? `; ${others} for other reasons` : ''}`;
  return `${partOf(all).exercised} of ${counted(all.length, 'operation')} were exercised (${why})`;
}

function namesOf(all: readonly OperationCoverage[]): string {
  return fewOf(all.map(({ operation }) => operation));
}

function fewOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  return listed(more > 0 ? [...names.slice(0, NAMED), `${more} more`] : names);
}

/** Whether fewer operations were exercised than the config demands. */
export function isShortOfOperations({ coverageFloor, ...service }: ServiceResult): boolean {
  const operations = coverageFloor?.operations;
  return operations !== undefined && shortOfFloor({ ...service, coverageFloor: { operations } }).length > 0;
}

/** Shortfalls of the coverage that the config demands, a sentence part each; excluded operations do not count. */
export function shortOfFloor(service: ServiceResult): readonly string[] {
  const { operations, responses } = service.coverageFloor ?? {};
  const all = (service.operationCoverage ?? []).filter(
    ({ notExercised }) => notExercised?.why !== 'excluded',
  );
  const part = partOf(all);
  const short = (wanted: number | undefined, have: number, of: number) =>
    wanted !== undefined && have * 100 < wanted * of;
  const percent = (have: number, of: number) => `${Math.floor((have * 100) / of)} %`;
  const never = all
    .filter(isExercised)
    .flatMap(({ operation, answers }) =>
      answers.filter(({ seen }) => seen === 0).map(({ code }) => `${operation} ${code}`),
    );
  return [
    ...(short(operations, part.exercised, part.operations)
      ? [
          `${part.exercised} of ${counted(part.operations, 'operation')} were exercised, ${percent(part.exercised, part.operations)}, and coverage.operations demands ${operations} %: ${namesOf(all.filter((each) => !isExercised(each)))}`,
        ]
      : []),
    ...(short(responses, part.seen, part.answers)
      ? [
          `${part.seen} of ${counted(part.answers, 'documented answer')} were seen, ${percent(part.seen, part.answers)}, and coverage.responses demands ${responses} %: never ${fewOf(never)}`,
        ]
      : []),
  ];
}
