import { EXIT, type ExitCode } from '../../base/exit.ts';
import type { Outcome } from '../../base/verdict.ts';
import type { CheckResult } from './check-result.ts';
import { chosenInWords, isShortOfOperations, leftUnexercised, shortOfFloor } from './operation-coverage.ts';
import type {
  Coverage,
  ListedFailure,
  ListedObservation,
  Observation,
  Results,
  RunResult,
  ServiceResult,
} from './results.ts';
import { counted, isBlockedByOutage, isExplained, troubleInWords } from './tally.ts';

export type VerdictWord =
  | 'conforms'
  | 'no verdict'
  | 'does not conform'
  | 'drifted'
  | 'known list out of date'
  | 'accepted list out of date'
  | 'too little covered'
  | 'inconclusive'
  | 'harness error';

export interface RunVerdict {
  readonly exitCode: ExitCode;
  readonly word: VerdictWord;
  /** Why, one sentence part each: `3 checks failed in search`. Empty when everything conforms. */
  readonly reasons: readonly string[];
  /** What else was found, of less weight: failures seen before an interruption … */
  readonly besides: readonly string[];
}

/** What the verdict on one run, or on one service of it, rests on. */
interface Case {
  readonly services: readonly ServiceResult[];
  readonly strict: boolean;
  readonly isSelection: boolean;
  /** The omissions are on purpose, and allowed. */
  readonly partial: boolean;
  /** `part 2 of 3 of the run`; null for all of it. */
  readonly shard: string | null;
  readonly interruption: string | null;
  readonly faults: readonly string[];
}

interface Rule {
  readonly exitCode: ExitCode;
  readonly word: VerdictWord;
  readonly reasons: (over: Case) => readonly string[];
}

/** Outcomes that show that the service was really asked. */
const RAN: readonly Outcome[] = ['pass', 'fail', 'warning', 'observed', 'known', 'error'];

const endedAs = (wanted: Outcome) => (check: CheckResult) => check.outcome === wanted;
const isBlockedMust = (check: CheckResult, service: ServiceResult) =>
  check.outcome === 'blocked' &&
  check.level === 'MUST' &&
  !isExplained(service, check) &&
  !isBlockedByOutage(service, check);

/** Why nothing can be said of a service as a whole, beyond its single checks. */
export function serviceConditions(service: ServiceResult): readonly string[] {
  const trouble = troubleInWords(service);
  if (trouble !== null) return [trouble];
  return ranAny(service) ? [] : [NOTHING_RAN];
}

const NOTHING_RAN = 'no check ran';

function ranAny({ checks }: ServiceResult): boolean {
  return checks.some(({ outcome }) => RAN.includes(outcome));
}

/**
 * In order of precedence; the first rule that applies is the verdict, the others are reported next to it.
 *
 * - A fault of the harness comes first: when the judge is broken, none of its judgments can be relied on.
 * - An interruption beats a failure: the list of failures is not whole, and a caller that compares two runs
 *   must not take it for whole. The failures found are still reported.
 * - A failure beats everything that merely could not be judged: a violation stays a violation,
 *   whatever else was blocked or broke down later.
 */
