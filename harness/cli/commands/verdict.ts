import { join } from 'node:path';
import type { Results } from '../../report/results/results.ts';
import { verdictText } from '../../report/terminal/terminal.ts';
import type { WrittenReports } from '../../report/write.ts';
import { terminalOf } from '../process.ts';

/** How much the command prints. */
export interface Loudness {
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly again?: string;
}

/** Prints the verdict of a run and the place of its reports to stdout. */
export function printVerdict(
  results: Results,
  reports: WrittenReports | null,
  { quiet, verbose, again }: Loudness = {},
): void {
  const text = verdictText(results, {
    color: terminalOf(process.stdout).color,
    width: process.stdout.columns || 80,
    verbosity: quiet ? 'quiet' : verbose ? 'verbose' : 'normal',
    ...(again === undefined ? {} : { again }),
    reportsAt: reports && join(reports.latestDir, reports.files.includes('index.html') ? 'index.html' : ''),
  });
  process.stdout.write(text);
}
