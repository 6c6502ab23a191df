import { styleText } from 'node:util';
import { withShortValues } from '../../base/text.ts';
import type { Outcome } from '../../base/verdict.ts';
import type { Results, ServiceResult } from '../results/results.ts';
import { cut, plainLine } from '../results/words/plain.ts';
import type { Sign } from '../results/words/words.ts';

/** `quiet`: the verdict and the causes, a line each. `verbose`: every check, every finding and every observation too. */
export type Verbosity = 'quiet' | 'normal' | 'verbose';

export interface Page {
  readonly results: Results;
  readonly ink: Ink;
  readonly width: number;
  readonly verbosity: Verbosity;
}

/** A block of lines; an empty one is left out together with its heading. */
export type Block = readonly string[];

/** UTF-16 units of a value, and of a text, that a terminal shows; the reports have it whole. */
const VALUE_CAP = 60;
/** The same where the run speaks of itself: a path of this machine has to be found, or removed. */
export const PATH_CAP = 500;
const TEXT_CAP = 1_000;

export function heading({ ink }: Page, text: string): string {
  return ink.bold(text);
}

/** Text as lines that begin with `first`, and then with `next`. */
export function indented(
  { width }: Page,
  text: string,
  first: string,
  next = ' '.repeat(first.length),
  valueCap = VALUE_CAP,
): Block {
  // A size is not torn from what it is the size of.
  const short = cut(withShortValues(plainLine(text), valueCap), TEXT_CAP).replace(
    /(…[\d,]+) (?=characters…)/g,
    '$1\u00a0',
  );
  return wrap(short, width - next.length).map(
    (line, index) => (index === 0 ? first : next) + line.replaceAll('\u00a0', ' '),
  );
}

export function nameOf({ service, environment }: ServiceResult): string {
  return plainLine(environment === null ? service : `${service} (${environment})`);
}

/** Breaks a line at blanks so that none is longer than `width` columns; a longer word stands alone. */
export function wrap(text: string, width: number): readonly string[] {
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

type Style = Parameters<typeof styleText>[0];

/** Colours for a terminal; with `color` false every text stays as it is. */
export interface Ink {
  bold(text: string): string;
  dim(text: string): string;
  outcome(outcome: Outcome, text: string): string;
  sign(sign: Sign, text: string): string;
}

const OUTCOME_STYLES: Readonly<Record<Outcome, Style>> = {
  pass: 'green',
  fail: ['red', 'bold'],
  warning: 'yellow',
  observed: 'cyan',
  known: 'magenta',
  skipped: 'dim',
  blocked: 'yellow',
  error: ['red', 'bold'],
};

const SIGN_STYLES: Readonly<Record<Sign, Style>> = {
  pass: ['green', 'bold'],
  fail: ['red', 'bold'],
  blocked: ['yellow', 'bold'],
  partial: ['cyan', 'bold'],
  error: ['red', 'bold'],
};

export function inkOf(color: boolean): Ink {
  // Whether to colour is the caller's decision, taken for the stream it writes to.
  const paint = (style: Style, text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
  return {
    bold: (text) => paint('bold', text),
    dim: (text) => paint('dim', text),
    outcome: (outcome, text) => paint(OUTCOME_STYLES[outcome], text),
    sign: (sign, text) => paint(SIGN_STYLES[sign], text),
  };
}
