import { deviationText, FAULT_WORDS, type Finding, groundText } from '../../base/finding.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { listed, shortened } from '../../base/text.ts';
import type { Outcome } from '../../base/verdict.ts';
import { changesOf, newestRank } from './age.ts';
import type { CheckResult } from './check-result.ts';
import type { Cause, Results } from './results.ts';
import { counted, type JudgedCheck, judgedWith, servicesOf } from './tally.ts';

/** A cause, or a finding without one, with the checks that it explains. */
export interface CauseEntry {
  /** `A wrong key is answered 200`; of a finding without a cause what it says itself. Operations stand first. */
  readonly sentence: string;
  /** Null where none was found. */
  readonly cause: Cause | null;
  /** As the results say, the one that shows it best first. */
  readonly findings: readonly JudgedCheck[];
  readonly outcome: 'fail' | 'warning';
}

/**
 * Causes, most failures first, and then the findings without one: failures before warnings, and of each those that let
 * a caller in, then the newest first. None of results in which causes were not looked for.
 */
export function causeEntries(results: Results): readonly CauseEntry[] {
  const findings = judgedWith(results, 'fail', 'warning');
  const found = new Map(findings.map((each) => [keyOf(each.service.service, each.check.id), each]));
  const judged = (of: Cause['findings']) =>
    of.flatMap(({ service, check }) => found.get(keyOf(service, check)) ?? []);
  const entry = (sentence: string, cause: Cause | null, of: readonly JudgedCheck[]): CauseEntry => {
    const isFailure = of.some(({ check }) => check.outcome === 'fail');
    return { sentence, cause, findings: of, outcome: isFailure ? 'fail' : 'warning' };
  };
  const explained = (results.causes ?? []).map((cause) => {
    const of = judged(cause.findings);
    const [only] = of.length === 1 ? of : [];
    // What a body lacks says more than that it lacks something.
    const isNamed = only !== undefined && operationsInError([only.check]) !== null;
    // Operations of several services may have one name.
    const isOfOne = servicesOf(of).length === 1;
    const sentence = isOfOne ? inOperations(cause.sentence, of) : cause.sentence;
    return entry(isNamed ? problemOf(only.check) : sentence, cause, of);
  });
  const others = judged(results.unexplained ?? []).map((each) => entry(problemOf(each.check), null, [each]));
  const changes = changesOf(results);
  const rank = ({ findings: of, outcome }: CauseEntry) =>
    (outcome === 'fail' ? 0 : 1_000) + (of.some(letsIn) ? 0 : 100) + newestRank(changes, of);
  return [...explained, ...others]
    .filter((each) => each.findings.length > 0)
    .toSorted((one, other) => rank(one) - rank(other));
}

/** Suites whose checks look for a caller that gets in without the right credential. */
const OF_CALLERS = /^(?:auth|operations|websocket)\./;

/** Whether a finding rests on an answer that serves a caller without the right credential: it stands before others. */
export function letsIn({ service, check }: JudgedCheck): boolean {
  const shown = service.evidence[check.decisive ?? ''];
  if (!OF_CALLERS.test(check.id) || !isJsonObject(shown) || shown.credential === 'right') return false;
  const { response } = isJsonObject(shown.handshake) ? shown.handshake : shown;
  const status = isJsonObject(response) ? Number(response.status) : 0;
  return status === 101 || (status >= 200 && status < 300);
}

/** `13 failures and 5 warnings, 2 of them new`; empty where nothing is wrong. */
export function wrongInBrief(results: Results): string {
  const { fail, warning } = results.totals;
  const parts = [
    ...(fail > 0 ? [counted(fail, 'failure')] : []),
    ...(warning > 0 ? [counted(warning, 'warning')] : []),
  ];
  const changes = changesOf(results);
  const news = (['new', 'back'] as const).flatMap((state) => {
    const n = judgedWith(results, 'fail', 'warning').filter((each) => changes(each)?.state === state).length;
    if (n === 0) return [];
    return [fail + warning === 1 ? state : `${n === fail + warning ? 'all' : n} of them ${state}`];
  });
  return [listed(parts), ...news].join(', ');
}

/** How many causes explain failures, and how many of these. */
export function explainedFailures(results: Results): { readonly causes: number; readonly explained: number } {
  const entries = causeEntries(results).filter(({ cause, outcome }) => cause !== null && outcome === 'fail');
  const failed = entries.flatMap(({ findings }) => findings.filter(({ check }) => check.outcome === 'fail'));
  return { causes: entries.length, explained: new Set(failed.map(({ check }) => check)).size };
}

