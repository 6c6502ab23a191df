import type { CauseEntry } from '../results/causes.ts';
import { basisInWords } from '../results/operation-coverage.ts';
import { failingOperationsInWords } from '../results/operation-outcome.ts';
import type { Results, ServiceResult } from '../results/results.ts';
import {
  cautionsOf,
  driftedIn,
  type RunVerdict,
  servicesWith,
  serviceVerdict,
  verdictOf,
} from '../results/run-verdict.ts';
import { counted, notLookedAtIn, tallyOf, tallyWords, troubleInWords, waitedMs } from '../results/tally.ts';
import { among, conformWords, outsideWords } from '../results/words/headline.ts';
import { ageInWords } from '../results/words/news.ts';
import { cut, plainLine } from '../results/words/plain.ts';
import {
  duration,
  requestsInWords,
  SIGNS,
  serviceVerdictInWords,
  VERDICTS,
  verdictSentence,
  wallTime,
} from '../results/words/words.ts';
import { entriesOf, inFull, sinceBefore, wrong } from './findings.ts';
import {
  type Block,
  heading,
  indented,
  inkOf,
  nameOf,
  PATH_CAP,
  type Page,
  type Verbosity,
  wrap,
} from './layout.ts';

export interface VerdictTextOptions {
  readonly color: boolean;
  /** Columns of the terminal; text is laid out for at most 100 and at least 70. */
  readonly width: number;
  readonly verbosity: Verbosity;
  /** Where the reports are, for the last line; null when none were written. */
  readonly reportsAt?: string | null;
  /** The command line that runs all of it, if the names of the services are not enough. */
  readonly again?: string;
}

