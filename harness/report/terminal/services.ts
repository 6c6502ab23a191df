import type { ServiceResult } from '../results/results.ts';
import { serviceVerdict, type Verdict } from '../results/run-verdict.ts';
import { counted, tallyOf, tallyWords } from '../results/tally.ts';
import { duration, SIGNS, serviceVerdictInWords, VERDICTS } from '../results/words/words.ts';
import { type Block, indented, nameOf, type Page, wrap } from './layout.ts';

/** Of more services only those have a line of which there is something to say. */
const LINES = 12;
/** Nobody reads of what does not apply in a tally. */
const UNTOLD = ['skipped', 'observed'];

/** A line for each service: its verdict, its counts, its time. */
export function services(page: Page): Block {
  const { results, ink } = page;
  const judged = results.services.map((service) => ({
    service,
    verdict: serviceVerdict(service, results.run),
  }));
  const isLong = judged.length > LINES;
  const shown = isLong ? judged.filter(({ verdict }) => verdict.word !== 'conforms') : judged;
  const rest = judged.length - shown.length;
  const widest = Math.max(0, ...shown.map(({ service }) => nameOf(service).length));
  return [
    ...shown.flatMap((each) => serviceLines(page, each, widest)),
    ...(rest > 0 ? [`${ink.sign('pass', SIGNS.pass)} ${counted(rest, 'service')} that conform`] : []),
  ];
}

interface Judged {
  readonly service: ServiceResult;
  readonly verdict: Verdict;
}

function serviceLines(page: Page, { service, verdict }: Judged, widest: number): Block {
  const { ink, width } = page;
  const { word } = verdict;
  const { sign } = VERDICTS[word];
  const name = nameOf(service).padEnd(widest);
  const isSimple = word === 'conforms' || word === 'does not conform';
  const why = isSimple
    ? []
    : [word === 'inconclusive' ? inconclusive(service) : serviceVerdictInWords(verdict)];
  const margin = ' '.repeat(widest + 4);
  // Wrapped while it is plain, and coloured then, so that no escape sequence is counted as width.
  const parts = tallyWords(tallyOf(service.checks)).filter(({ outcome }) => !UNTOLD.includes(outcome));
  const counts =
    parts.map(({ words }) => words.replaceAll(' ', '\u00a0')).join(', ') || 'no check passed or failed';
  const told = wrap(
    [...why.map((each) => `${each}:`), counts, `·\u00a0${timeOf(service)}`].join(' '),
    width - margin.length,
  );
  const painted = told.map((line) =>
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
function inconclusive({ trouble, checks }: ServiceResult): string {
  const blocked = checks.filter(({ outcome, level }) => outcome === 'blocked' && level === 'MUST');
  const [cause, ...others] = new Set(trouble === null ? blocked.map(({ message }) => message) : [trouble]);
  return cause === undefined || others.length > 0 ? 'inconclusive' : `inconclusive: ${cause}`;
}

/** `50.6 s, 41.0 s of it waiting` */
function timeOf({ checks, durationMs, simulatedTime }: ServiceResult): string {
  const waited = checks.reduce((sum, { waitedMs = 0 }) => sum + waitedMs, 0);
  const took = `${duration(durationMs)}${simulatedTime ? ' of simulated time' : ''}`;
  return (waited < 1_000 ? took : `${took}, ${duration(waited)} of it waiting`).replaceAll(' ', '\u00a0');
}
