import { expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { renderJunit } from '../../report/formats/junit.ts';
import { renderMarkdown } from '../../report/formats/markdown.ts';
import { FILES, sevenNights } from '../../report/memory/fixtures/seven-nights.ts';
import type { Results } from '../../report/results/results.ts';
import { type VerdictTextOptions, verdictText } from '../../report/terminal/terminal.ts';
import { annotationsOf } from './annotations.ts';

const TERMINAL: VerdictTextOptions = { color: false, width: 100, verbosity: 'normal' };

const isBlocked = (each: string) => each.includes('<skipped message="blocked: ');

/** The cases of JUnit that are not green, each without its evidence, and those of the run. */
function saidBy(junit: string): string {
  const [, ...cases] = junit
    .replace(/ *<\/?(?:testsuites?|properties|property)\b.*\n/g, '')
    .split(/(?=^ *<testcase )/m);
  const told = cases.filter((each) => /<(?:failure|error|skipped)|classname="\w+\.run"/.test(each));
  const blocked = told.filter(isBlocked);
  const more = blocked.length === 0 ? [] : [`    ${blocked.length} times:\n${blocked[0]}`];
  return [...told.filter((each) => !isBlocked(each)), ...more]
    .map((each) => each.replace(/\n\n(?=repeat it:|e\d).*/s, '\n…\n'))
    .join('');
}

/** Without what the service was observed to do. */
function inShort(summary: string): string {
  return summary.replace(/\n### Observed\n.*/s, '');
}

/** Without figures that differ from one machine, or one catalogue of checks, to the next. */
function lasting(text: string): string {
  return text
    .replace(/\b\d+(?= (?:passed|blocked|single|requests?|times|checks? (?:\(|judged)|checks?[,)]))/g, '…')
    .replace(/^[Bb]ecause (?:of )?.*$/gm, 'because …')
    .replace(/^\| orders \|.*$/gm, (row) => row.replace(/\b\d{2,}\b/g, '…'))
    .replace(/\b[\d.]+ m?s\b/g, '… s')
    .replace(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, '… GMT')
    .replace(/ (?:time|timestamp)="[^"]*"/g, '')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080');
}

async function told(all: Results, configDir: string): Promise<string> {
  const annotations = await annotationsOf(all, { configDir, repository: configDir });
  // As paths stand in a repository: a longer one is laid out in other lines.
  const results: Results = JSON.parse(JSON.stringify(all).replaceAll(`${configDir}/`, ''));
  const parts = [
    ['terminal', verdictText(results, TERMINAL)],
    ['--quiet', verdictText(results, { ...TERMINAL, verbosity: 'quiet' })],
    ['summary.md', inShort(renderMarkdown(results))],
    ['JUnit', saidBy(renderJunit(results).merged)],
    [
      'annotations',
      annotations
        .map(
          ({ level, file, line, title, message }) => `${level} ${file}:${line}\n  ${title}\n  ${message}\n`,
        )
        .join(''),
    ],
  ];
  return parts.map(([name, text]) => `---- ${name}\n${text}`).join('\n');
}

it('says in every report what is new in each of seven nights', async () => {
  const folder = temporaryFolder(FILES);
  let said = '';
  for await (const { day, shows, results } of sevenNights(folder)) {
    said += `======== ${day}: ${shows}\n\n${lasting(await told(results, folder))}\n`;
  }
  await expect(said.replaceAll(`${folder}/`, '')).toMatchFileSnapshot('fixtures/seven-nights.txt');
});
