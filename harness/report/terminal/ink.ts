import { styleText } from 'node:util';
import type { Outcome } from '../../contract/outcome.ts';
import type { VerdictWord } from '../results/run-verdict.ts';

type Style = Parameters<typeof styleText>[0];

/** Colours for a terminal; with `color` false every text stays as it is. */
export interface Ink {
  bold(text: string): string;
  dim(text: string): string;
  outcome(outcome: Outcome, text: string): string;
  verdict(word: VerdictWord, text: string): string;
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

const VERDICT_STYLES: Readonly<Record<VerdictWord, Style>> = {
  conforms: ['green', 'bold'],
  'no verdict': ['cyan', 'bold'],
  'does not conform': ['red', 'bold'],
  drifted: ['red', 'bold'],
  'known list out of date': ['red', 'bold'],
  'accepted list out of date': ['red', 'bold'],
  inconclusive: ['yellow', 'bold'],
  'harness error': ['red', 'bold'],
};

export function inkOf(color: boolean): Ink {
  // Whether to colour is the caller's decision, taken for the stream it writes to.
  const paint = (style: Style, text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
  return {
    bold: (text) => paint('bold', text),
    dim: (text) => paint('dim', text),
    outcome: (outcome, text) => paint(OUTCOME_STYLES[outcome], text),
    verdict: (word, text) => paint(VERDICT_STYLES[word], text),
  };
}
