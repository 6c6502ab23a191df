import { usualFolder } from '../config/yaml/read-text.ts';
import type { ReportChoices } from '../report/format.ts';
import type { Results } from '../report/results/results.ts';
import type { Progress } from '../report/terminal/progress.ts';
import { shellWord } from '../wire/forms/shell-word.ts';
import type { Shard } from './selection/shard.ts';
import type { Capacity } from './worker/capacity.ts';
import type { WorkerProcess } from './worker/worker-process.ts';

/** What is to be run, and how. */
export interface RunRequest {
  readonly configDir: string;
  /** Names; empty means every service of the config folder. */
  readonly services: readonly string[];
  readonly environment: string | null;
  /** Takes the place of the provider of the one service that is run. */
  readonly providerUrl: string | null;
  /** Files, folders and URLs of pacts in place of the configured ones; empty for those. */
  readonly pacts?: readonly string[];
  readonly suites: readonly string[];
  readonly checks: readonly string[];
  readonly strict: boolean;
  /** The day for which known failures are looked up, `2027-01-31`; today when left out. */
  readonly asOf?: string;
  /** A strict run is not inconclusive for leaving checks or operations out. */
  readonly partial?: boolean;
  /** Which part of the services this machine takes; all when left out. */
  readonly shard?: Shard;
  /** Id of the run, where several machines share it, or it takes the place of another; a new one when left out. */
  readonly runId?: string;
  /** Stop at the first failure. */
  readonly bail: boolean;
  /** Built-in providers are waited for like any other, where their time is simulated otherwise. */
  readonly realTime?: boolean;
  /** Services at the same time; null leaves it to the machine. */
  readonly concurrency: number | null;
  readonly reportsDir: string;
  /** The usual ones when left out. */
  readonly reportChoices?: ReportChoices;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly harness: Results['run']['harness'];
  /** URL of the module with the suites; the shipped ones when left out. */
  readonly suitesUrl?: string;
  /** In place of what the machine allows. */
  readonly capacity?: Capacity;
  /** Where workers come from; started as they are needed when left out. */
  readonly newWorker?: () => WorkerProcess;
  /** A worker silent for so long is ended, in ms. */
  readonly stallMs?: number;
  /** The longest active time of one check, in ms. */
  readonly checkLimitMs?: number;
}

/** The command line that runs one service by itself, in the same place. */
export function commandAlone(
  service: string,
  { configDir, environment, providerUrl }: Pick<RunRequest, 'configDir' | 'environment' | 'providerUrl'>,
): string {
  const options = {
    '--environment': environment,
    '--config': configDir === usualFolder() ? null : configDir,
    '--provider-url': providerUrl,
  };
  const given = Object.entries(options).flatMap(([option, value]) =>
    value === null ? [] : [option, shellWord(value)],
  );
  return ['conform', 'run', shellWord(service), ...given].join(' ');
}
