import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from '../base/exit.ts';
import { DEFAULT_CHOICES, type ReportChoices, type ReportFormat, type ReportText } from './format.ts';
import { REPORT_FORMATS } from './formats.ts';
import { readRunId } from './results/read-results.ts';
import type { Results, RunResult } from './results/results.ts';
import { isWhole } from './results/run-verdict.ts';
import {
  copyWhole,
  ensureFolder,
  fileNames,
  isFolder,
  keepNewest,
  listFiles,
  oneAtATime,
  removeFile,
  writeWhole,
  writtenAt,
} from './whole-file.ts';

/** The folder of one run, made before the run so that the journal can be written there as outcomes fall. */
export interface RunFolder {
  readonly reportsDir: string;
  /** `reportsDir/2026-11-21T06-38-14Z-RUNID`. */
  readonly runDir: string;
  readonly journalPath: string;
}

export interface WriteOptions {
  readonly reportsDir: string;
  readonly formats?: readonly ReportFormat[];
  readonly choices?: ReportChoices;
  /** The run's journal, copied beside the reports; null when there is none. */
  readonly journalPath: string | null;
  /** What providers have written, by service; secrets taken out. */
  readonly logs?: ReadonlyMap<string, string>;
  /** Folders of earlier runs that are kept, this run's included; older ones are removed. */
  readonly keepRuns?: number;
}

export interface WrittenReports {
  readonly runDir: string;
  /** A real folder, `latest` or `selection`, always with the reports of the run written last. */
  readonly latestDir: string;
  /** Names of the files written, relative to either folder, e.g. `junit/search.xml`. */
  readonly files: readonly string[];
  /** What did not work but does not matter to the reports: an old folder that could not be removed. */
  readonly notes: readonly string[];
}

const LATEST = 'latest';
/** The same of the last run that left checks or operations out, which does not take the place of a whole run. */
const SELECTION = 'selection';
const KEEP_RUNS = 20;
const RUN_FOLDER = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z-[A-Za-z0-9._-]+$/;
/** No wait within a run is longer; a run that was killed keeps its journal at least as long. */
const AT_WORK_MS = 24 * 60 * 60_000;
const JOURNAL = 'journal.ndjson';
/** Everything that the formats may have left in a folder; `SERVICE` stands for the file names of services. */
const REPORT_FILES = REPORT_FORMATS.flatMap(({ files }) => files.map(({ path }) => path));
const LOGS = 'logs/SERVICE.log';

/** The folder of all reports that a file of one run lies in; null when it lies anywhere else. */
export function reportsFolderOf(path: string): string | null {
  const folder = dirname(resolve(path));
  const isOfRun = [LATEST, SELECTION].includes(basename(folder)) || RUN_FOLDER.test(basename(folder));
  return isOfRun ? dirname(folder) : null;
}

/** The folder with the reports of the run written last: of a whole run, or of a selection. */
export function newestReports(reportsDir: string): string {
  const written = (name: string) => writtenAt(join(reportsDir, name, 'results.json')) ?? 0;
  return join(reportsDir, written(SELECTION) > written(LATEST) ? SELECTION : LATEST);
}

/** Makes the folder of a run. Throws HarnessError, naming the path, when it, or `latest`, cannot be a folder. */
export function openRunFolder(reportsDir: string, run: Pick<RunResult, 'id' | 'startedAt'>): RunFolder {
  const runDir = join(reportsDir, runFolderName(run));
  ensureFolder(reportsDir, reportsDir);
  // An obstacle is better known before a run than after it.
  for (const name of [LATEST, SELECTION]) isFolder(join(reportsDir, name));
  ensureFolder(reportsDir, runDir);
  return { reportsDir, runDir, journalPath: join(runDir, JOURNAL) };
}

