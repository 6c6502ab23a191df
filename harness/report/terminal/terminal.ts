import { causesHeadline, checksByService, firstOf, type Told, toldIn } from '../results/causes.ts';
import { cut, plainLine } from '../results/plain.ts';
import type { Results, ServiceResult } from '../results/results.ts';
import { serviceVerdict, verdictOf } from '../results/run-verdict.ts';
import { counted, type Judged, judgedWith, notRun, suitesOf, tallyOf, tallyWords } from '../results/tally.ts';
import {
  duration,
  groundInWords,
  HEADLINES,
  requestsInWords,
  serviceVerdictInWords,
  valueInWords,
  verdictSentence,
  wallTime,
} from '../results/words.ts';
import { type Ink, inkOf } from './ink.ts';

/** `quiet`: the verdict and what failed, a line each. `verbose`: every check and every observation too. */
type Verbosity = 'quiet' | 'normal' | 'verbose';

export interface VerdictTextOptions {
  readonly color: boolean;
  /** Columns of the terminal; text is laid out for at most 100 and at least 70. */
  readonly width: number;
  readonly verbosity: Verbosity;
  /** Where the reports are, for the last line; null when none were written. */
  readonly reportsAt?: string | null;
}

interface Page {
  readonly results: Results;
  readonly ink: Ink;
  readonly width: number;
  readonly verbosity: Verbosity;
}

/** UTF-16 units of a message that a terminal shows; the reports have it whole. */
const MESSAGE_CAP = 600;

/** A block of lines; an empty one is left out together with its heading. */
type Block = readonly string[];

