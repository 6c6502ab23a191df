import type { Allowance } from '../config/blocks/allowances.ts';
import { usualConfig } from '../config/yaml/read-text.ts';
import type { ReportChoices, ReportFormat } from '../report/format.ts';
import type { Results } from '../report/results/results.ts';
import type { Progress } from '../report/terminal/progress.ts';
import { shellWord } from '../wire/forms/shell-word.ts';
import type { Shard } from './selection/shard.ts';
import type { Capacity } from './worker/capacity.ts';
import type { WorkerProcess } from './worker/worker-process.ts';

export interface RunRequest {
  readonly configDir: string;
  /** Empty: every service of the config folder. */
  readonly services: readonly string[];
  readonly environment: string | null;
  /** Replaces the provider of the only service. */
  readonly providerUrl: string | null;
  /** Files, folders and URLs instead of the configured ones. */
  readonly pacts?: readonly string[];
  /** What the config does not allow, for this run. */
  readonly allow?: readonly Allowance[];
  /** The rule set in place of that of each service; null for their own. */
  readonly rules?: string | null;
  /** Longest wait for a response in place of the configured one, such as `10s`. */
  readonly timeout?: string | undefined;
  /** All services are asked over HTTP/2. */
  readonly http2?: boolean;
  readonly suites: readonly string[];
  readonly checks: readonly string[];
  /** Patterns of operations, as `LoadOptions` has them. Default: all. */
  readonly operations?: readonly string[];
  readonly strict: boolean;
  /** The day for which known failures are looked up, `2027-01-31`. Default: today. */
  readonly asOf?: string;
  /** A strict run is conclusive without some checks or operations. */
  readonly partial?: boolean;
  /** The part of the services for this machine. */
  readonly shard?: Shard;
  /** Shared by several machines, or reused to replace a run. */
  readonly runId?: string;
  /** Number of failures after which the run stops; null for none. */
  readonly maxFailures: number | null;
  /** Built-in providers run in real time too. */
  readonly realTime?: boolean;
  /** Number of services at the same time; null: as the machine allows. */
  readonly concurrency: number | null;
  readonly reportsDir: string;
  readonly reportChoices?: ReportChoices;
  /** Default: all. */
  readonly formats?: readonly ReportFormat[];
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly harness: Results['run']['harness'];
  /** The command line that runs the same again, for a run without a config to keep. */
  readonly again?: string;
  /** URL of the module with the suites. Default: the built-in ones. */
  readonly suitesUrl?: string;
  /** Instead of the capacity of the machine. */
  readonly capacity?: Capacity;
  /** Source of workers. */
  readonly newWorker?: () => WorkerProcess;
  /** Milliseconds of silence after which a worker is ended. */
  readonly stallMs?: number;
  /** Longest active time of one check, in ms. */
  readonly checkLimitMs?: number;
}

/** The command line that runs one service alone, in the same place. */
export function commandAlone(
  service: string,
  {
    configDir,
    environment,
    providerUrl,
    again,
  }: Pick<RunRequest, 'configDir' | 'environment' | 'providerUrl' | 'again'>,
): string {
  if (again !== undefined) return again;
  const options = {
    '--environment': environment,
    '--config': configDir === usualConfig() ? null : configDir,
    '--url': providerUrl,
  };
  const given = Object.entries(options).flatMap(([option, value]) =>
    value === null ? [] : [option, shellWord(value)],
  );
  return ['conform', 'run', shellWord(service), ...given].join(' ');
}