const RULES: readonly Rule[] = [
  {
    exitCode: EXIT.harness,
    word: 'harness error',
    reasons: ({ services, faults }) => [
      ...(faults.length > 0 ? [counted(faults.length, 'fault of the harness', 'faults of the harness')] : []),
      ...perService(services, endedAs('error'), (n) => `${counted(n, 'check')} met a harness error`),
    ],
  },
  {
    exitCode: EXIT.inconclusive,
    word: 'inconclusive',
    reasons: ({ interruption }) => (interruption === null ? [] : [`the run was cut short: ${interruption}`]),
  },
  {
    exitCode: EXIT.doesNotConform,
    word: 'does not conform',
    reasons: ({ services, strict }) => [
      ...perService(services, endedAs('fail'), (n) => `${counted(n, 'check')} failed`),
      ...(strict ? perService(services, endedAs('warning'), (n) => `${counted(n, 'warning')} (strict)`) : []),
    ],
  },
  ofLists('drifted', driftsOf),
  // Said before an untidy list: on such a night nothing is learnt of the service, and the list can wait.
  {
    exitCode: EXIT.inconclusive,
    word: 'inconclusive',
    reasons: ({ services }) =>
      services.flatMap((each) => (each.trouble === null ? [] : [`${each.service}: ${troubleInWords(each)}`])),
  },
  // The list is not true (any more), so it may hide anything.
  ofLists('known list out of date', outdatedKnown),
  ofLists('accepted list out of date', outdatedAccepted),
  {
    exitCode: EXIT.doesNotConform,
    word: 'too little covered',
    // What a selection leaves out is known.
    reasons: ({ services, isSelection }) =>
      isSelection
        ? []
        : services.flatMap((each) => shortOfFloor(each).map((part) => `${each.service}: ${part}`)),
  },
  {
    exitCode: EXIT.inconclusive,
    word: 'inconclusive',
    reasons: ({ services, shard }) => [
      ...(services.length === 0 && shard === null ? ['no service ran'] : []),
      ...services.flatMap((each) =>
        each.trouble === null && !ranAny(each) ? [`${each.service}: ${NOTHING_RAN}`] : [],
      ),
      ...perService(services, isBlockedMust, (n) => `${counted(n, 'MUST check')} blocked`),
    ],
  },
  {
    exitCode: EXIT.inconclusive,
    word: 'inconclusive',
    reasons: (over) =>
      (over.strict && !over.partial ? leftOutBesidesFloor(over) : []).map(
        (part) => `a strict run leaves nothing out, and only ${part} (--partial allows that)`,
      ),
  },
  // What ran may have passed; whether the service conforms was not asked.
  {
    exitCode: EXIT.conforms,
    word: 'no verdict',
    reasons: (over) => [
      ...(over.strict && !over.partial ? [] : leftOutBesidesFloor(over)),
      ...(over.shard === null ? [] : [`${over.shard} was judged`]),
    ],
  },
];

function ofLists(word: VerdictWord, faultsOf: (service: ServiceResult) => readonly ListFault[]): Rule {
  const reasons = ({ services }: Case) => services.flatMap(faultsOf).map(({ message }) => message);
  return { exitCode: EXIT.doesNotConform, word, reasons };
}

interface ListFault {
  /** Key of the observation, or the check, with its place in the list. */
  readonly of: string;
  readonly message: string;
}

/** All that does not agree with the lists that a user keeps of a service. */
export function listFaults(service: ServiceResult): readonly ListFault[] {
  return [...driftsOf(service), ...outdatedKnown(service), ...outdatedAccepted(service)];
}

/** `search: limits.algorithm drifted: was none, is queue, since 2026-11-21 (accepted/search.yaml:3); to accept it: …` */
function driftsOf(result: ServiceResult): readonly ListFault[] {
  const { service } = result;
  return driftedIn(result).map(({ key, drift, driftSince, acceptedAt = '' }) => {
    const since = driftSince === undefined ? '' : `, since ${driftSince.slice(0, 10)}`;
    const accept = `to accept it: conform accept ${service} ${key}`;
    return { of: key, message: `${service}: ${key} drifted: ${drift}${since} (${acceptedAt}); ${accept}` };
  });
}

/** The observations that are not as they were accepted. */
export function driftedIn({ observations }: ServiceResult): readonly (Observation & { drift: string })[] {
  return observations.flatMap((each) => (each.drift === undefined ? [] : { ...each, drift: each.drift }));
}

/** The services with this verdict on them alone. */
export function servicesWith(word: VerdictWord, { services, run }: Results): readonly ServiceResult[] {
  return services.filter((service) => serviceVerdict(service, run).word === word);
}

/** What weakens the verdict, of each service: `search: certificates were not verified`. */
export function cautionsOf({ services }: Results): readonly string[] {
  return services.flatMap(({ service, cautions = [] }) => cautions.map((each) => `${service}: ${each}`));
}

const OUTDATED: ReadonlySet<string> = new Set(['stale', 'expired', 'unmatched']);

function outdatedKnown({ known = [] }: ServiceResult): readonly ListFault[] {
  return known.flatMap((entry) => outdated(entry.check, entry));
}

function outdatedAccepted({ accepted = [] }: ServiceResult): readonly ListFault[] {
  return accepted.flatMap((entry) => outdated(entry.key, entry));
}

/** `config/known/search.yaml:12: headers.date is stale: it passes now: remove the entry` */
function outdated(of: string, entry: ListedFailure | ListedObservation): readonly ListFault[] {
  const { state, place, note } = entry;
  const message = `${place}: ${of} is ${state}: ${note}`;
  return OUTDATED.has(state) ? [{ of: `${of} (${place})`, message }] : [];
}

/** Whether everything was asked that there is: neither is it a selection, nor did a cap leave operations out. */
export function isWhole({ run, services }: Results): boolean {
  return leftOutOf({ services, isSelection: run.selection !== undefined }).length === 0;
}

