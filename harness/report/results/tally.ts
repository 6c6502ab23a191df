import { FAULT_WORDS } from '../../base/finding.ts';
import { grouped } from '../../base/text.ts';
import { OUTCOMES, type Outcome } from '../../base/verdict.ts';
import type { CheckResult } from './check-result.ts';
import type { NotLookedAt, Results, ServiceResult } from './results.ts';

export type Tally = Readonly<Record<Outcome, number>>;

/** Outcomes in the order in which a person wants to read them: worst first, then those that were judged, then the rest. */
export const WORST_FIRST: readonly Outcome[] = [
  'error',
  'fail',
  'blocked',
  'warning',
  'known',
  'pass',
  'observed',
  'skipped',
];

/** Outcomes of checks that were judged on evidence. */
export const JUDGED: readonly Outcome[] = ['pass', 'fail', 'warning', 'observed', 'known'];

/** What each outcome is called after a number: `2 failed`, `1 warning`. */
export const NOUNS: Readonly<Record<Outcome, (n: number) => string>> = {
  pass: () => 'passed',
  fail: () => 'failed',
  warning: (n) => (n === 1 ? 'warning' : 'warnings'),
  observed: () => 'observed',
  known: () => 'known',
  skipped: () => 'skipped',
  blocked: () => 'blocked',
  error: (n) => (n === 1 ? 'harness error' : 'harness errors'),
};

/** How many checks ended with each outcome; 0 for those that none did. */
export function tallyOf(checks: readonly Pick<CheckResult, 'outcome'>[]): Tally {
  const count = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  for (const { outcome } of checks) count[outcome] += 1;
  return count;
}

/** `2 failed`, `1 warning` … for the outcomes that occur, worst first. */
export function tallyWords(tally: Tally): readonly { readonly outcome: Outcome; readonly words: string }[] {
  return WORST_FIRST.filter((outcome) => tally[outcome] > 0).map((outcome) => ({
    outcome,
    words: outcomeWords(outcome, tally[outcome]),
  }));
}

/** `2 failed`, `1 warning` */
export function outcomeWords(outcome: Outcome, n: number): string {
  return `${grouped(n)} ${NOUNS[outcome](n)}`;
}

/** Suites in the order in which they first appear in any service. */
export function suitesOf(results: Results): readonly string[] {
  return [...new Set(results.services.flatMap(({ checks }) => checks.map(({ suite }) => suite)))];
}

/** A check together with the service it was judged for. */
export interface JudgedCheck {
  readonly service: ServiceResult;
  readonly check: CheckResult;
}

/** Names of the services that they were judged for, each once. */
export function servicesOf(judged: readonly JudgedCheck[]): readonly string[] {
  return [...new Set(judged.map(({ service }) => service.service))];
}

/** How long checks waited on purpose, in ms. */
export function waitedMs(checks: readonly Pick<CheckResult, 'waitedMs'>[]): number {
  return checks.reduce((sum, each) => sum + (each.waitedMs ?? 0), 0);
}

/** Checks of all services that ended with one of these outcomes. */
export function judgedWith(results: Results, ...outcomes: readonly Outcome[]): readonly JudgedCheck[] {
  return results.services.flatMap((service) =>
    service.checks.filter(({ outcome }) => outcomes.includes(outcome)).map((check) => ({ service, check })),
  );
}

export interface SameReason {
  readonly outcome: 'blocked' | 'skipped';
  readonly reason: string;
  readonly judged: readonly JudgedCheck[];
}

/** Whether a check is blocked by an outage of the service as a whole, which is reported of the service. */
export function isBlockedByOutage({ trouble }: ServiceResult, { outcome, message }: CheckResult): boolean {
  return trouble !== null && outcome === 'blocked' && message.includes(trouble);
}

/** Why a service could not be exercised to its end, and the side that it is mended on; null if it could. */
export function troubleInWords({ trouble, troubleBy }: ServiceResult): string | null {
  return trouble === null || troubleBy === undefined
    ? trouble
    : `${trouble} (fault of ${FAULT_WORDS[troubleBy]})`;
}