/** Ids of checks by service, in the order of the findings. */
export function checksByService({ findings }: CauseEntry): readonly (readonly [string, readonly string[]])[] {
  return [...Map.groupBy(findings, ({ service }) => service.service)].map(([service, judged]) => [
    service,
    judged.map(({ check }) => check.id),
  ]);
}

/** `auth.wrong-credential, auth.truncated-credential and 7 more` */
export function firstOf(ids: readonly string[], longest: number): string {
  const rest = ids.length - longest;
  return rest > 1 ? `${ids.slice(0, longest).join(', ')} and ${rest} more` : ids.join(', ');
}

/** UTF-16 units of a message beside a headline that has no place for the result. */
const MESSAGE_CAP = 160;

/** The fault in one sentence; the message, where a check has none, and next to it where it says more. */
export function problemOf(check: CheckResult): string {
  return inOperations(problemAlone(check), [{ check }]);
}

/** The same for several services, without the operations of any. */
export function problemAlone(check: CheckResult): string {
  const message = messageOf(check);
  if (check.headline === undefined) return message;
  const saysMore = comparedIn(check) === null && message !== '';
  return saysMore ? `${check.headline}: ${shortened(message, MESSAGE_CAP)}` : check.headline;
}

/** `GET /v1/orders: a response body does not fit its schema`: whose the finding is comes first. */
function inOperations(sentence: string, findings: readonly Pick<JudgedCheck, 'check'>[]): string {
  const operations = operationsInError(findings.map(({ check }) => check));
  if (operations === null) return sentence;
  const [names, share] = operations;
  return `${names}${share}: ${withinSentence(sentence)}`;
}

/** `the document`: the sides that these findings are the fault of; null if unknown. */
export function faultInWords(checks: readonly Pick<CheckResult, 'finding'>[]): string | null {
  const sides = new Set(checks.flatMap(({ finding }) => finding?.fault ?? []));
  return sides.size === 0 ? null : listed([...sides].map((side) => FAULT_WORDS[side]));
}

export type ComparedFinding = Finding & { readonly expected: string };

/** The expectation and the result; null if there is no finding, or one in the words of another tool. */
export function comparedIn({ finding }: CheckResult): ComparedFinding | null {
  return finding === undefined || finding.expected === null ? null : (finding as ComparedFinding);
}

/** What a check says, without the ground. */
export function messageOf(check: CheckResult): string {
  const { finding, message } = check;
  if (finding === undefined) return message;
  // The message of a known failure begins with the reason.
  return comparedIn(check) === null
    ? message.slice(0, -groundText(finding).length || undefined)
    : deviationText(finding);
}

/** Operations that a sentence names. */
const OPERATIONS = 2;
const OPERATION = /^[A-Z]+ \//;
const CONFORMS: readonly Outcome[] = ['pass', 'observed'];

/**
 * The names of the operations that violate these checks, and ` (2 of 14 operations)`; null where the service as a whole
 * does, or one operation stands for it.
 */
function operationsInError(checks: readonly CheckResult[]): readonly [names: string, share: string] | null {
  const subjects = checks.flatMap(({ subjects: of = [] }) => of);
  const named = (of: typeof subjects) => [...new Set(of.map(({ subject }) => subject))];
  const judged = named(
    subjects.filter(({ outcome, subject }) => outcome !== 'blocked' && OPERATION.test(subject)),
  );
  const wrong = named(subjects.filter(({ outcome }) => outcome !== 'blocked' && !CONFORMS.includes(outcome)));
  const isOfOperations = judged.length > 1 || checks.some(({ suite }) => suite === 'operations');
  if (!isOfOperations || wrong.length === 0 || !wrong.every((each) => OPERATION.test(each))) return null;
  const isAll = wrong.length === judged.length;
  const some = isAll ? `all ${judged.length}` : `${wrong.length} of ${judged.length}`;
  return [firstOf(wrong, OPERATIONS), isAll && wrong.length <= OPERATIONS ? '' : ` (${some} operations)`];
}

function withinSentence(sentence: string): string {
  return /^(?:An?|The|Each|Every|No|Of|Some|Other|Another|Two|There|Input|Items?|Responses?|Nothing) /.test(
    sentence,
  )
    ? sentence.charAt(0).toLowerCase() + sentence.slice(1)
    : sentence;
}

function keyOf(service: string, check: string): string {
  return `${service} ${check}`;
}
