import { join } from 'node:path';
import { EXIT, UsageError } from '../../../base/exit.ts';
import type { JunitWarnings } from '../../../report/format.ts';
import { estimatesText } from '../../../report/terminal/estimate.ts';
import { createProgress } from '../../../report/terminal/progress.ts';
import { verdictText } from '../../../report/terminal/terminal.ts';
import type { RunRequest } from '../../../run/request.ts';
import { dryRun, type FinishedRun, type PlannedRun, runConformance } from '../../../run/run.ts';
import { shardFrom } from '../../../run/selection/shard.ts';
import { watchBelow } from '../../change.ts';
import { annotationsOf } from '../../ci/annotations.ts';
import { annotate } from '../../ci/log-commands.ts';
import { complain, HARNESS, terminalOf } from '../../process.ts';

export interface RunOptions {
  readonly environment?: string;
  /** Pacts in place of the configured ones. */
  readonly pact?: readonly string[];
  readonly suite?: readonly string[];
  readonly check?: readonly string[];
  readonly config: string;
  readonly reports: string;
  readonly strict: boolean;
  readonly asOf?: string;
  readonly shard?: string;
  readonly runId?: string;
  readonly partial?: boolean;
  readonly bail: boolean;
  readonly providerUrl?: string;
  readonly realTime?: boolean;
  readonly concurrency?: number;
  readonly watch: boolean;
  readonly dryRun?: boolean;
  readonly junitWarnings?: JunitWarnings;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** What no option of the command line sets. */
export type RunSetting = Pick<
  RunRequest,
  'suitesUrl' | 'capacity' | 'newWorker' | 'stallMs' | 'checkLimitMs'
>;

/** `conform run`: the verdict on stdout, progress on stderr. */
export async function run(
  services: readonly string[],
  options: RunOptions,
  setting: RunSetting = {},
): Promise<number> {
  const planned = () => plannedBy(services, options, setting);
  if (options.dryRun) {
    process.stdout.write(estimatesText(await dryRun(planned())));
    return EXIT.conforms;
  }
  const once = () => runOnce(planned(), options);
  if (options.watch) return runAtEveryChange(options, once);
  return (await once()).results.run.exitCode;
}

/** Until a signal comes; the exit code is that of the last run. A change during a run is the reason for the next. */
async function runAtEveryChange(options: RunOptions, once: () => Promise<FinishedRun>): Promise<number> {
  const changes = watchBelow(options.config, options.reports);
  try {
    for (;;) {
      const { exitCode, signalled } = await orSlip(once);
      if (signalled) return exitCode;
      process.stderr.write(`conform: waiting for a change in ${options.config} (Ctrl-C ends)\n`);
      if ((await changes.next()) === 'signalled') return exitCode;
    }
  } finally {
    changes.close();
  }
}

/** A slip in a config that is being written is told of; the next change puts it right. */
async function orSlip(once: () => Promise<FinishedRun>) {
  try {
    const { results, signalled } = await once();
    return { exitCode: results.run.exitCode, signalled };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    complain(error.message);
    return { exitCode: error.exitCode, signalled: false };
  }
}

function plannedBy(services: readonly string[], options: RunOptions, setting: RunSetting): PlannedRun {
  return {
    ...setting,
    configDir: options.config,
    services,
    environment: options.environment ?? null,
    providerUrl: options.providerUrl ?? null,
    pacts: options.pact ?? [],
    suites: options.suite ?? [],
    checks: options.check ?? [],
    ...(options.shard === undefined ? {} : { shard: shardFrom(options.shard, process.env) }),
    ...(options.realTime === undefined ? {} : { realTime: options.realTime }),
    env: process.env,
  };
}

async function runOnce(planned: PlannedRun, options: RunOptions): Promise<FinishedRun> {
  const verbosity = options.quiet ? 'quiet' : options.verbose ? 'verbose' : 'normal';
  const stderr = terminalOf(process.stderr);
  const stdout = terminalOf(process.stdout);
  const finished = await runConformance({
    ...planned,
    strict: options.strict,
    ...(options.runId === undefined ? {} : { runId: options.runId }),
    ...(options.asOf === undefined ? {} : { asOf: options.asOf }),
    ...(options.partial === undefined ? {} : { partial: options.partial }),
    bail: options.bail,
    concurrency: options.concurrency ?? null,
    reportsDir: options.reports,
    ...(options.junitWarnings && { reportChoices: { junitWarnings: options.junitWarnings } }),
    harness: HARNESS,
    progress: createProgress({ stream: process.stderr, ...stderr, quiet: verbosity === 'quiet' }),
  });
  const { results, reports } = finished;
  process.stdout.write(
    verdictText(results, {
      color: stdout.color,
      width: process.stdout.columns || 80,
      verbosity,
      reportsAt: reports && join(reports.latestDir, 'index.html'),
    }),
  );
  const { GITHUB_ACTIONS, GITHUB_WORKSPACE: repository = process.cwd() } = process.env;
  if (GITHUB_ACTIONS === 'true') {
    annotate(process.stdout, await annotationsOf(results, { configDir: options.config, repository }));
  }
  return finished;
}
