import { FAULT_WORDS } from '../../base/finding.ts';
import {
  type CauseEntry,
  causeEntries,
  checksByService,
  faultInWords,
  firstOf,
  wrongInBrief,
} from '../results/causes.ts';
import type { Results } from '../results/results.ts';
import {
  BY_OUTAGE,
  counted,
  type JudgedCheck,
  judgedWith,
  judgedWords,
  notRun,
  suitesOf,
} from '../results/tally.ts';
import { ageInWords, newsInWords } from '../results/words/news.ts';
import { cut, plainCommand, plainLine } from '../results/words/plain.ts';
import { groundInWords, valueInWords } from '../results/words/words.ts';
import { type Block, heading, indented, nameOf, type Page } from './layout.ts';

const SIGNS = { fail: '✕', warning: '△', blocked: '⊘', error: '!' } as const;
const IDS_SHOWN = 2;
/** Columns between a finding and its age. */
const BEFORE_AGE = 3;
/** UTF-16 units of a command line beyond which it is left to the reports. */
const REPEAT_CAP = 400;

/** The causes and the findings without one; all findings if causes were not looked for. */
export function entriesOf(results: Results): readonly CauseEntry[] {
  if (results.causes !== undefined) return causeEntries(results);
  const unexplained = judgedWith(results, 'fail', 'warning').map(({ service, check }) => ({
    service: service.service,
    check: check.id,
  }));
  return causeEntries({ ...results, causes: [], unexplained });
}

/** Causes with the findings of each, findings without a cause, and checks that could not be judged. */
export function wrong(page: Page): Block {
  const { results } = page;
  const entries = entriesOf(results).map((found) => ({ found, age: ageInWords(found.findings, results) }));
  const ageWidth = Math.max(0, ...entries.map(({ age }) => (age === '' ? 0 : age.length + BEFORE_AGE)));
  const errors = judgedWith(results, 'error');
  const found = new Set(judgedWith(results, 'fail', 'warning').map(({ check }) => check.id));
  // A check that rests on a finding is part of it, and checks blocked by an outage are reported with the outage.
  const blocked = notRun(results).filter(
    ({ outcome, reason }) =>
      outcome === 'blocked' && reason !== BY_OUTAGE && !found.has(reason.split(' ', 1)[0] ?? ''),
  );
  const lines = [
    ...errors.flatMap(({ service, check }) =>
      entry(page, 'error', 1, `${check.id}: ${check.message}`).concat(`       ${nameOf(service)}`),
    ),
    ...entries.flatMap(({ found, age }) => causeLines(page, found, age.padStart(ageWidth))),
    ...blocked.flatMap(({ reason, judged }) => entry(page, 'blocked', judged.length, reason)),
  ];
  if (lines.length === 0) return [];
  const title =
    wrongInBrief(results) ||
    (errors.length > 0 ? counted(errors.length, 'harness error') : 'not all could be judged');
  return [heading(page, `What is wrong: ${title}`), ...lines];
}

/** A line with a sign and how many checks it is about; `age` stands at its right, with its padding. */
function entry(page: Page, kind: keyof typeof SIGNS, n: number, text: string, age = ''): Block {
  const { ink, width } = page;
  const sign = `${SIGNS[kind]} ${n}`;
  const room = width - age.length;
  const [first = '', ...rest] = indented({ ...page, width: room }, text, `  ${sign}  `);
  const aged = age.trim() === '' ? first : `${first.padEnd(room)}${ink.dim(age)}`;
  return [aged.replace(sign, () => ink.outcome(kind, sign)), ...rest];
}

function causeLines(page: Page, found: CauseEntry, age: string): Block {
  const { ink, verbosity } = page;
  const { sentence, cause, findings, outcome } = found;
  const margin = ' '.repeat(7);
  const [leading] = findings;
  const repeat = plainCommand(leading?.check.reproduce ?? '');
  const change = leading?.check.change;
  const side = faultInWords(findings.map(({ check }) => check));
  return [
    ...entry(page, outcome, findings.length, sentence, age),
    ...(cause?.alternatives ?? []).flatMap((other) => indented(page, other, `${margin}or      `)),
    ...checksByService(found).map(([service, ids]) => {
      const some = cut(plainLine(firstOf(ids, IDS_SHOWN)), page.width - margin.length);
      return ink.dim(`${margin}${plainLine(service)}  ${some}`);
    }),
    // The sentence of the verdict names the service.
    ...(side === null || side === FAULT_WORDS.service ? [] : [`${margin}fault   of ${side}`]),
    ...(change === undefined ? [] : indented(page, change, `${margin}change  `)),
    // A command line is not wrapped: it is to be copied.
    ...(repeat === '' || repeat.length > REPEAT_CAP ? [] : [`${margin}${ink.dim('repeat')}  ${repeat}`]),
    ...(cause === null || verbosity !== 'verbose'
      ? []
      : [`${margin}${ink.dim('compare')} ${plainLine(cause.command)}`]),
  ];
}