/** Without the operations that a missed floor of the coverage counts already. */
function leftOutBesidesFloor(over: Case): readonly string[] {
  return leftOutOf(over, (service) => !over.isSelection && isShortOfOperations(service));
}

/** How much was looked at, where that is not all. */
export function leftOutOf(
  over: Pick<Case, 'services' | 'isSelection'>,
  isCounted: (service: ServiceResult) => boolean = () => false,
): readonly string[] {
  const { services, isSelection } = over;
  const capped = services.flatMap((each) => {
    if (isCounted(each)) return [];
    const exercised = leftUnexercised(each) ?? exercisedOf(each.coverage ?? [], 'were');
    return exercised === null ? [] : [services.length === 1 ? exercised : `${exercised} in ${each.service}`];
  });
  return [...(isSelection ? [selectedOf(services)] : []), ...capped];
}

/** `120 of 500 operations were exercised`; null where no cap left anything out. */
export function exercisedOf(coverage: readonly Coverage[], were: 'were' | 'would be'): string | null {
  const ofThose = (those: readonly Coverage[]) => {
    const sent = those.reduce((sum, each) => sum + each.sent, 0);
    const all = those.reduce((sum, each) => sum + each.capped, sent);
    return { isAll: sent === all, words: `${sent} of ${all}` };
  };
  const calls = ofThose(coverage.filter(({ request }) => request === 'call'));
  const further = ofThose(coverage.filter(({ request }) => request !== 'call'));
  if (!calls.isAll) return `${calls.words} operations ${were} exercised`;
  return further.isAll ? null : `${further.words} further requests to operations ${were} sent`;
}

/** `12 of 303 checks were selected`, over all these services. */
function selectedOf(services: readonly ServiceResult[]): string {
  const chosen = services.reduce((sum, { checks }) => sum + checks.length, 0);
  const all = services.reduce((sum, { checks, catalogue }) => sum + (catalogue ?? checks.length), 0);
  const operations = chosenInWords(services);
  if (chosen === all && operations !== null) return operations;
  return `${chosen} of ${counted(all, 'check')} were selected`;
}

function perService(
  services: readonly ServiceResult[],
  isMeant: (check: CheckResult, service: ServiceResult) => boolean,
  words: (n: number) => string,
): readonly string[] {
  return services
    .map((each) => ({ service: each.service, n: each.checks.filter((check) => isMeant(check, each)).length }))
    .filter(({ n }) => n > 0)
    .map(({ service, n }) => `${words(n)} in ${service}`);
}

function decide(over: Case): RunVerdict {
  const all = RULES.map(({ exitCode, word, reasons }) => ({ exitCode, word, reasons: reasons(over) }));
  const [first, ...rest] = all.filter(({ reasons }) => reasons.length > 0);
  if (!first) return { exitCode: EXIT.conforms, word: 'conforms', reasons: [], besides: [] };
  return { ...first, besides: rest.flatMap(({ reasons }) => reasons) };
}

/** The verdict on the whole run. Decided from the checks themselves; `run.exitCode` is not looked at. */
export function verdictOf(results: Results): RunVerdict {
  const { run, services } = results;
  const { faults, interrupted } = run;
  const shard = run.shard ? `part ${run.shard.index} of ${run.shard.total} of the run` : null;
  const interruption = interrupted ? (run.interruption ?? 'for an unknown reason') : null;
  return decide({ ...demandsOf(run), services, shard, faults, interruption });
}

/** The verdict on one service by itself: what befell the run as a whole is left out. */
export function serviceVerdict(service: ServiceResult, run: Demands): RunVerdict {
  return decide({ ...demandsOf(run), services: [service], shard: null, faults: [], interruption: null });
}

/** Neither conforms nor does not: the run or this service of it was not judged in full. */
export function isWithoutVerdict(service: ServiceResult, run: RunResult): boolean {
  return run.interrupted || OPEN.includes(serviceVerdict(service, run).word);
}

const OPEN: readonly VerdictWord[] = ['inconclusive', 'no verdict', 'harness error'];

/** Whether the run as a whole is so. */
export function hasNoVerdict(results: Results): boolean {
  return OPEN.includes(verdictOf(results).word);
}

type Demands = Pick<RunResult, 'strict' | 'partial' | 'selection'>;

function demandsOf(run: Demands): Pick<Case, 'strict' | 'partial' | 'isSelection'> {
  const { strict, selection, partial = selection?.partial ?? false } = run;
  return { strict, partial, isSelection: selection !== undefined };
}

/** The exit code that the results call for: that of the first rule that applies. */
export function exitCodeOf(results: Results): ExitCode {
  return verdictOf(results).exitCode;
}
