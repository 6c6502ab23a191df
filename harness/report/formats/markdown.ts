import { withShortValues } from '../../base/text.ts';
import { OUTCOMES } from '../../base/verdict.ts';
import type { ReportFormat } from '../format.ts';
import { newestFirst } from '../results/age.ts';
import {
  causeEntries,
  checksByService,
  faultInWords,
  firstOf,
  problemOf,
  wrongInBrief,
} from '../results/causes.ts';
import { constraintCoverage, constraintsInWords } from '../results/constraint-coverage.ts';
import { VALUE_CAP } from '../results/evidence/evidence-view.ts';
import { basisInWords, isExercised } from '../results/operation-coverage.ts';
import { failingOperationsInWords } from '../results/operation-outcome.ts';
import type { OperationCoverage, Results } from '../results/results.ts';
import { serviceVerdict, verdictOf } from '../results/run-verdict.ts';
import {
  counted,
  type JudgedCheck,
  notApplying,
  notLookedAtIn,
  notRun,
  servicesOf,
  tallyOf,
} from '../results/tally.ts';
import { ageInWords, newsInWords } from '../results/words/news.ts';
import { cut, plainLine, plainText } from '../results/words/plain.ts';
import {
  duration,
  groundInWords,
  instant,
  serviceVerdictInWords,
  simulatedInWords,
  VERDICTS,
  valueInWords,
  verdictSentence,
  wallTime,
} from '../results/words/words.ts';

/** Room that a summary may take, in bytes of UTF-8; CI pages cut or drop a longer one. */
export const SUMMARY_LIMIT = 60_000;

const OBSERVATIONS_PER_SERVICE = 20;

export const markdown: ReportFormat = {
  name: 'markdown',
  files: [
    {
      path: 'summary.md',
      holds: "a summary of at most 60 kB in GitHub's Markdown",
      readers: 'the page of a CI job',
    },
  ],
  render: (results) => ({ 'summary.md': renderMarkdown(results) }),
};

/** The summary of a run for a CI page, in GitHub's Markdown; at most `SUMMARY_LIMIT` bytes. */
export function renderMarkdown(results: Results): string {
  const page = new BoundedPage(SUMMARY_LIMIT);
  page.add({ blocks: [head(results)], what: 'parts' });
  page.add({ heading: 'What is wrong', blocks: wrong(results), what: 'causes', tight: true });
  const news = newsInWords(results).map((line) => `- ${prose(line)}`);
  page.add({ heading: 'Since the run before', blocks: news, what: 'changes', tight: true });
  page.add({ blocks: table(results), what: 'services', tight: true });
  page.add({ blocks: remarks(results), what: 'remarks', tight: true });
  page.add({ heading: 'Failures', blocks: failures(results), what: 'failures' });
  const warnings = newestFirst(results, 'warning').map(brief);
  page.add({ heading: 'Warnings', blocks: warnings, what: 'warnings', tight: true });
  page.add({ heading: 'Operations', blocks: operations(results), what: 'operations', tight: true });
  page.add({ heading: 'Did not run', blocks: didNotRun(results), what: 'reasons', tight: true });
  page.add({ heading: 'Observed', blocks: observed(results), what: 'services' });
  return page.text();
}

interface MarkdownSection {
  readonly heading?: string;
  readonly blocks: readonly string[];
  /** What a block holds, for the note on those left out. */
  readonly what: string;
  /** Blocks are lines of one list. */
  readonly tight?: boolean;
}

/** Takes whole blocks while there is room, and says how many it had to leave out. */
class BoundedPage {
  readonly #limit: number;
  #text = '';

  constructor(limit: number) {
    // Room for the headings and the notes on omissions.
    this.#limit = limit - 1_024;
  }

