import type { CheckResult } from '../report/results/check-result.ts';
import type { Results } from '../report/results/results.ts';
import { plainText } from '../report/results/words/plain.ts';
import { judgedBy, type RunOptions } from './commands/run.ts';

/** The options of `conform run` that matter in a test suite, under the same names. */
export type ConformanceOptions = { readonly services?: readonly string[] } & Partial<
  Pick<
    RunOptions,
    | 'allow'
    | 'check'
    | 'config'
    | 'environment'
    | 'header'
    | 'reports'
    | 'rules'
    | 'samplePath'
    | 'strict'
    | 'suite'
    | 'url'
  >
>;

/** One check of one service, or of one operation that it has judged, as a test. */
export interface ConformanceTest {
  readonly service: string;
  /** `auth.challenge: names a scheme in its 401`, or `operations.schema: GET /v1/orders`. Stays the same between runs. */
  readonly name: string;
  readonly outcome: CheckResult['outcome'];
  /** The finding of a warning; null for none. A warning fails only with `strict`. */
  readonly warning: string | null;
  /** @throws Error with the finding as its message if the service does not conform or could not be judged. */
  run(): void;
}

/**
 * Runs the services once, as `conform run` does, with its reports, and gives each check as a test for any runner:
 * `for (const { name, run } of await conformanceTests({ services: ['orders'] })) test(name, run);`
 *
 * @throws UsageError if the config is wrong; nothing was sent then.
 */
export async function conformanceTests(
  options: ConformanceOptions = {},
): Promise<readonly ConformanceTest[]> {
  const { services = [], ...others } = options;
  const results = await judgedBy(services, others);
  return results.services.flatMap(({ service, checks }) =>
    checks
      .filter(({ outcome }) => outcome !== 'skipped')
      .flatMap((check) => testsOf(service, check, results.run)),
  );
}

function testsOf(
  service: string,
  check: CheckResult,
  { strict }: Results['run'],
): readonly ConformanceTest[] {
  const { subjects = [] } = check;
  const made = (name: string, outcome: CheckResult['outcome'], text: string): ConformanceTest => ({
    service,
    name: plainText(`${check.id}: ${name}`),
    outcome,
    warning: outcome === 'warning' ? text : null,
    run() {
      if (isRed(outcome, strict)) throw finding(text);
    },
  });
  if (subjects.length < 2) return [made(check.title, check.outcome, textOf(check, check.message))];
  return subjects.map(({ subject, outcome, got }) =>
    made(subject, outcome, textOf(check, got === undefined ? check.message : `${check.title}: ${got}`)),
  );
}

function isRed(outcome: CheckResult['outcome'], strict: boolean): boolean {
  return (
    outcome === 'fail' || outcome === 'blocked' || outcome === 'error' || (strict && outcome === 'warning')
  );
}

function textOf({ change, reproduce }: CheckResult, message: string | null | undefined): string {
  const lines = [
    message ?? '',
    ...(change ? [`change: ${change}`] : []),
    ...(reproduce ? [`repeat: ${reproduce}`] : []),
  ];
  return plainText(lines.join('\n'));
}

/** Without a stack: where it was thrown says nothing of the service. */
function finding(text: string): Error {
  const error = new Error(text);
  error.name = 'ConformanceError';
  error.stack = `${error.name}: ${text}`;
  return error;
}
