import type { Results } from '../results.ts';
import { type Judged, judgedWith } from '../tally.ts';

/** Checks that do not apply for one reason: all of a suite, wherever it does not apply at all, or single ones. */
export interface NotApplying {
  readonly suite: string;
  readonly reason: string;
  readonly judged: readonly Judged[];
}

/** What does not apply: whole suites first, those of most checks first; then single checks, by their reason. */
export function notApplying(results: Results): {
  readonly suites: readonly NotApplying[];
  readonly single: readonly NotApplying[];
} {
  const skipped = judgedWith(results, 'skipped');
  const applying = new Map(
    results.services.map((service) => {
      const checks = service.checks.filter(({ outcome }) => outcome !== 'skipped');
      return [service, new Set(checks.map(({ suite }) => suite))];
    }),
  );
  const isWhole = ({ service, check }: Judged) => !applying.get(service)?.has(check.suite);
  const [whole, single] = [skipped.filter(isWhole), skipped.filter((each) => !isWhole(each))];
  return {
    suites: byReason(withReasonOfSuite(whole)),
    single: byReason(single.map((each) => [each, each.check.message])),
  };
}

/** A suite of one service does not apply for one reason, the one that most of its checks give. */
function withReasonOfSuite(judged: readonly Judged[]): readonly (readonly [Judged, string])[] {
  const suites = Map.groupBy(judged, ({ service, check }) => `${service.service} ${check.suite}`);
  return [...suites.values()].flatMap((together) => {
    const reasons = Map.groupBy(together, ({ check }) => check.message);
    const [[reason] = ['']] = [...reasons].sort(([, a], [, b]) => b.length - a.length);
    return together.map((each) => [each, reason] as const);
  });
}

function byReason(told: readonly (readonly [Judged, string])[]): readonly NotApplying[] {
  const groups = Map.groupBy(told, ([{ check }, reason]) => JSON.stringify([check.suite, reason]));
  return [...groups.values()]
    .map((together) => {
      const [[{ check }, reason]] = together as [readonly [Judged, string]];
      return {
        suite: check.suite,
        reason: reason || 'no reason given',
        judged: together.map(([each]) => each),
      };
    })
    .sort((a, b) => b.judged.length - a.judged.length);
}
