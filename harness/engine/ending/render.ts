import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HarnessError } from '../../base/exit.ts';
import { codeOf, reasonOf } from '../../base/thrown.ts';
import { withCauses } from '../../report/diagnosis/causes.ts';
import { withDrift } from '../../report/memory/drift.ts';
import { pastRun, withHistory } from '../../report/memory/history.ts';
import { readHistory, remember } from '../../report/memory/history-file.ts';
import { withKnown } from '../../report/memory/known.ts';
import { type FoldContext, foldEvents, withFault } from '../../report/results/fold/fold.ts';
import type { Results } from '../../report/results/results.ts';
import { plainLine } from '../../report/results/words/plain.ts';
import { openRunFolder, type RunFolder, type WrittenReports, writeReports } from '../../report/write.ts';
import type { Journal } from '../../wire/record/journal.ts';
import type { RunRequest } from '../request.ts';

export interface RenderedRun {
  readonly results: Results;
  /** null when they could not be written anywhere. That they are not where they should be is a fault of the results. */
  readonly reports: WrittenReports | null;
}

/** A run whose journal is open. */
interface RunUnderWay {
  readonly run: FoldContext['run'];
  readonly folder: RunFolder;
  readonly journal: Journal;
  /** What providers have written, by service. */
  readonly logs: ReadonlyMap<string, string>;
  readonly choices: RunRequest['reportChoices'];
  readonly progress: RunRequest['progress'];
}

/**
 * From the journal to the reports, whatever became of the folder of the run meanwhile. Where nothing can be written to
 * it any more, the reports go to a new folder for temporary files.
 */
export function renderRun(rendered: RunUnderWay, interruption: string | null): RenderedRun {
  const { run, folder, journal, progress } = rendered;
  const inVain = orFault(() => {
    const befell = journal.restore();
    if (befell !== null) journal.append({ type: 'remark', text: befell });
    return null;
  });
  const judged = withDrift(withKnown(foldedFrom(journal, run, interruption)));
  const { runs, notes } = readHistory(folder.reportsDir);
  const results = withHistory(withCauses(judged), runs, notes);
  const written = inVain ?? orFault(() => write(results, folder, rendered));
  if ('fault' in written) return rescued(results, written.fault, rendered);
  const unwritten = remember(folder.reportsDir, pastRun(results));
  if (unwritten !== null) progress.say(`conform: ${plainLine(unwritten)}`);
  return { results, reports: written };
}

/** Of the entries, which are many, only what the results take over lies in memory from then on. */
function foldedFrom(journal: Journal, run: FoldContext['run'], interruption: string | null): Results {
  const { entries, badLines } = journal.read();
  return foldEvents(entries, { run, badLines, finishedAt: new Date().toISOString(), interruption });
}

function rescued(results: Results, fault: string, rendered: RunUnderWay): RenderedRun {
  const reports = orFault(() => {
    const folder = openRunFolder(mkdtempSync(join(tmpdir(), 'conform-')), rendered.run);
    rendered.journal.moveTo(folder.journalPath);
    const told = withFault(results, `${fault}; the reports are in ${folder.reportsDir}`);
    return { results: told, reports: write(told, folder, rendered) };
  });
  return 'fault' in reports ? { results: withFault(results, fault), reports: null } : reports;
}

function write(results: Results, folder: RunFolder, { logs, choices }: RunUnderWay): WrittenReports {
  return writeReports(results, { ...folder, logs, ...(choices && { choices }) });
}

function orFault<T>(act: () => T): T | { readonly fault: string } {
  try {
    return act();
  } catch (error) {
    // What the system refuses has a code; anything else is a mistake of ours.
    if (error instanceof HarnessError || codeOf(error) !== null) return { fault: reasonOf(error) };
    throw error;
  }
}
