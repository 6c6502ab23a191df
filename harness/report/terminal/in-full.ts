import { counted, type JudgedCheck, judgedWith, judgedWords, notRun, suitesOf } from '../results/tally.ts';
import { plainCommand, plainLine } from '../results/words/plain.ts';
import { groundInWords, valueInWords } from '../results/words/words.ts';
import { type Block, heading, indented, nameOf, type Page } from './layout.ts';

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

/** What was expected and what came, why it is demanded, how to see it again. */
function judgments(page: Page, title: string, judged: readonly JudgedCheck[]): readonly Block[] {
  if (judged.length === 0) return [];
  const { ink } = page;
  const blocks = judged.map(({ service, check }): Block => {
    const level = check.level === 'NONE' ? '' : ink.dim(`  ${check.level}`);
    return [
      `  ${ink.outcome(check.outcome, check.outcome)}  ${ink.bold(plainLine(check.id))}  ${nameOf(service)}${level}`,
      ...indented(page, check.headline ?? check.title, '    '),
      ...indented(page, check.message || 'no message', '    → ', '      '),
      ...check.grounds.flatMap((ground) =>
        indented(page, groundInWords(ground), '    because ', '            ').map(ink.dim),
      ),
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
