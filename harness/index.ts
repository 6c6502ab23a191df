import { buildProgram } from './cli/program.ts';

export { HarnessError, InconclusiveError, UsageError } from './base/exit.ts';
/** The package's own surface, for programs that start `conform` or read what it wrote. */
export {
  type ConformanceOptions,
  type ConformanceTest,
  conformanceTests,
} from './cli/conformance-tests.ts';
export type { CheckResult } from './report/results/check-result.ts';
export type { Cause, Observation, Results, RunResult, ServiceResult } from './report/results/results.ts';

/**
 * Runs one command line in this process, as the program `conform` does. Results go to stdout, progress to stderr.
 * @param args What follows the program's name: `['run', 'orders', '--strict']`.
 * @returns The exit code: 0 conforms, 1 does not conform, 3 inconclusive.
 * @throws UsageError (2), InconclusiveError (3) or HarnessError (70), each with its `exitCode`; commander's own
 * error for a command line that cannot be read.
 */
export function conform(args: readonly string[]): Promise<number> {
  return buildProgram().run(args);
}
