import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../../base/exit.ts';
import { withCauses } from '../../../report/diagnosis/causes.ts';
import { pastRun, withHistory } from '../../../report/memory/history.ts';
import { readHistory, remember } from '../../../report/memory/history-file.ts';
import { merged } from '../../../report/results/fold/merge.ts';
import type { Results } from '../../../report/results/results.ts';
import { plainLine } from '../../../report/results/words/plain.ts';
import { newestReports, writeReports } from '../../../report/write.ts';
import { complain } from '../../process.ts';
import { tellVerdict } from '../verdict.ts';
import { resultsFrom } from './report.ts';

/** `conform merge`: the one report of a run that several machines have done a part of each. */
export async function merge(
  folders: readonly string[],
  { reports: reportsDir }: { readonly reports: string },
): Promise<number> {
  const shards = folders.map((folder) => {
    const source = sourceIn(folder);
    return { source, results: resultsFrom(source) };
  });
  const { runs, notes } = readHistory(reportsDir);
  const results: Results = withHistory(withCauses(merged(shards)), runs, notes);
  const reports = writeReports(results, { reportsDir, journalPath: null });
  const unwritten = remember(reportsDir, pastRun(results));
  if (unwritten !== null) complain(plainLine(unwritten));
  tellVerdict(results, reports);
  return results.run.exitCode;
}

/** Where the results of a shard are: in the folder of its run, or below the folder of its reports; the journal of a killed one. */
function sourceIn(folder: string): string {
  if (existsSync(folder) && statSync(folder).isFile()) return folder;
  for (const place of [folder, newestReports(folder)]) {
    for (const name of ['results.json', 'journal.ndjson']) {
      if (existsSync(join(place, name))) return join(place, name);
    }
  }
  throw new UsageError('holds neither results.json nor journal.ndjson', {
    place: { file: folder },
    remedy: 'name the report folder of a shard, e.g. shard-1/latest',
  });
}