/** The verdict for stdout: each service, causes, and the whole at the end, which stays in view. */
export function verdictText(results: Results, options: VerdictTextOptions): string {
  const width = Math.min(100, Math.max(70, options.width));
  const page: Page = { results, ink: inkOf(options.color), width, verbosity: options.verbosity };
  const end = ending(page, options);
  const blocks: readonly Block[] =
    options.verbosity === 'quiet'
      ? [[...inBrief(page), ...sinceBefore(page), ...faults(page), ...end]]
      : [
          services(page),
          ...(options.verbosity === 'verbose' ? inFull(page) : []),
          wrong(page),
          sinceBefore(page),
          notLookedAt(page),
          documentRemarks(page),
          faults(page),
          remarks(page),
          end,
        ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
}

function inBrief(page: Page): Block {
  const { results } = page;
  const briefly = (found: CauseEntry) => {
    const age = ageInWords(found.findings, results);
    return `${found.findings.length} failed: ${found.sentence}${age === '' ? '' : ` (${age})`}`;
  };
  return entriesOf(results).flatMap((found) =>
    found.outcome === 'fail' ? indented(page, briefly(found), '', '  ') : [],
  );
}

/** Checks that the config keeps off, with the line that turns them on; not for a selection or after an outage. */
function notLookedAt(page: Page): Block {
  const { services, run } = page.results;
  if (run.selection !== undefined) return [];
  return services.flatMap((result) => {
    const { service } = result;
    const all = notLookedAtIn(result);
    if (all.length === 0) return [];
    const widest = Math.max(...all.map(({ what }) => what.length));
    const lines = all.flatMap(({ what, why, turnOn, checks, requests }) => {
      const cost = [
        counted(checks, 'check'),
        ...(requests === undefined ? [] : [counted(requests, 'request')]),
      ];
      const said = [`${plainLine(why)} (${cost.join(', ')})`, plainLine(turnOn)];
      return said.map(
        (line, at) => `  ${(at === 0 ? what : '').padEnd(widest)}  ${cut(line, page.width - widest - 4)}`,
      );
    });
    return [heading(page, `Not looked at in ${plainLine(service)}, and what turns it on`), ...lines];
  });
}

/** One line for a service; the page has the list. */
function documentRemarks(page: Page): Block {
  return page.results.services.flatMap(({ service, documentRemarks: all = [] }) => {
    const [first] = all;
    if (first === undefined) return [];
    const at = first.place === '' ? '' : `${first.place}: `;
    const line = `${counted(all.length, 'fault')} of the document (${service}): ${at}${first.text}`;
    return [cut(plainLine(line), page.width)];
  });
}

function faults(page: Page): Block {
  const { faults: found } = page.results.run;
  if (found.length === 0) return [];
  return [
    heading(page, `Faults of the harness (${found.length})`),
    ...found.flatMap((fault) => indented(page, fault, '  ', '  ', PATH_CAP)),
  ];
}

function remarks(page: Page): Block {
  return (page.results.run.remarks ?? []).flatMap((remark) =>
    indented(page, remark, 'note: ', '      ', PATH_CAP),
  );
}

function ending(page: Page, { reportsAt = null, again }: VerdictTextOptions): Block {
  const { results, ink } = page;
  const verdict = verdictOf(results);
  const { sign } = VERDICTS[verdict.word];
  const sentence = indented(page, sentenceOf(results, verdict), `${SIGNS[sign]} `, '  ', PATH_CAP);
  const facts = [
    requestsInWords(results.services),
    duration(wallTime(results.run)),
    `run ${plainLine(results.run.id)}`,
    `exit code ${verdict.exitCode}`,
  ];
  const next = nextCommand(results, verdict, again);
  const last = [
    ...(next === null ? [] : [`Next: ${next}`]),
    ...(reportsAt === null ? [] : [`Report: ${plainLine(reportsAt)}`]),
  ];
  const joined = `  ${last.join('     ')}`;
  const basis = basisInWords(results.services);
  const failing = failingOperationsInWords(results);
  const outside = outsideWords(results.services);
  return [
    ...sentence.map((line) => ink.sign(sign, line)),
    ...(failing === null ? [] : indented(page, `${failing}.`, '  ')),
    ...(basis === null ? [] : indented(page, `It rests on ${basis}.`, '  ')),
    ...indented(page, facts.join(', '), '  ').map(ink.dim),
    ...(outside === null ? [] : [ink.dim(`  ${outside}`)]),
    ...(last.length === 0 ? [] : joined.length <= page.width ? [joined] : last.map((line) => `  ${line}`)),
  ];
}

/** `orders does not conform. realtime does.` */
function sentenceOf(results: Results, verdict: RunVerdict): string {
  const { services: all } = results;
  const cautions = cautionsOf(results).map((caution) => ` Beware, ${caution}.`);
  const besides = verdict.besides.length > 0 ? ` Also: ${verdict.besides.join('; ')}.` : '';
  const rest = `${besides}${cautions.join('')}`;
  if (verdict.word === 'conforms') return `${conformWords(all)}.${rest}`;
  if (verdict.word === 'does not conform') {
    const [bad, good] = [servicesWith('does not conform', results), servicesWith('conforms', results)];
    const does = good.length === 0 ? '' : ` ${among(good)} ${good.length === 1 ? 'does' : 'do'}.`;
    return `${among(bad)} ${bad.length === 1 ? 'does' : 'do'} not conform.${does}${rest}`;
  }
  return `${VERDICTS[verdict.word].headline}: ${verdictSentence(verdict, results)}`;
}

/** What helps on from here; null where nothing is left to do. */
function nextCommand(results: Results, { word }: RunVerdict, again?: string): string | null {
  if (word === 'drifted') return acceptCommand(results);
  const [leading] = entriesOf(results).flatMap(({ findings }) => findings);
  if (leading !== undefined) return `conform explain ${plainLine(leading.check.id)}`;
  if (word !== 'no verdict' || results.run.selection === undefined) return null;
  if (again !== undefined) return plainLine(again);
  return `conform run ${results.services.map(({ service }) => plainLine(service)).join(' ')}`;
}

/** `conform accept search limits.algorithm`; of several services all that they observed. */
function acceptCommand({ services }: Results): string {
  const drifted = services.flatMap((service) => {
    const keys = driftedIn(service).map(({ key }) => key);
    return keys.length > 0 ? [[service.service, ...keys].map((each) => plainLine(each))] : [];
  });
  return ['conform accept', ...(drifted.length === 1 ? drifted.flat() : [])].join(' ');
}

/** Of more services only those have a line of which there is something to say. */
const LINES = 12;
/** Outcomes that a tally leaves out. */
const LEFT_OUT = ['skipped', 'observed'];

/** A line for each service: its verdict, its counts, its time. */
export function services(page: Page): Block {
  const { results, ink } = page;
  const rowOf = (service: ServiceResult) => ({ service, verdict: serviceVerdict(service, results.run) });
  const judged = results.services.map(rowOf);
  const isLong = judged.length > LINES;
  const shown = isLong ? judged.filter(({ verdict }) => verdict.word !== 'conforms') : judged;
  const rest = judged.length - shown.length;
  const widest = Math.max(0, ...shown.map(({ service }) => nameOf(service).length));
  return [
    ...shown.flatMap((each) => serviceLines(page, each, widest)),
    ...(rest > 0 ? [`${ink.sign('pass', SIGNS.pass)} ${counted(rest, 'service')} that conform`] : []),
  ];
}

interface ServiceRow {
  readonly service: ServiceResult;
  readonly verdict: RunVerdict;
}

function serviceLines(page: Page, { service, verdict }: ServiceRow, widest: number): Block {
  const { ink, width } = page;
  const { word } = verdict;
  const { sign } = VERDICTS[word];
  const name = nameOf(service).padEnd(widest);
  const isSimple = word === 'conforms' || word === 'does not conform';
  // Of one service the verdict of the run says why.
  const isSaid = page.results.services.length === 1 && service.trouble !== null;
  const reason = isSaid ? word : inconclusive(service);
  const said = word === 'inconclusive' ? reason : serviceVerdictInWords(verdict);
  const why = isSimple ? [] : [`${said}:`];
  const margin = ' '.repeat(widest + 4);
  // Wrapped while it is plain, and coloured then, so that no escape sequence is counted as width.
  const parts = tallyWords(tallyOf(service.checks)).filter(({ outcome }) => !LEFT_OUT.includes(outcome));
  const counts =
    parts.map(({ words }) => words.replaceAll(' ', '\u00a0')).join(', ') || 'no check passed or failed';
  const lines = wrap([...why, counts, `·\u00a0${timeOf(service)}`].join(' '), width - margin.length);
  const painted = lines.map((line) =>
    parts.reduce(
      (text, { outcome, words }) =>
        text.replace(words.replaceAll(' ', '\u00a0'), () => ink.outcome(outcome, words)),
      line.replace(/·\u00a0.*$/, (time) => ink.dim(time.replaceAll('\u00a0', ' '))),
    ),
  );
  return [
    ...painted.map((line, at) =>
      at === 0 ? `${ink.sign(sign, SIGNS[sign])} ${ink.bold(name)}  ${line}` : `${margin}${line}`,
    ),
    ...(service.remarks ?? []).flatMap((remark) => indented(page, remark, `${margin}note: `, `${margin}  `)),
  ];
}

/** Why nothing can be said of a service, where it is one thing. */
function inconclusive(service: ServiceResult): string {
  const trouble = troubleInWords(service);
  const blocked = service.checks.filter(({ outcome, level }) => outcome === 'blocked' && level === 'MUST');
  const [cause, ...others] = new Set(trouble === null ? blocked.map(({ message }) => message) : [trouble]);
  return cause === undefined || others.length > 0 ? 'inconclusive' : `inconclusive: ${cause}`;
}

/** `50.6 s, 41.0 s of it waiting` */
function timeOf({ checks, durationMs, simulatedTime }: ServiceResult): string {
  const waited = waitedMs(checks);
  const took = `${duration(durationMs)}${simulatedTime ? ' of simulated time' : ''}`;
  return (waited < 1_000 ? took : `${took}, ${duration(waited)} of it waiting`).replaceAll(' ', '\u00a0');
}
