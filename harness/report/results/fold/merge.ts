import { UsageError } from '../../../base/exit.ts';
import type { Results, RunResult, ServiceResult } from '../results.ts';
import { tallyOf } from '../tally.ts';
import { withExitCode } from './fold.ts';

/** The results of a shard, and where they were found. */
export interface ShardResults {
  readonly source: string;
  readonly results: Results;
}

/** A missing shard cuts the run short. @throws UsageError for shards of another run, or there twice. */
export function merged(shards: readonly ShardResults[]): Results {
  const parts = shards.map(({ source, results }) => ({ source, results, shard: shardIn(source, results) }));
  const [first, ...others] = parts.toSorted((a, b) => a.shard.index - b.shard.index);
  if (first === undefined)
    throw new UsageError('there is nothing to merge', { remedy: 'name the report folders of the shards' });
  for (const { source, shard } of others) {
    if (shard.plan === first.shard.plan && shard.total === first.shard.total) continue;
    const remedy =
      'merge the shards of one run: the same services, environment, selection and number of shards';
    throw new UsageError(`is not of the same run as ${first.source}`, { place: { file: source }, remedy });
  }
  const all = [first, ...others];
  for (const { source, shard } of all) {
    const twin = all.find((each) => each.shard.index === shard.index);
    if (twin === undefined || twin.source === source) continue;
    const problem = `is shard ${shard.index} of ${shard.total}, as ${twin.source} is`;
    throw new UsageError(problem, { place: { file: source }, remedy: 'keep the later one of the two' });
  }
  const placeOf = ({ service }: ServiceResult) => first.shard.services.indexOf(service);
  const services = all.flatMap(({ results }) => results.services).sort((a, b) => placeOf(a) - placeOf(b));
  const missing = Array.from({ length: first.shard.total }, (_, at) => at + 1).filter((index) =>
    all.every(({ shard }) => shard.index !== index),
  );
  const absent = first.shard.services.filter((name) => services.every(({ service }) => service !== name));
  const interruptions = [
    ...all.flatMap(({ results: { run }, shard: { index } }) =>
      run.interrupted ? [`shard ${index}: ${run.interruption ?? 'for an unknown reason'}`] : [],
    ),
    ...missing.map((index) => `shard ${index} of ${first.shard.total} is missing`),
    ...(absent.length > 0 ? [`nothing is known of ${absent.join(', ')}`] : []),
  ];
  const runs = all.map(({ results }) => results.run);
  const began = runs.map(({ startedAt }) => startedAt).sort();
  const ended = runs.map(({ finishedAt }) => finishedAt).sort();
  const remarks = runs.flatMap((each) => each.remarks ?? []);
  const { shard: _, remarks: __, ...run } = first.results.run;
  return withExitCode({
    schemaVersion: 1,
    run: {
      ...run,
      startedAt: began[0] ?? run.startedAt,
      finishedAt: ended.at(-1) ?? run.finishedAt,
      interrupted: interruptions.length > 0,
      interruption: interruptions.length > 0 ? interruptions.join('; ') : null,
      faults: runs.flatMap(({ faults }) => faults),
      ...(remarks.length > 0 ? { remarks } : {}),
    },
    services,
    totals: tallyOf(services.flatMap(({ checks }) => checks)),
  });
}

function shardIn(source: string, { run }: Results): NonNullable<RunResult['shard']> {
  if (run.shard !== undefined) return run.shard;
  const remedy = 'merge the reports of runs with --shard';
  throw new UsageError('is not the part of a run', { place: { file: source }, remedy });
}
