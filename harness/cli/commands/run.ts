import { basename } from 'node:path';
import { EXIT, UsageError } from '../../base/exit.ts';
import type { Allowance } from '../../config/blocks/allowances.ts';
import { CONFIG_FILE, usualConfig } from '../../config/yaml/read-text.ts';
import type { RunRequest } from '../../engine/request.ts';
import { dryRun, type FinishedRun, runConformance } from '../../engine/run.ts';
import { shardFrom } from '../../engine/selection/shard.ts';
import type { JunitWarnings } from '../../report/format.ts';
import { formatsNamed } from '../../report/formats.ts';
import { estimatesText } from '../../report/terminal/estimate.ts';
import { createProgress } from '../../report/terminal/progress.ts';
import { watchConfig } from '../change.ts';
import { annotationsOf } from '../ci/annotations.ts';
import { annotate } from '../ci/log-commands.ts';
import { complain, HARNESS, terminalOf } from '../process.ts';
import { isTarget } from '../unconfigured/target.ts';
import type { UnconfiguredOptions } from '../unconfigured/unconfigured.ts';
import { lastFailures, runAgain } from './last-failed.ts';
import { type Loudness, printVerdict } from './verdict.ts';

/** Options that a run takes unchanged. */
type PlainOptions = Pick<
  RunRequest,
  'strict' | 'asOf' | 'partial' | 'runId' | 'realTime' | 'timeout' | 'http2'
>;

export interface RunOptions extends PlainOptions, Loudness, UnconfiguredOptions {
  readonly environment?: string;
  /** Pacts instead of the configured ones. */
  readonly pact?: readonly string[];
  readonly suite?: readonly string[];
  readonly check?: readonly string[];
  /** Patterns of operations. */
  readonly operation?: readonly string[];
  readonly config: string;
  readonly reports: string;
  /** Stop at the first failure. */
  readonly bail: boolean;
  readonly maxFailures?: number;
  readonly reporter?: readonly string[];
  /** Print the results instead of the verdict. */
  readonly json?: boolean;
  readonly proxy?: string;
  /** Run only checks that failed in the last run. */
  readonly lastFailed?: boolean;
  /** How often, with `lastFailed`. */
  readonly repeat?: number;
  readonly shard?: string;
  /** The older name of `url`. */
  readonly providerUrl?: string;
  readonly rules?: string;
  readonly allow?: readonly Allowance[];
  readonly concurrency?: number;
  readonly watch: boolean;
  readonly dryRun?: boolean;
  readonly junitWarnings?: JunitWarnings;
}

/** Settings without an option, for tests. */
export type RunSetting = Pick<
  RunRequest,
  'suitesUrl' | 'capacity' | 'newWorker' | 'stallMs' | 'checkLimitMs' | 'again'
> & { readonly env?: NodeJS.ProcessEnv };

/** `conform run`: the verdict on stdout, progress on stderr. */
export async function run(
  services: readonly string[],
  options: RunOptions,
  setting: RunSetting = {},
): Promise<number> {
  return withTarget(services, options, setting, async (named, given, ofRun, keep) => {
    const code = await runConfigured(named, given, ofRun);
    if (!options.quiet && keep) process.stderr.write(`To keep this as a config: ${keep}\n`);
    return code;
  });
}

/** Gives a document or URL a config for as long as `act` takes; `conform.yaml` is one. `keep`: the command line that writes one to keep. */
async function withTarget<T>(
  services: readonly string[],
  options: RunOptions,
  setting: RunSetting,
  act: (
    services: readonly string[],
    options: RunOptions,
    setting: RunSetting,
    keep?: string | null,
  ) => Promise<T>,
): Promise<T> {
  const [target, ...more] = services;
  if (target === undefined || !isTarget(target)) return act(services, options, setting);
  if (basename(target) === CONFIG_FILE) return act(more, { ...options, config: target }, setting);
  if (more.length > 0) {
    const remedy = 'run them one after the other, or write configs with `conform init`';
    throw new UsageError('one document or URL can be run at a time', { remedy });
  }
  const { unconfigured } = await import('../unconfigured/unconfigured.ts');
  const found = await unconfigured(target, options, process.env);
  try {
    const { configDir: config, env, again, keep } = found;
    const rules = options.rules ?? found.rules;
    const here = { ...options, config, url: undefined, ...(rules !== undefined && { rules }) };
    return await act([found.service], here, { ...setting, env, again }, keep);
  } finally {
    found.close();
  }
}

