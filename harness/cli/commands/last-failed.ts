import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, UsageError } from '../../base/exit.ts';
import { readResults } from '../../report/results/read-results.ts';
import type { Results } from '../../report/results/results.ts';
import { counted } from '../../report/results/tally.ts';
import { plainLine } from '../../report/results/words/plain.ts';
import { newestReports } from '../../report/write.ts';

interface Failure {
  readonly service: string;
  readonly check: string;
}

/** Failures of the run whose reports were written last. @throws UsageError if there is none. */
export function lastFailures(reportsDir: string, services: readonly string[]): readonly Failure[] {
  const path = join(newestReports(reportsDir), 'results.json');
  const remedy = 'run `conform run` first, or name its folder with --reports';
  if (!existsSync(path)) throw new UsageError('there is no run to repeat', { place: { file: path }, remedy });
  const { run, services: all } = readResults(path);
  const failures = all
    .filter(({ service }) => services.length === 0 || services.includes(service))
    .flatMap(({ service, checks }) =>
      checks.filter(({ outcome }) => outcome === 'fail').map(({ id }) => ({ service, check: id })),
    );
  if (failures.length > 0) return failures;
  throw new UsageError(`nothing failed in the last run (${run.id})`, { remedy: 'run `conform run`' });
}

/** Runs the failures `times` times; prints which are mended, flaky and still there. Returns the exit code. */
export async function runAgain(
  failures: readonly Failure[],
  times: number,
  once: (isLast: boolean) => Promise<{ readonly results: Results; readonly signalled: boolean }>,
): Promise<number> {
  const runs: Results[] = [];
  for (let at = 1; at <= times; at += 1) {
    const { results, signalled } = await once(at === times);
    runs.push(results);
    if (signalled) return results.run.exitCode;
  }
  const met = failures.map((failure) => ({ failure, outcomes: runs.map((run) => outcomeIn(run, failure)) }));
  process.stdout.write(`\n${summaryOf(met)}`);
  if (met.some(({ outcomes }) => outcomes.includes('fail'))) return EXIT.doesNotConform;
  return Math.max(...runs.map(({ run }) => run.exitCode));
}

/** A failure with its outcome in each run; null if the run did not judge it. */
interface Repeated {
  readonly failure: Failure;
  readonly outcomes: readonly (string | null)[];
}

function outcomeIn({ services }: Results, { service, check }: Failure): string | null {
  const found = services.find((each) => each.service === service)?.checks.find(({ id }) => id === check);
  return found?.outcome ?? null;
}

function summaryOf(met: readonly Repeated[]): string {
  const failed = ({ outcomes }: Repeated) => outcomes.filter((outcome) => outcome === 'fail').length;
  const passed = ({ outcomes }: Repeated) => outcomes.filter((outcome) => outcome === 'pass').length;
  const mended = met.filter((each) => passed(each) === each.outcomes.length);
  const still = met.filter((each) => failed(each) === each.outcomes.length);
  const flaky = met.filter((each) => failed(each) > 0 && !still.includes(each));
  const open = met.filter((each) => ![mended, still, flaky].some((group) => group.includes(each)));
  const numbers = [
    `${mended.length} of ${met.length} mended`,
    ...(still.length > 0 ? [`${still.length} still`] : []),
    ...(flaky.length > 0 ? [`${flaky.length} flaky`] : []),
    ...(open.length > 0 ? [`${open.length} not judged`] : []),
  ];
  const line = (sign: string, after: (each: Repeated) => string) => (each: Repeated) =>
    `  ${sign} ${plainLine(each.failure.check)} (${plainLine(each.failure.service)})${after(each)}`;
  const rate = (each: Repeated) => `  failed ${failed(each)} of ${counted(each.outcomes.length, 'time')}`;
  return `${[
    `${numbers.join(', ')}.`,
    ...still.map(line('✕', () => '')),
    ...flaky.map(line('≈', rate)),
    ...open.map(
      line('⊘', ({ outcomes }) => `  ${outcomes.findLast((each) => each !== 'pass') ?? 'not run'}`),
    ),
    ...mended.map(line('✓', () => '')),
  ].join('\n')}\n`;
}
