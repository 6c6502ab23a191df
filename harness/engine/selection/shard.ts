import { createHash } from 'node:crypto';
import { UsageError } from '../../base/exit.ts';
import type { ServiceConfig } from '../../config/service.ts';
import type { RunResult } from '../../report/results/results.ts';
import { quotaGroups } from '../turns/turns.ts';

/** One machine's part of a run, counted from 1. */
export interface Shard {
  readonly index: number;
  readonly total: number;
}

const MOST_SHARDS = 1_000;

/** `2/3`, or `auto` for the variables of a CI job. @throws UsageError for anything else. */
export function shardFrom(text: string, env: NodeJS.ProcessEnv): Shard {
  if (text === 'auto') return shardOfJob(env);
  const [, index, total] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? [];
  return held({ index: Number(index), total: Number(total) }, `--shard ${JSON.stringify(text)}`);
}

/**
 * Variables with the number of a job, and whether it counts from 0: GitLab's `parallel`; a Kubernetes Indexed Job,
 * which does not state the total; a GitHub matrix.
 */
const JOBS = [
  { index: 'CI_NODE_INDEX', total: 'CI_NODE_TOTAL', from: 1 },
  { index: 'CONFORM_SHARD_INDEX', total: 'CONFORM_SHARD_TOTAL', from: 0 },
  { index: 'JOB_COMPLETION_INDEX', total: 'CONFORM_SHARD_TOTAL', from: 0 },
] as const;

function shardOfJob(env: NodeJS.ProcessEnv): Shard {
  const job = JOBS.find(({ index, total }) => env[index] && env[total]);
  if (job === undefined) {
    const pairs = JOBS.map(({ index, total }) => `${index} and ${total}`).join(', or ');
    throw new UsageError('--shard auto: nothing says which part of the run this is', {
      remedy: `set ${pairs}; or name the part, as in --shard 1/3`,
    });
  }
  const [index, total] = [env[job.index], env[job.total]].map((text) =>
    /^\d{1,4}$/.test(text ?? '') ? Number(text) : Number.NaN,
  );
  return held(
    { index: (index ?? Number.NaN) + 1 - job.from, total: total ?? Number.NaN },
    `${job.index}=${env[job.index]}, ${job.total}=${env[job.total]}`,
  );
}

function held(shard: Shard, said: string): Shard {
  const { index, total } = shard;
  if (total >= 1 && total <= MOST_SHARDS && index >= 1 && index <= total) return shard;
  throw new UsageError(`${said} names no part of a run`, {
    remedy: `name the part and how many there are, at most ${MOST_SHARDS}: --shard 1/3`,
  });
}

/** Assumed milliseconds of a service without a window. */
const BRIEF_MS = 10_000;

/**
 * The services of one shard, the same on every machine: services with a common quota stay together and weigh as long
 * as their windows; the longest are dealt out first.
 */
export function partOf(configs: readonly ServiceConfig[], { index, total }: Shard): readonly ServiceConfig[] {
  const groups = quotaGroups(configs)
    .map((group) => ({
      group,
      name: group.map(({ service }) => service).toSorted()[0] ?? '',
      weight: group.reduce((sum, { plan }) => sum + (plan?.windowMs ?? BRIEF_MS), 0),
    }))
    .toSorted((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
  const shards = Array.from({ length: total }, () => ({ weight: 0, configs: [] as ServiceConfig[] }));
  for (const { group, weight } of groups) {
    const lightest = shards.reduce((least, each) => (each.weight < least.weight ? each : least));
    lightest.weight += weight;
    lightest.configs.push(...group);
  }
  const own = new Set(shards[index - 1]?.configs);
  return configs.filter((config) => own.has(config));
}

/** Identifies the whole run in the results of a shard. */
export function shardNote(
  { index, total }: Shard,
  configs: readonly ServiceConfig[],
  asked: object,
): NonNullable<RunResult['shard']> {
  const services = configs.map(({ service }) => service);
  const environments = configs.map(({ environment }) => environment);
  const plan = createHash('sha256')
    .update(JSON.stringify([services, environments, total, asked]))
    .digest('base64url')
    .slice(0, 16);
  return { index, total, plan, services };
}
