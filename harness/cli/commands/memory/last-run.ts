import { join } from 'node:path';
import { UsageError } from '../../../base/exit.ts';
import { didYouMean } from '../../../config/yaml/nearest.ts';
import { readResults } from '../../../report/results/read-results.ts';
import type { Results } from '../../../report/results/results.ts';
import { newestReports } from '../../../report/write.ts';

interface LastRun {
  /** Folder of the reports. */
  readonly reports: string;
  /** The results of another run than the last one there. */
  readonly results?: string | undefined;
}

/**
 * The run that was written last, with the services that are wanted; with all when none is named.
 *
 * @throws UsageError when it had no such service, or there is none.
 */
export function lastRun(wanted: readonly string[], { reports, results }: LastRun): Results {
  const last = readResults(results ?? join(newestReports(reports), 'results.json'));
  const names = last.services.map(({ service }) => service);
  for (const name of wanted) {
    if (names.includes(name)) continue;
    throw new UsageError(`the last run had no service ${JSON.stringify(name)}`, {
      remedy: didYouMean(name, names),
    });
  }
  const isWanted = ({ service }: { readonly service: string }) =>
    wanted.length === 0 || wanted.includes(service);
  return { ...last, services: last.services.filter(isWanted) };
}
