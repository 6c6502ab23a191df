import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, HarnessError, UsageError } from '../../base/exit.ts';
import { didYouMean } from '../../config/yaml/nearest.ts';
import { withCauses } from '../../report/diagnosis/causes.ts';
import type { JunitWarnings } from '../../report/format.ts';
import { formatsNamed } from '../../report/formats.ts';
import { withDrift } from '../../report/memory/drift.ts';
import {
  type Difference,
  differences,
  type PastRun,
  pastRun,
  withHistory,
} from '../../report/memory/history.ts';
import { readHistory, remember } from '../../report/memory/history-file.ts';
import { withKnown } from '../../report/memory/known.ts';
import { readEvent } from '../../report/results/fold/events.ts';
import { foldEvents } from '../../report/results/fold/fold.ts';
import { merged } from '../../report/results/fold/merge.ts';
import { readResults } from '../../report/results/read-results.ts';
import type { Results } from '../../report/results/results.ts';
import { counted } from '../../report/results/tally.ts';
import { plainLine } from '../../report/results/words/plain.ts';
import { instant } from '../../report/results/words/words.ts';
import { newestReports, reportsFolderOf, writeReports } from '../../report/write.ts';
import { type JournalContent, readJournal } from '../../wire/record/journal.ts';
import { complain, HARNESS } from '../process.ts';
import { printVerdict } from './verdict.ts';

/** `conform report`: writes the reports of a finished run again, or of the journal of a killed one. */
export async function report(
  input: string,
  options: { readonly format?: string; readonly reports?: string; readonly junitWarnings?: JunitWarnings },
): Promise<number> {
  const isJournal = input.endsWith('.ndjson');
  const results = withCauses(resultsFrom(input));
  const written = writeReports(results, {
    reportsDir: options.reports ?? reportsFolderOf(input) ?? 'reports',
    ...(options.format === undefined ? {} : { formats: formatsNamed(options.format.split(',')) }),
    ...(options.junitWarnings && { choices: { junitWarnings: options.junitWarnings } }),
    journalPath: isJournal ? input : null,
  });
  process.stdout.write(`${written.files.map((file) => plainLine(`${written.runDir}/${file}`)).join('\n')}\n`);
  return results.run.exitCode;
}

/** The results of a `results.json` or a journal. @throws UsageError when it is neither. */
export function resultsFrom(path: string): Results {
  return path.endsWith('.ndjson') ? withDrift(withKnown(fromJournal(path))) : readResults(path);
}

/** @throws UsageError when it is no readable journal. */
function fromJournal(path: string): Results {
  const { entries, badLines } = contentOf(path);
  if (!entries.some((entry) => readEvent(entry).kind === 'event')) {
    throw new UsageError('no journal of a run: not one entry of it can be read', { place: { file: path } });
  }
  const now = new Date().toISOString();
  return foldEvents(entries, {
    run: { id: 'unknown', startedAt: now, harness: HARNESS, strict: false },
    finishedAt: now,
    interruption: null,
    badLines,
  });
}

function contentOf(path: string): JournalContent {
  try {
    return readJournal(path);
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    throw new UsageError(error.message, {
      remedy: 'give the path of a journal, e.g. reports/latest/journal.ndjson',
    });
  }
}

/** `conform merge`: one report of the shards of a run. */
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
  printVerdict(results, reports);
  return results.run.exitCode;
}

/** The results of a shard, in the folder of its run or of its reports; the journal if it was killed. */
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

/** `conform diff`: the differences between two runs: the last two, the last and the named one, or both named. */
export async function diff(
  named: readonly string[],
  { reports }: { readonly reports: string },
): Promise<number> {
  const { runs, notes } = readHistory(reports);
  const inOrder = runs.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
  const [before, after] = [inOrder.at(-2), inOrder.at(-1)].map((usual, at) => {
    const name = named[at];
    return name === undefined ? usual : runNamed(name, inOrder);
  });
  if (before === undefined || after === undefined) {
    throw new UsageError(`${reports} remembers fewer than two runs`, {
      remedy: 'run twice with the same --reports, or bring history.ndjson along',
    });
  }
  const found = differences(before, after);
  const lines = [
    ...notes.map((note) => `note: ${note}`),
    `${headOf(before)} → ${headOf(after)}`,
    ...found.map(lineOf),
    found.length === 0
      ? 'No check that both runs judged has changed.'
      : `${counted(new Set(found.map(({ service, environment, check }) => `${service} ${environment} ${check}`)).size, 'check')} changed, of those that both runs judged.`,
  ];
  process.stdout.write(lines.map((line) => `${plainLine(line)}\n`).join(''));
  return EXIT.conforms;
}

function runNamed(name: string, runs: readonly PastRun[]): PastRun {
  const found = runs.filter(({ id }) => id.startsWith(name));
  const [only] = found;
  if (only !== undefined && (found.length === 1 || only.id === name)) return only;
  const problem = only === undefined ? 'no run is called' : 'more than one run is called';
  const ids = runs.map(({ id }) => id);
  throw new UsageError(`${problem} ${JSON.stringify(name)}`, { remedy: didYouMean(name, ids) });
}

function headOf({ id, startedAt, exitCode }: PastRun): string {
  return `${id} (${instant(startedAt)}, exit code ${exitCode})`;
}

function lineOf({ service, environment, check, operation, before, after }: Difference): string {
  const name = environment === null ? service : `${service} (${environment})`;
  const of = operation === undefined ? '' : ` for ${operation}`;
  return `${name}: ${check}${of}: ${before} → ${after}`;
}