/** The results of a run that prints nothing. */
export async function judgedBy(
  services: readonly string[],
  options: Partial<RunOptions>,
): Promise<FinishedRun['results']> {
  const all: RunOptions = {
    config: usualConfig(),
    reports: 'reports',
    strict: false,
    bail: false,
    watch: false,
    quiet: true,
    ...options,
  };
  const progress = createProgress({ stream: process.stderr, isTTY: false, color: false, quiet: true });
  return withTarget(services, all, {}, async (named, given, setting) => {
    const { results } = await runConformance({ ...requestOf(named, given, setting), progress });
    return results;
  });
}

async function runConfigured(
  services: readonly string[],
  options: RunOptions,
  setting: RunSetting,
): Promise<number> {
  if (options.lastFailed) return runLastFailed(services, options, setting);
  if (options.repeat !== undefined)
    throw new UsageError('--repeat is for --last-failed', { remedy: 'add --last-failed' });
  const request = () => requestOf(services, options, setting);
  if (options.dryRun) {
    process.stdout.write(estimatesText(await dryRun(request())));
    return EXIT.conforms;
  }
  const once = () => runOnce(request(), options);
  if (options.watch) return runAtEveryChange(options, once);
  return (await once()).results.run.exitCode;
}

async function runLastFailed(
  services: readonly string[],
  options: RunOptions,
  setting: RunSetting,
): Promise<number> {
  const failures = lastFailures(options.reports, services);
  const named = [...new Set(failures.map(({ service }) => service))];
  const check = [...new Set(failures.map((each) => each.check))];
  return runAgain(failures, options.repeat ?? 1, (isLast) => {
    const loudness = isLast ? {} : { quiet: true, verbose: false };
    const again = { ...options, suite: [], check, ...loudness };
    return runOnce(requestOf(named, again, setting), again);
  });
}

/** Runs until a signal; the exit code is that of the last run. A change during a run starts the next. */
async function runAtEveryChange(options: RunOptions, once: () => Promise<FinishedRun>): Promise<number> {
  const changes = watchConfig(options.config, options.reports);
  try {
    for (;;) {
      const { exitCode, signalled } = await runUnlessFaulty(once);
      if (signalled) return exitCode;
      process.stderr.write(`conform: waiting for a change in ${options.config} (Ctrl-C ends)\n`);
      if ((await changes.next()) === 'signalled') return exitCode;
    }
  } finally {
    changes.close();
  }
}

/** While the config is being edited, a fault in it is only reported; the next change may fix it. */
async function runUnlessFaulty(once: () => Promise<FinishedRun>) {
  try {
    const { results, signalled } = await once();
    return { exitCode: results.run.exitCode, signalled };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    complain(error.message);
    return { exitCode: error.exitCode, signalled: false };
  }
}

function requestOf(
  services: readonly string[],
  {
    config,
    reports,
    environment,
    pact,
    suite,
    check,
    operation,
    shard,
    concurrency,
    proxy,
    ...same
  }: RunOptions,
  setting: RunSetting,
): Omit<RunRequest, 'progress'> {
  const { junitWarnings, header, url = same.providerUrl } = same;
  if (header !== undefined && setting.again === undefined) {
    const remedy = 'write it below `headers:` or `credentials:` of the service config';
    throw new UsageError('--header is for a document or URL, not for a service with a config', { remedy });
  }
  return {
    ...setting,
    ...same,
    configDir: config,
    services,
    environment: environment ?? null,
    providerUrl: url ?? null,
    pacts: pact ?? [],
    suites: suite ?? [],
    checks: check ?? [],
    ...(operation && { operations: operation }),
    ...(shard === undefined ? {} : { shard: shardFrom(shard, process.env) }),
    maxFailures: same.bail ? 1 : (same.maxFailures ?? null),
    ...(same.reporter && { formats: formatsNamed(['json', ...same.reporter]) }),
    concurrency: concurrency ?? null,
    reportsDir: reports,
    ...(junitWarnings && { reportChoices: { junitWarnings } }),
    env: { ...(setting.env ?? process.env), ...(proxy === undefined ? {} : proxyVariables(proxy)) },
    harness: HARNESS,
  };
}

function proxyVariables(url: string): NodeJS.ProcessEnv {
  return { http_proxy: url, https_proxy: url, no_proxy: '' };
}

async function runOnce(request: Omit<RunRequest, 'progress'>, options: RunOptions): Promise<FinishedRun> {
  const { isTTY, color } = terminalOf(process.stderr);
  const progress = createProgress({ stream: process.stderr, isTTY, color, quiet: options.quiet ?? false });
  const finished = await runConformance({ ...request, progress });
  const { results, reports } = finished;
  if (options.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  else printVerdict(results, reports, { ...options, ...(request.again && { again: request.again }) });
  const { GITHUB_ACTIONS, GITHUB_WORKSPACE: repository = process.cwd() } = process.env;
  if (GITHUB_ACTIONS === 'true') {
    annotate(process.stdout, await annotationsOf(results, { configDir: options.config, repository }));
  }
  return finished;
}