/** Synchronous, whole files only, no links followed. @throws HarnessError for a file that is not writable. */
export function writeReports(results: Results, options: WriteOptions): WrittenReports {
  const { reportsDir, journalPath } = options;
  const runDir = join(reportsDir, runFolderName(results.run));
  const latestDir = join(reportsDir, isWhole(results) ? LATEST : SELECTION);
  const logs = logFiles(options.logs);
  const complete = withLogs(results, logs);
  const files: string[] = [];
  const fill = (folder: string, name: string, put: (path: string) => void) => {
    const path = join(folder, name);
    ensureFolder(reportsDir, dirname(path));
    put(path);
  };
  const add = (name: string, put: (path: string) => void) => {
    fill(runDir, name, put);
    files.push(name);
  };
  // One after the other: those of many services would not lie in memory together.
  for (const format of options.formats ?? REPORT_FORMATS) {
    for (const [name, content] of render(complete, format, options.choices ?? DEFAULT_CHOICES))
      add(name, (path) => writeWhole(path, content));
  }
  for (const { name, text } of logs.values()) add(name, (path) => writeWhole(path, text));
  if (journalPath !== null) add(JOURNAL, (path) => copyWhole(journalPath, path));
  // Runs that end together take turns, so that what lies in `latest` is of one run.
  oneAtATime(reportsDir, () => {
    ensureFolder(reportsDir, latestDir);
    if (!holdsReportsOf(results.run, latestDir)) removeStale(latestDir, files);
    for (const name of files) fill(latestDir, name, (path) => copyWhole(join(runDir, name), path));
  });
  const isSpared = (name: string) =>
    name === runFolderName(results.run) || mayBeAtWork(join(reportsDir, name));
  const notes = keepNewest(reportsDir, RUN_FOLDER, Math.max(1, options.keepRuns ?? KEEP_RUNS), isSpared);
  return { runDir, latestDir, files, notes };
}

function render(
  results: Results,
  format: ReportFormat,
  choices: ReportChoices,
): readonly (readonly [path: string, content: ReportText])[] {
  return Object.entries(format.render(results, choices)).flatMap(([path, content]) => {
    if (typeof content === 'string' || typeof content === 'function') return [[path, content] as const];
    const names = fileNames([...content.keys()]);
    return [...content].map(([service, text]) => [pathFor(path, names.get(service)), text] as const);
  });
}

function pathFor(path: string, service = ''): string {
  return path.replace('SERVICE', () => service);
}

type LogFiles = ReadonlyMap<string, { readonly name: string; readonly text: string }>;

function logFiles(logs: ReadonlyMap<string, string> = new Map()): LogFiles {
  const names = fileNames([...logs.keys()]);
  const nameOf = (service: string) => pathFor(LOGS, names.get(service));
  return new Map([...logs].map(([of, text]) => [of, { name: nameOf(of), text: `${text}\n` }]));
}

/** Says of each service where lies what its provider wrote; results that were read may name files left elsewhere. */
function withLogs(results: Results, logs: LogFiles): Results {
  const services = results.services.map((service) => {
    const { log: _elsewhere, ...provider } = service.provider;
    const file = logs.get(service.service);
    return { ...service, provider: file === undefined ? provider : { ...provider, log: file.name } };
  });
  return { ...results, services };
}

/** A run beside this one: it has written to its journal of late, and no reports yet. */
function mayBeAtWork(runDir: string): boolean {
  const journaled = writtenAt(join(runDir, JOURNAL));
  const finished = REPORT_FILES.some((name) => writtenAt(join(runDir, name)) !== null);
  return !finished && journaled !== null && Date.now() - journaled < AT_WORK_MS;
}

/** The reports there are of this same run: it is rendered again, perhaps in one format only. */
function holdsReportsOf({ id }: Pick<RunResult, 'id'>, folder: string): boolean {
  try {
    return readRunId(join(folder, 'results.json')) === id;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

/** Reports of an earlier run that this one does not replace. */
function removeStale(latestDir: string, written: readonly string[]): void {
  const left = [...REPORT_FILES, LOGS, JOURNAL].flatMap((path) => {
    const [before = '', after] = basename(path).split('SERVICE');
    if (after === undefined) return [path];
    return listFiles(join(latestDir, dirname(path)))
      .filter((name) => name.startsWith(before) && name.endsWith(after))
      .map((name) => join(dirname(path), name));
  });
  for (const name of left) {
    if (!written.includes(name)) removeFile(join(latestDir, name));
  }
}

function runFolderName({ startedAt, id }: Pick<RunResult, 'id' | 'startedAt'>): string {
  const at = startedAt.slice(0, 19).replaceAll(':', '-');
  const time = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}$/.test(at) ? at : '0000-00-00T00-00-00';
  return `${time}Z-${fileNames([id]).get(id)}`;
}
