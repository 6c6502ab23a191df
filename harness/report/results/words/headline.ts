import { asSentence, grouped, listed } from '../../../base/text.ts';
import { explainedFailures } from '../causes.ts';
import { failingOperationsInWords } from '../operation-outcome.ts';
import type { Results, ServiceResult } from '../results.ts';
import { cautionsOf, driftedIn, type RunVerdict, servicesWith, verdictOf } from '../run-verdict.ts';
import { counted, JUDGED } from '../tally.ts';
import { plainLine } from './plain.ts';
import { asidesOf, duration, type Sign, VERDICTS, wallTime } from './words.ts';

/** The verdict on a run as people read it first. */
export interface Headline {
  readonly sign: Sign;
  /** `orders and search do not conform` */
  readonly sentence: string;
  /** The same where there is little room: `orders, search: 3 causes, 14 failures` */
  readonly title: string;
  /** The sentence that stands out below it: `3 causes explain 13 of 14 failures.` */
  readonly lead: string;
  /** What else is to be known of the whole: `messaging conforms.` Empty when nothing is. */
  readonly rest: string;
}

/** Most services that are named; of more there is the number. */
const NAMED = 3;

export function headlineOf(results: Results): Headline {
  const verdict = verdictOf(results);
  const { sentence, title = sentence, lead, rest = [] } = SHORT_VERDICTS[verdict.word](results, verdict);
  const cautions = cautionsOf(results).map((caution) => `Beware, ${caution}.`);
  const isPart = verdict.word === 'inconclusive' && results.run.interrupted;
  return {
    sign: isPart ? 'partial' : VERDICTS[verdict.word].sign,
    sentence: plainLine(sentence, 300),
    title: plainLine(title, 200),
    lead: plainLine(lead, 1_000),
    rest: plainLine([...rest, ...cautions].join(' '), 2_000),
  };
}

interface ShortVerdict {
  readonly sentence: string;
  readonly title?: string;
  readonly lead: string;
  readonly rest?: readonly string[];
}

const SHORT_VERDICTS: Readonly<
  Record<RunVerdict['word'], (results: Results, verdict: RunVerdict) => ShortVerdict>
> = {
  conforms: conforming,
  'does not conform': failing,
  drifted: driftedFacts,
  'known list out of date': outdated,
  'accepted list out of date': outdated,
  'too little covered': outdated,
  'no verdict': partial,
  'harness error': broken,
  inconclusive: (results, verdict) =>
    results.run.interrupted ? interrupted(results, verdict) : unjudged(results, verdict),
};

function conforming(results: Results): ShortVerdict {
  const { services, totals } = results;
  const asides = asidesOf(results);
  return {
    sentence: conformWords(services, subject(services, services)),
    lead: `${counted(totals.pass, 'check')} passed.`,
    rest: [asides.length === 0 ? 'Nothing failed, nothing was blocked.' : `${listed(asides)}.`],
  };
}

function failing(results: Results): ShortVerdict {
  const { services } = results;
  const wrong = servicesWith('does not conform', results);
  const right = servicesWith('conforms', results);
  const open = services.length - wrong.length - right.length;
  return {
    sentence: `${subject(wrong, services)} ${verb(wrong, 'does not conform', 'do not conform')}`,
    title: `${wrong.length <= NAMED ? wrong.map(({ service }) => service).join(', ') : subject(wrong, services)}: ${countsInWords(results)}`,
    lead: [failingOperationsInWords(results), failuresInWords(results)]
      .filter((part) => part !== null)
      .map(asSentence)
      .join(' '),
    rest: [
      ...(right.length > 0 ? [`${conformWords(right)}.`] : []),
      ...(open > 0 ? [`${counted(open, 'service')} could not be judged in full.`] : []),
    ],
  };
}

/** `3 causes, 14 failures` */
function countsInWords(results: Results): string {
  const { causes } = explainedFailures(results);
  const { fail, warning } = results.totals;
  const found = fail > 0 ? counted(fail, 'failure') : counted(warning, 'warning');
  return causes > 0 ? `${counted(causes, 'cause')}, ${found}` : found;
}

/** `3 causes explain 13 of 14 failures.` */
function failuresInWords(results: Results): string {
  const failed = results.totals.fail;
  if (failed === 0) return `${counted(results.totals.warning, 'warning')} (strict).`;
  const { causes, explained } = explainedFailures(results);
  if (causes === 0) return `${counted(failed, 'failure')}.`;
  const some = explained < failed ? `${explained} of ${failed} failures` : `all ${failed} failures`;
  const share = failed === 1 ? 'the failure' : some;
  return `${counted(causes, 'cause')} ${causes === 1 ? 'explains' : 'explain'} ${share}.`;
}

