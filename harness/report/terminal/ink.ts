import { styleText } from 'node:util';
import type { Outcome } from '../../base/verdict.ts';
import type { Sign } from '../results/words/words.ts';

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