  add({ heading, blocks, what, tight = false }: MarkdownSection): void {
    if (blocks.length === 0) return;
    if (heading !== undefined) this.#text += `### ${heading}\n\n`;
    for (const [index, block] of blocks.entries()) {
      if (Buffer.byteLength(this.#text) + Buffer.byteLength(block) > this.#limit) {
        this.#text += `${tight && index > 0 ? '\n' : ''}*… ${blocks.length - index} more ${what}: see the full report.*\n\n`;
        return;
      }
      this.#text += `${block}${tight ? '\n' : '\n\n'}`;
    }
    if (tight) this.#text += '\n';
  }

  text(): string {
    return `${this.#text.trimEnd()}\n`;
  }
}

function head(results: Results): string {
  const { run } = results;
  const verdict = verdictOf(results);
  const simulated = simulatedInWords(results);
  const basis = basisInWords(results.services);
  const failing = failingOperationsInWords(results);
  const facts = [
    `run ${prose(run.id)}`,
    instant(run.startedAt),
    duration(wallTime(run)),
    ...(simulated === null ? [] : [`time: ${prose(simulated)}`]),
    `${prose(run.harness.name)} ${prose(run.harness.version)}`,
    ...(run.strict ? ['strict'] : []),
    `exit code ${verdict.exitCode}`,
    ...(basis === null ? [] : [basis]),
  ];
  const faults = run.faults.slice(0, 10).map((fault) => `- harness fault: ${prose(cut(fault, 600))}`);
  return [
    `## ${MARKS[VERDICTS[verdict.word].sign]} ${VERDICTS[verdict.word].headline}`,
    prose(verdictSentence(verdict, results)),
    ...(failing === null ? [] : [`**${prose(failing)}**`]),
    facts.join(' · '),
    ...(faults.length > 0 ? [faults.join('\n')] : []),
  ].join('\n\n');
}

const OUTCOME_MARKS = { fail: '✕', warning: '△' } as const;
const MARKS = { pass: '✅', fail: '❌', blocked: '⚠️', partial: '◐', error: '💥' } as const;

/** A table of the services, a block for each row. */
function table(results: Results): readonly string[] {
  const used = OUTCOMES.filter((outcome) => results.totals[outcome] > 0);
  const rows = results.services.map((service) => {
    const tally = tallyOf(service.checks);
    const verdict = serviceVerdict(service, results.run);
    const name = service.service + (service.environment === null ? '' : ` (${service.environment})`);
    const counts = used.map((outcome) => (tally[outcome] === 0 ? '' : String(tally[outcome])));
    return row([prose(name), serviceVerdictInWords(verdict), ...counts, String(service.requestsSent)]);
  });
  return [tableHead(['service', 'verdict', ...used, 'requests'], 2), ...rows];
}

/** The head of a table, the first columns of which are of text. */
function tableHead(columns: readonly string[], texts: number): string {
  return [row(columns), row(columns.map((_, at) => (at < texts ? ':--' : '--:')))].join('\n');
}

function remarks({ run, services }: Results): readonly string[] {
  const said = (remark: string) => prose(cut(remark, 600));
  return [
    ...(run.remarks ?? []).map((remark) => `- ${said(remark)}`),
    ...services.flatMap(({ service, remarks: of = [] }) =>
      of.map((remark) => `- ${prose(service)}: ${said(remark)}`),
    ),
  ];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** A table of the causes, a block for each row. */
function wrong(results: Results): readonly string[] {
  const entries = causeEntries(results);
  if (entries.length === 0) return [];
  const rows = entries.map((entry) => {
    const where = checksByService(entry).map(([name, ids]) => `${prose(name)}: ${prose(firstOf(ids, 5))}`);
    const change = prose(entry.findings[0]?.check.change ?? '');
    const sentence = `${OUTCOME_MARKS[entry.outcome]} ${prose(cut(entry.sentence, 300))}`;
    return row([sentence, ageInWords(entry.findings, results), where.join('; '), change]);
  });
  const head = tableHead(['finding', 'how long', 'where', 'what to change'], 4);
  return [`${prose(wrongInBrief(results))}.\n\n${head}`, ...rows];
}

function failures(results: Results): readonly string[] {
  return newestFirst(results, 'error', 'fail').map((judged) => {
    const { service, check } = judged;
    const grounds = check.grounds.map((ground) => prose(groundInWords(ground))).join('; ');
    const age = ageInWords([judged], results);
    const side = faultInWords([check]);
    const facts = [
      prose(service.service),
      check.outcome,
      check.level,
      ...(side === null ? [] : [`fault of ${prose(side)}`]),
      ...(age === '' ? [] : [age]),
    ];
    const parts = [
      `**${prose(check.id)}** · ${facts.join(' · ')}`,
      prose(problemOf(check)),
      fenced(cut(plainText(withShortValues(check.message, VALUE_CAP)), 2_000), 'text'),
      grounds === '' ? '' : `Because of ${grounds}`,
      check.reproduce === null ? '' : `Repeat it:\n\n${fenced(cut(plainText(check.reproduce), 4_000), 'sh')}`,
    ];
    return parts.filter((part) => part !== '').join('\n\n');
  });
}

function brief({ service, check }: JudgedCheck): string {
  const side = faultInWords([check]);
  const of = side === null ? '' : ` · fault of ${prose(side)}`;
  return `- **${prose(check.id)}** · ${prose(service.service)}${of}: ${prose(cut(problemOf(check), 400))}`;
}

/** A table of the documented operations, those that are not covered in full before the others; a block for each row. */
function operations({ services }: Results): readonly string[] {
  const rows = services.flatMap((service) => {
    const constraintsOf = constraintCoverage(service);
    return (service.operationCoverage ?? []).map((each) => {
      const constraints = constraintsOf(each);
      const isShort =
        !isExercised(each) ||
        each.undocumented.length > 0 ||
        each.answers.some(isNeverSeen) ||
        constraints.notSent > 0;
      const cells = [...answersInWords(each), constraintsInWords(constraints)];
      const text = row([prose(each.operation), ...cells, prose(cut(reasonOf(each), 200))]);
      return { isShort, text };
    });
  });
  if (rows.length === 0) return [];
  const columns = ['operation', 'seen', 'never seen', 'not documented', 'constraints', 'not exercised'];
  const sorted = rows.toSorted((one, other) => Number(other.isShort) - Number(one.isShort));
  return [tableHead(columns, 6), ...sorted.map(({ text }) => text)];
}

type SeenAnswer = OperationCoverage['answers'][number];
const isNeverSeen = ({ seen }: SeenAnswer): boolean => seen === 0;

function answersInWords({ answers, undocumented }: OperationCoverage): readonly string[] {
  const codes = (of: readonly SeenAnswer[]) => of.map(({ code }) => prose(code)).join(', ');
  return [
    codes(answers.filter((each) => !isNeverSeen(each))),
    codes(answers.filter(isNeverSeen)),
    undocumented.map(({ status }) => status).join(', '),
  ];
}

function reasonOf({ notExercised }: OperationCoverage): string {
  return notExercised?.reason ?? '';
}

/** Faults of one document that are listed; the page has all. */
const MOST_REMARKS = 10;

/** Blocked checks, by their reason; a line for each suite that does not apply, and one for all else. */
function didNotRun(results: Results): readonly string[] {
  const unseen = results.services.flatMap((result) =>
    notLookedAtIn(result).map(
      ({ what, why, turnOn, checks }) =>
        `- **not looked at**, ${counted(checks, 'check')} (${prose(result.service)}): ${prose(what)}, ${prose(why)}; ${prose(turnOn)}`,
    ),
  );
  const documents = results.services.flatMap(({ service, documentRemarks = [] }) =>
    documentRemarks
      .slice(0, MOST_REMARKS)
      .map(
        ({ place, text }) =>
          `- **the document** (${prose(service)}): ${prose(cut(`${place}: ${text}`, 300))}`,
      ),
  );
  const { suites, checks } = notApplying(results);
  const why = ({ judged, reason }: { readonly judged: readonly JudgedCheck[]; readonly reason: string }) =>
    `(${prose(servicesOf(judged).join(', '))}): ${prose(cut(reason, 300))}`;
  return [
    ...notRun(results)
      .filter(({ outcome }) => outcome === 'blocked')
      .map((each) => `- **blocked**, ${counted(each.judged.length, 'check')} ${why(each)}`),
    ...suites.map((each) => `- **${prose(each.suite)}** does not apply ${why(each)}`),
    ...(checks.length > 0 ? [`- ${counted(checks.length, 'single check')} did not apply`] : []),
    ...unseen,
    ...documents,
  ];
}

function observed(results: Results): readonly string[] {
  return results.services
    .filter(({ observations }) => observations.length > 0)
    .map(({ service, observations }) => {
      const lines = observations
        .slice(0, OBSERVATIONS_PER_SERVICE)
        .map(({ key, value }) => `- ${prose(key)}: ${prose(valueInWords(value, 200))}`);
      const rest = observations.length - OBSERVATIONS_PER_SERVICE;
      const summary = `${prose(service)}: ${counted(observations.length, 'observation')}`;
      const more = rest > 0 ? [`- … and ${rest} more`] : [];
      return [`<details><summary>${summary}</summary>`, '', ...lines, ...more, '', '</details>'].join('\n');
    });
}

/** Characters with a meaning in Markdown or HTML, and those that begin a list or a heading. */
const SPECIAL = /[\\`*_[\]<>|~&@#$]|:(?=\/\/)|^[-+=]/g;

/** One line of safe text in which no character has a meaning. */
function prose(text: string): string {
  const plain = plainLine(withShortValues(text, VALUE_CAP), 4_000);
  return plain.replace(SPECIAL, (character) => `&#${character.charCodeAt(0)};`);
}

/** A fence longer than any run of backticks inside. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
