import {
  type JudgedEvidence,
  type JudgingRequest,
  judgeEvidence,
  judgeShards,
} from '../../engine/judging/judge-evidence.ts';
import { type RecordFile, type RunEvidence, readRecord } from '../../engine/judging/read-record.ts';
import type { JunitWarnings } from '../../report/format.ts';
import { HARNESS } from '../process.ts';
import { type Loudness, printVerdict } from './verdict.ts';

export interface JudgeCommandOptions extends Loudness {
  readonly service?: readonly string[];
  readonly suite?: readonly string[];
  readonly check?: readonly string[];
  readonly config: string;
  readonly reports: string;
  readonly strict?: boolean;
  readonly asOf?: string;
  readonly junitWarnings?: JunitWarnings;
}

/** The worst verdict decides the exit code. */
const WORST_FIRST = [70, 1, 3, 0];

/** `conform judge`: the verdict of today's checks on recorded runs; the shards of a run get one. Sends nothing. */
export async function judge(paths: readonly string[], options: JudgeCommandOptions): Promise<number> {
  const all = paths.map((path) => readRecord(path));
  const shards = all.filter(isShard);
  const others = shards.length > 1 ? all.filter((evidence) => !isShard(evidence)) : all;
  const request = requestOf(options);
  const codes: number[] = [];
  const tell = ({ results, reports }: JudgedEvidence) => {
    codes.push(results.run.exitCode);
    printVerdict(results, reports, options);
  };
  if (shards.length > 1) tell(await judgeShards(shards, request));
  for (const evidence of others) tell(await judgeEvidence(evidence, request));
  return WORST_FIRST.find((code) => codes.includes(code)) ?? 0;
}

function isShard(evidence: RecordFile): evidence is RunEvidence {
  return evidence.kind === 'run' && evidence.record.run.shard !== undefined;
}

function requestOf(options: JudgeCommandOptions): JudgingRequest {
  return {
    configDir: options.config,
    services: options.service ?? [],
    suites: options.suite ?? [],
    checks: options.check ?? [],
    ...(options.strict && { strict: true }),
    ...(options.asOf === undefined ? {} : { asOf: options.asOf }),
    reportsDir: options.reports,
    ...(options.junitWarnings && { reportChoices: { junitWarnings: options.junitWarnings } }),
    env: process.env,
    harness: HARNESS,
  };
}
