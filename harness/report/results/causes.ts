import { deviationText, type Finding, groundText } from '../../base/finding.ts';
import { shortened } from '../../base/text.ts';
import type { CheckResult } from './check-result.ts';
import type { Cause, Results } from './results.ts';
import { counted, type JudgedCheck, judgedWith } from './tally.ts';

/** A cause, or a finding without one, with the checks that it explains. */
export interface CauseEntry {
  /** `A wrong key is answered 200`; of a finding without a cause what it says itself. */
  readonly sentence: string;
  /** Null where none was found. */
  readonly cause: Cause | null;
  /** As the results say, the one that shows it best first. */
  readonly findings: readonly JudgedCheck[];
  readonly outcome: 'fail' | 'warning';
}

/** Causes, most failures first, and then the findings without one; none of results in which they were not looked for. */
export function causeEntries(results: Results): readonly CauseEntry[] {
  const findings = judgedWith(results, 'fail', 'warning');
  const found = new Map(findings.map((each) => [keyOf(each.service.service, each.check.id), each]));
  const judged = (of: Cause['findings']) =>
    of.flatMap(({ service, check }) => found.get(keyOf(service, check)) ?? []);
  const entry = (sentence: string, cause: Cause | null, of: readonly JudgedCheck[]): CauseEntry => {
    const isFailure = of.some(({ check }) => check.outcome === 'fail');
    return { sentence, cause, findings: of, outcome: isFailure ? 'fail' : 'warning' };
  };
  const explained = (results.causes ?? []).map((cause) =>
    entry(cause.sentence, cause, judged(cause.findings)),
  );
  const others = judged(results.unexplained ?? []).map((each) => entry(problemOf(each.check), null, [each]));
  return [...explained, ...others].filter((each) => each.findings.length > 0);
}

/** `1 cause, 9 findings: a wrong key is answered 200`; null where nothing was found or causes were not looked for. */
export function causesHeadline(results: Results): string | null {
  const entries = causeEntries(results);
  const causes = entries.filter(({ cause }) => cause !== null);
  const total = entries.length - causes.length + explainedBy(causes);
  if (total === 0) return null;
  const [only] = causes;
  if (only === undefined) return counted(total, 'finding');
  if (entries.length === 1) return `1 cause, ${counted(total, 'finding')}: ${withinSentence(only.sentence)}`;
  const verb = causes.length === 1 ? 'explains' : 'explain';
  return `${counted(causes.length, 'cause')} ${verb} ${explainedBy(causes)} of ${counted(total, 'finding')}`;
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

/** Different findings: several causes may explain one together. */
function explainedBy(causes: readonly CauseEntry[]): number {
  return new Set(causes.flatMap(({ findings }) => findings.map(({ check }) => check))).size;
}

/** UTF-16 units of a message beside a headline that has no place for the result. */
const MESSAGE_CAP = 160;

/** The fault in one sentence; the message, where a check has none, and next to it where it says more. */
export function problemOf(check: CheckResult): string {
  const message = messageOf(check);
  if (check.headline === undefined) return message;
  const saysMore = comparedIn(check) === null && message !== '';
  return saysMore ? `${check.headline}: ${shortened(message, MESSAGE_CAP)}` : check.headline;
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

function withinSentence(sentence: string): string {
  return /^(?:An?|The|Each|Every|No|Of|Some|Other) /.test(sentence)
    ? sentence.charAt(0).toLowerCase() + sentence.slice(1)
    : sentence;
}

function keyOf(service: string, check: string): string {
  return `${service} ${check}`;
}
