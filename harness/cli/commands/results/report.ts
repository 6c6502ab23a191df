import { HarnessError, UsageError } from '../../../base/exit.ts';
import { didYouMean } from '../../../config/yaml/nearest.ts';
import { withCauses } from '../../../report/diagnosis/causes.ts';
import type { JunitWarnings, ReportFormat } from '../../../report/format.ts';
import { REPORT_FORMATS } from '../../../report/formats.ts';
import { withDrift } from '../../../report/memory/accepted.ts';
import { withKnown } from '../../../report/memory/known.ts';
import { readEvent } from '../../../report/results/fold/events.ts';
import { foldEvents } from '../../../report/results/fold/fold.ts';
import { readResults } from '../../../report/results/read-results.ts';
import type { Results } from '../../../report/results/results.ts';
import { plainLine } from '../../../report/results/words/plain.ts';
import { reportsFolderOf, writeReports } from '../../../report/write.ts';
import { type JournalContent, readJournal } from '../../../wire/record/journal.ts';
import { HARNESS } from '../../process.ts';

/** `conform report`: renders a finished run's results again, or what the journal of a killed run has saved. */
export async function report(
  input: string,
  options: { readonly format?: string; readonly reports?: string; readonly junitWarnings?: JunitWarnings },
): Promise<number> {
  const isJournal = input.endsWith('.ndjson');
  const results = withCauses(resultsFrom(input));
  const written = writeReports(results, {
    reportsDir: options.reports ?? reportsFolderOf(input) ?? 'reports',
    ...(options.format === undefined ? {} : { formats: formatsOf(options.format) }),
    ...(options.junitWarnings && { choices: { junitWarnings: options.junitWarnings } }),
    journalPath: isJournal ? input : null,
  });
  process.stdout.write(`${written.files.map((file) => plainLine(`${written.runDir}/${file}`)).join('\n')}\n`);
  return results.run.exitCode;
}

/** The results in a `results.json`, or those that a journal amounts to. @throws UsageError when it is neither. */
export function resultsFrom(path: string): Results {
  return path.endsWith('.ndjson') ? withDrift(withKnown(fromJournal(path))) : readResults(path);
}

/** @throws UsageError when it is no journal, or none that can be read. */
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

/** Of the formats that `--format` names, with commas between. */
function formatsOf(text: string): readonly ReportFormat[] {
  return text.split(',').map((each) => {
    const wanted = each.trim();
    const format = REPORT_FORMATS.find(({ name }) => name === wanted);
    if (format !== undefined) return format;
    throw new UsageError(`no report format is called ${JSON.stringify(wanted)}`, {
      remedy: didYouMean(
        wanted,
        REPORT_FORMATS.map(({ name }) => name),
      ),
    });
  });
}