/** The verdict for stdout, ending in a line feed. */
export function verdictText(results: Results, options: VerdictTextOptions): string {
  const width = Math.min(100, Math.max(70, options.width));
  const page: Page = { results, ink: inkOf(options.color), width, verbosity: options.verbosity };
  const reports: Block = options.reportsAt
    ? [`${page.ink.dim('Reports')}  ${plainLine(options.reportsAt)}`]
    : [];
  const blocks: readonly Block[] =
    options.verbosity === 'quiet'
      ? [[...headlineOf(page), ...failedInBrief(page), ...faults(page), ...conclusion(page), ...reports]]
      : [
          services(page),
          ...(options.verbosity === 'verbose' ? everyCheck(page) : []),
          wrong(page),
          ...judgments(page, 'Harness errors', judgedWith(results, 'error')),
          ...judgments(page, 'Failures', inFull(page, 'fail')),
          ...judgments(page, 'Warnings', inFull(page, 'warning')),
          ...didNotRun(page),
          ...observations(page),
          faults(page),
          [...conclusion(page), ...reports],
        ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
}

function heading({ ink }: Page, text: string): string {
  return ink.bold(text);
}

function indented({ width }: Page, text: string, first: string, next = ' '.repeat(first.length)): Block {
  return wrap(plainLine(text, 2_000), width - next.length).map(
    (line, index) => (index === 0 ? first : next) + line,
  );
}

function nameOf({ service, environment }: ServiceResult): string {
  return plainLine(environment === null ? service : `${service} (${environment})`);
}

function services(page: Page): Block {
  const { results, ink } = page;
  const names = results.services.map(nameOf);
  const widest = Math.max(0, ...names.map((name) => name.length));
  return results.services.flatMap((service, index) => {
    const verdict = serviceVerdict(service, results.run);
    const name = (names[index] ?? '').padEnd(widest);
    const facts = `${requestsInWords([service])}, ${duration(service.durationMs)}`;
    const words = ink.verdict(verdict.word, serviceVerdictInWords(verdict));
    const cause = verdict.word === 'inconclusive' ? causeOf(service) : null;
    const why = cause === null ? '' : `: ${plainLine(cause, 300)}`;
    return [
      `${ink.bold(name)}  ${words}${why}`,
      ...tallyLines(page, service),
      `  ${ink.dim(facts)}`,
      ...(service.remarks ?? []).flatMap((remark) => indented(page, remark, '  note: ', '    ')),
    ];
  });
}

/** Why nothing can be said of a service, where it is one thing. */
function causeOf({ trouble, checks }: ServiceResult): string | null {
  const blocked = checks.filter(({ outcome, level }) => outcome === 'blocked' && level === 'MUST');
  const [cause, ...others] = new Set(trouble === null ? blocked.map(({ message }) => message) : [trouble]);
  return cause === undefined || others.length > 0 ? null : cause;
}

/** The counts, broken between two of them where the line is full. */
function tallyLines({ ink, width }: Page, { checks }: ServiceResult): Block {
  const parts = tallyWords(tallyOf(checks));
  if (parts.length === 0) return ['  no checks'];
  // Wrapped while it is plain; coloured line by line, so that no escape sequence is counted as width.
  const plain = parts.map(({ words }) => words.replaceAll(' ', '\u00a0')).join(', ');
  return wrap(plain, width - 2).map((line) =>
    parts.reduce(
      (painted, { outcome, words }) =>
        painted.replace(words.replaceAll(' ', '\u00a0'), () => ink.outcome(outcome, words)),
      `  ${line}`,
    ),
  );
}

const SIGNS = { fail: '✕', warning: '△' } as const;
const IDS_SHOWN = 3;
/** UTF-16 units: what no cause explains is told in full below. */
const SENTENCE_CAP = 200;
/** UTF-16 units of a command line beyond which it is left to the reports. */
const REPEAT_CAP = 400;

/** What is wrong: causes with what each explains, and the findings that none explains. */
function wrong(page: Page): Block {
  const told = toldIn(page.results);
  const headline = causesHeadline(page.results);
  if (headline === null) return [];
  const widest = Math.max(...told.map(({ findings }) => String(findings.length).length));
  return [
    heading(page, `What is wrong: ${headline}`),
    ...told.flatMap((each) => causeLines(page, each, widest)),
  ];
}

function causeLines(page: Page, told: Told, widest: number): Block {
  const { ink } = page;
  const { sentence, cause, findings, outcome } = told;
  const sign = `${SIGNS[outcome]} ${String(findings.length).padStart(widest)}`;
  const margin = ' '.repeat(sign.length + 4);
  const [first = '', ...rest] = indented(page, cut(sentence, SENTENCE_CAP), `  ${sign}  `);
  const repeat = findings[0]?.check.reproduce ?? null;
  return [
    first.replace(sign, () => ink.outcome(outcome, sign)),
    ...rest,
    ...(cause?.alternatives ?? []).flatMap((other) => indented(page, other, `${margin}or  `)),
    ...checksByService(told).flatMap(([service, ids]) =>
      indented(page, firstOf(ids, IDS_SHOWN), `${margin}${plainLine(service)}  `).map(ink.dim),
    ),
    ...(repeat === null || plainLine(repeat).length > REPEAT_CAP
      ? []
      : [`${margin}${ink.dim('repeat')}   ${plainLine(repeat)}`]),
    ...(cause === null ? [] : [`${margin}${ink.dim('compare')}  ${plainLine(cause.command)}`]),
  ];
}

function headlineOf(page: Page): Block {
  const headline = causesHeadline(page.results);
  return headline === null ? [] : indented(page, headline, '', '  ');
}

/** Those that are told with everything: where a cause explains a finding, the cause is told in its place. */
function inFull({ results, verbosity }: Page, outcome: 'fail' | 'warning'): readonly Judged[] {
  const explained = new Set(
    toldIn(results).flatMap(({ cause, findings }) =>
      cause === null ? [] : findings.map(({ check }) => check),
    ),
  );
  const judged = judgedWith(results, outcome);
  return verbosity === 'verbose' ? judged : judged.filter(({ check }) => !explained.has(check));
}

/** Each failure in full: what was expected and what came, why it is demanded, how to see it again. */
function judgments(page: Page, title: string, judged: readonly Judged[]): readonly Block[] {
  if (judged.length === 0) return [];
  const { ink } = page;
  const blocks = judged.map(({ service, check }): Block => {
    const level = check.level === 'NONE' ? '' : ink.dim(`  ${check.level}`);
    return [
      `  ${ink.outcome(check.outcome, check.outcome)}  ${ink.bold(plainLine(check.id))}  ${nameOf(service)}${level}`,
      ...indented(page, check.title, '    '),
      ...indented(page, cut(check.message, MESSAGE_CAP) || 'no message', '    → ', '      '),
      ...check.grounds.flatMap((ground) =>
        indented(page, groundInWords(ground), '    because ', '            ').map(ink.dim),
      ),
      // A command line is not wrapped: it is to be copied.
      ...(check.reproduce === null ? [] : [`    ${ink.dim('repeat')}  ${plainLine(check.reproduce)}`]),
    ];
  });
  const [first = [], ...rest] = blocks;
  return [[heading(page, `${title} (${judged.length})`), ...first], ...rest];
}

function failedInBrief(page: Page): Block {
  return judgedWith(page.results, 'error', 'fail').flatMap(({ service, check }) =>
    indented(page, `${check.outcome} ${nameOf(service)} ${check.id}: ${check.message}`, '', '  '),
  );
}

function didNotRun(page: Page): readonly Block[] {
  const { results, ink, verbosity } = page;
  const groups = notRun(results);
  if (groups.length === 0) return [];
  const lines = groups.flatMap(({ outcome, reason, judged }) => {
    const where = [...Map.groupBy(judged, ({ service }) => nameOf(service))].map(
      ([name, of]) => `${name} ${of.length}`,
    );
    const head = `${reason} (${where.join(', ')})`;
    const ids = verbosity === 'verbose' ? judged.map(({ check }) => `      ${plainLine(check.id)}`) : [];
    const label = `${outcome} ${String(judged.length).padStart(3)}`;
    const [first = '', ...more] = indented(page, head, `  ${label}  `);
    return [first.replace(label, ink.outcome(outcome, label)), ...more, ...ids];
  });
  return [[heading(page, 'Did not run'), ...lines]];
}

function observations(page: Page): readonly Block[] {
  const { results, verbosity } = page;
  const all = results.services.flatMap((service) => service.observations.map((seen) => ({ service, seen })));
  if (all.length === 0) return [];
  if (verbosity !== 'verbose')
    return [[`${heading(page, 'Observed')}  ${counted(all.length, 'fact')} that the documents leave open`]];
  const lines = all.flatMap(({ service, seen }) =>
    indented(page, `${nameOf(service)} · ${seen.key} = ${valueInWords(seen.value)}`, '  ', '      '),
  );
  return [[heading(page, `Observed (${all.length})`), ...lines]];
}

function everyCheck(page: Page): readonly Block[] {
  const { results, ink } = page;
  return results.services.flatMap((service) =>
    suitesOf(results).flatMap((suite): readonly Block[] => {
      const checks = service.checks.filter((check) => check.suite === suite);
      if (checks.length === 0) return [];
      const lines = checks.flatMap(({ outcome, id, title }) => {
        const label = outcome.padEnd(8);
        const [first = '', ...more] = indented(page, `${id} · ${title}`, `  ${label}  `);
        return [first.replace(label, ink.outcome(outcome, label)), ...more];
      });
      return [[heading(page, `${nameOf(service)} · ${plainLine(suite)}`), ...lines]];
    }),
  );
}

function faults(page: Page): Block {
  const { faults: found } = page.results.run;
  if (found.length === 0) return [];
  return [
    heading(page, `Faults of the harness (${found.length})`),
    ...found.flatMap((fault) => indented(page, fault, '  ')),
  ];
}

function conclusion(page: Page): Block {
  const { results, ink } = page;
  const verdict = verdictOf(results);
  const facts = `${duration(wallTime(results.run))}, exit code ${verdict.exitCode}`;
  return [
    `${ink.verdict(verdict.word, HEADLINES[verdict.word])}  ${ink.dim(facts)}`,
    ...indented(page, verdictSentence(verdict, results), ''),
  ];
}

/** Breaks a line at blanks so that none is longer than `width` columns; a longer word stands alone. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
