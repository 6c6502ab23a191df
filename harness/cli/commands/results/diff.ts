import { EXIT, UsageError } from '../../../base/exit.ts';
import { didYouMean } from '../../../config/yaml/nearest.ts';
import { type Difference, differences, type PastRun } from '../../../report/memory/history.ts';
import { readHistory } from '../../../report/memory/history-file.ts';
import { counted } from '../../../report/results/tally.ts';
import { plainLine } from '../../../report/results/words/plain.ts';
import { instant } from '../../../report/results/words/words.ts';

/** `conform diff`: what two runs say differently; the last two when none is named, the last beside the one named. */
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
      ? 'Nothing that both runs judged has changed.'
      : `${counted(found.length, 'check')} changed, of those that both runs judged.`,
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

function lineOf({ service, environment, check, before, after }: Difference): string {
  const name = environment === null ? service : `${service} (${environment})`;
  return `${name}: ${check}: ${before} → ${after}`;
}