function driftedFacts({ services }: Results, { reasons, besides }: RunVerdict): ShortVerdict {
  const drifted = services.filter((service) => driftedIn(service).length > 0);
  return {
    sentence: `${subject(drifted, services)} drifted from what is accepted`,
    lead: `${counted(reasons.length, 'observation')} ${reasons.length === 1 ? 'differs' : 'differ'}.`,
    rest: [...reasons, ...besides].map((each) => `${each}.`),
  };
}

function outdated(_: Results, { word, reasons, besides }: RunVerdict): ShortVerdict {
  const [lead = '', ...rest] = [...reasons, ...besides].map(asSentence);
  return { sentence: VERDICTS[word].headline, lead, rest };
}

function partial({ services, run }: Results, { reasons }: RunVerdict): ShortVerdict {
  const rest = ['This says nothing of the service as a whole.'];
  if (run.selection === undefined) {
    const [first = '', ...others] = reasons;
    const sentence = `Only ${first}: no verdict`;
    return { sentence, lead: 'Nothing failed.', rest: [...others.map(asSentence), ...rest] };
  }
  const ran = services.flatMap(({ checks }) => checks).filter(({ outcome }) => JUDGED.includes(outcome));
  const all = services.reduce((sum, { checks, catalogue }) => sum + (catalogue ?? checks.length), 0);
  const sentence = `${grouped(ran.length)} of ${counted(all, 'check')} ran: no verdict`;
  return { sentence, lead: 'None of them failed.', rest };
}

function interrupted({ run, services, totals }: Results, { reasons, besides }: RunVerdict): ShortVerdict {
  const checks = services.flatMap((service) => service.checks);
  const judged = checks.filter(({ outcome }) => JUDGED.includes(outcome));
  const failed = totals.fail > 0 ? [`${counted(totals.fail, 'check')} had failed by then.`] : [];
  return {
    sentence: `Interrupted after ${duration(wallTime(run))}: ${judged.length} of ${counted(checks.length, 'check')} judged`,
    lead: asSentence(reasons.join('; ')),
    rest: failed.length > 0 ? failed : besides.map(asSentence),
  };
}

function unjudged(results: Results, { reasons, besides }: RunVerdict): ShortVerdict {
  const { services } = results;
  // A service is called what it is called, also at the head of a sentence.
  const said = (text: string) =>
    services.some(({ service }) => text.startsWith(`${service}:`)) ? `${text}.` : asSentence(text);
  const open = servicesWith('inconclusive', results);
  const [first = 'no service ran', ...others] = reasons;
  const could = open.length === 0 ? 'Nothing could' : `${subject(open, services)} could not`;
  return { sentence: `${could} be judged`, lead: said(first), rest: [...others, ...besides].map(said) };
}

function broken({ run }: Results, { reasons, besides }: RunVerdict): ShortVerdict {
  const [first, ...others] = run.faults;
  return {
    sentence: 'conform itself failed',
    lead: first ?? asSentence(reasons.join('; ')),
    rest: [
      ...(others.length > 0 ? [`And ${counted(others.length, 'other fault')} of the harness.`] : []),
      ...besides.map(asSentence),
    ],
  };
}

/** `orders conforms to api@2026-11`; of several rule sets each is named. */
export function conformWords(services: readonly ServiceResult[], said = among(services)): string {
  const bySet = [...Map.groupBy(services, ({ rules }) => rules)];
  const words = (of: readonly ServiceResult[], names: string, rules: string | undefined) =>
    `${names} ${verb(of, 'conforms', 'conform')}${rules === undefined ? '' : ` to ${plainLine(rules)}`}`;
  const [first] = bySet;
  if (bySet.length === 1 && first !== undefined) return words(services, said, first[0]);
  return bySet.map(([rules, of]) => words(of, among(of), rules)).join(', ');
}

/** `--rules all has 248 checks more`; null where none is outside the rule set. */
export function outsideWords(services: readonly ServiceResult[]): string | null {
  const most = Math.max(0, ...services.map(({ outside = 0 }) => outside));
  return most === 0 ? null : `--rules all has ${counted(most, 'check')} more`;
}

/** `orders and search`; of more than three `9 of 100 services`. */
function subject(of: readonly ServiceResult[], all: readonly ServiceResult[]): string {
  if (of.length <= NAMED) return among(of);
  return of.length === all.length ? `All ${of.length} services` : `${of.length} of ${all.length} services`;
}

/** `orders and search`; of more than three `9 services`. */
export function among(of: readonly ServiceResult[]): string {
  return of.length <= NAMED
    ? listed(of.map(({ service }) => plainLine(service)))
    : counted(of.length, 'service');
}

function verb(of: readonly ServiceResult[], one: string, many: string): string {
  return of.length === 1 ? one : many;
}