/** What differs from the runs before, and what of the history is lost. New findings are marked where they stand. */
export function sinceBefore(page: Page): Block {
  const news = newsInWords(page.results, { isMarked: true });
  return [
    ...news.flatMap((line) => indented(page, line, '', '  ')),
    ...(page.results.history?.notes ?? []).flatMap((note) => indented(page, note, 'note: ', '      ')),
  ];
}

/** What a verbose verdict adds: every check, each finding in full, what did not run by its reason, every observation. */
export function inFull(page: Page): readonly Block[] {
  const { results } = page;
  return [
    ...everyCheck(page),
    ...judgments(page, 'Harness errors', judgedWith(results, 'error')),
    ...judgments(page, 'Failures', judgedWith(results, 'fail')),
    ...judgments(page, 'Warnings', judgedWith(results, 'warning')),
    ...didNotRun(page),
    ...observations(page),
  ];
}

function everyCheck(page: Page): readonly Block[] {
  const { results, ink } = page;
  return results.services.flatMap((service) =>
    suitesOf(results).flatMap((suite): readonly Block[] => {
      const checks = service.checks.filter((check) => check.suite === suite);
      if (checks.length === 0) return [];
      const lines = checks.flatMap((check) => {
        const { outcome, id, title, headline } = check;
        const judged = judgedWords(check);
        const label = outcome.padEnd(8);
        const [first = '', ...more] = indented(
          page,
          `${id} · ${headline ?? title}${judged && ` (${judged})`}`,
          `  ${label}  `,
        );
        return [first.replace(label, ink.outcome(outcome, label)), ...more];
      });
      return [[heading(page, `${nameOf(service)} · ${plainLine(suite)}`), ...lines]];
    }),
  );
}

/** The expectation and the result, why it is demanded, how to see it again. */
function judgments(page: Page, title: string, judged: readonly JudgedCheck[]): readonly Block[] {
  if (judged.length === 0) return [];
  const { ink } = page;
  const blocks = judged.map(({ service, check }): Block => {
    const side = faultInWords([check]);
    const level = check.level === 'NONE' ? '' : ink.dim(`  ${check.level}`);
    return [
      `  ${ink.outcome(check.outcome, check.outcome)}  ${ink.bold(plainLine(check.id))}  ${nameOf(service)}${level}`,
      ...indented(page, check.headline ?? check.title, '    '),
      ...indented(page, check.message || 'no message', '    → ', '      '),
      ...check.grounds.flatMap((ground) =>
        indented(page, groundInWords(ground), '    because ', '            ').map(ink.dim),
      ),
      ...(side === null ? [] : [`    fault   of ${side}`]),
      ...(check.change === undefined ? [] : indented(page, check.change, '    change  ')),
      // A command line is not wrapped: it is to be copied.
      ...(check.reproduce === null ? [] : [`    ${ink.dim('repeat')}  ${plainCommand(check.reproduce)}`]),
    ];
  });
  const [first = [], ...rest] = blocks;
  return [[heading(page, `${title} (${judged.length})`), ...first], ...rest];
}

function didNotRun(page: Page): readonly Block[] {
  const { results, ink } = page;
  const groups = notRun(results);
  if (groups.length === 0) return [];
  const lines = groups.flatMap(({ outcome, reason, judged }) => {
    const where = [...Map.groupBy(judged, ({ service }) => nameOf(service))].map(
      ([name, of]) => `${name} ${of.length}`,
    );
    const label = `${outcome} ${String(judged.length).padStart(3)}`;
    const [first = '', ...more] = indented(page, `${reason} (${where.join(', ')})`, `  ${label}  `);
    const ids = judged.map(({ check }) => `      ${plainLine(check.id)}`);
    return [first.replace(label, ink.outcome(outcome, label)), ...more, ...ids];
  });
  return [[heading(page, 'Did not run'), ...lines]];
}

function observations(page: Page): readonly Block[] {
  const all = page.results.services.flatMap((service) =>
    service.observations.map((seen) => ({ service, seen })),
  );
  if (all.length === 0) return [];
  const lines = all.flatMap(({ service, seen }) =>
    indented(page, `${nameOf(service)} · ${seen.key} = ${valueInWords(seen.value)}`, '  ', '      '),
  );
  return [[heading(page, counted(all.length, 'observation')), ...lines]];
}