/** Whether a check is blocked because another one fails, which is reported itself. */
export function isExplained({ checks }: ServiceResult, { outcome, explainedBy }: CheckResult): boolean {
  return outcome === 'blocked' && checks.some((each) => each.id === explainedBy && each.outcome === 'fail');
}

/** What a run could not tell of a service; nothing after an outage, which is the reason for all of it. */
export function notLookedAtIn({ trouble, notLookedAt = [] }: ServiceResult): readonly NotLookedAt[] {
  return trouble === null ? notLookedAt : [];
}

/** In place of the outage, which is reported of the service already. */
export const BY_OUTAGE = 'the service could not be asked any more';

/** What did not run, by reason: blocked before skipped, the reason that stopped most checks first. */
export function notRun(results: Results): readonly SameReason[] {
  return (['blocked', 'skipped'] as const).flatMap((outcome) => {
    const byReason = Map.groupBy(judgedWith(results, outcome), ({ service, check }) =>
      isBlockedByOutage(service, check) ? BY_OUTAGE : check.message,
    );
    return [...byReason]
      .map(([reason, judged]) => ({ outcome, reason: reason || 'no reason given', judged }))
      .sort((a, b) => b.judged.length - a.judged.length);
  });
}

/** `14 judged`: the number of subjects behind an outcome; empty for one. */
export function judgedWords({ subjects = [] }: CheckResult): string {
  return subjects.length > 1 ? `${grouped(subjects.length)} judged` : '';
}

/** `1 check`, `2 checks`, `1,024 checks`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

/** Checks that do not apply for one reason: all of a suite, wherever it does not apply at all, or single ones. */
export interface NotApplying {
  readonly suite: string;
  readonly reason: string;
  readonly judged: readonly JudgedCheck[];
}

/** What does not apply: whole suites first, those of most checks first; then single checks, by their reason. */
export function notApplying(results: Results): {
  readonly suites: readonly NotApplying[];
  readonly single: readonly NotApplying[];
  readonly checks: readonly JudgedCheck[];
} {
  const skipped = judgedWith(results, 'skipped');
  const applying = new Map(
    results.services.map((service) => {
      const checks = service.checks.filter(({ outcome }) => outcome !== 'skipped');
      return [service, new Set(checks.map(({ suite }) => suite))];
    }),
  );
  const isWhole = ({ service, check }: JudgedCheck) => !applying.get(service)?.has(check.suite);
  const [whole, single] = [skipped.filter(isWhole), skipped.filter((each) => !isWhole(each))];
  return {
    suites: byReason(withReasonOfSuite(whole)),
    single: byReason(single.map((each) => [each, each.check.message])),
    checks: single,
  };
}

/** A suite of one service does not apply for one reason, the one that most of its checks give. */
function withReasonOfSuite(judged: readonly JudgedCheck[]): readonly (readonly [JudgedCheck, string])[] {
  const suites = Map.groupBy(judged, ({ service, check }) => `${service.service} ${check.suite}`);
  return [...suites.values()].flatMap((together) => {
    const reasons = Map.groupBy(together, ({ check }) => check.message);
    const [[reason] = ['']] = [...reasons].sort(([, a], [, b]) => b.length - a.length);
    return together.map((each) => [each, reason] as const);
  });
}

function byReason(reasoned: readonly (readonly [JudgedCheck, string])[]): readonly NotApplying[] {
  const groups = Map.groupBy(reasoned, ([{ check }, reason]) => JSON.stringify([check.suite, reason]));
  return [...groups.values()]
    .map((together) => {
      const [[{ check }, reason]] = together as [readonly [JudgedCheck, string]];
      const judged = together.map(([each]) => each);
      return { suite: check.suite, reason: reason || 'no reason given', judged };
    })
    .sort((a, b) => b.judged.length - a.judged.length);
}
