import { type Deviation, deviationText, type Finding, gotText, SILENT_SINCE } from '../../base/finding.ts';
import { CUT } from '../results/read-results.ts';

/** A result and its stimuli without values: `status 2xx`, `METHOD with a wrong key`; `*`: more. */
export type ResultPart = readonly [got: string, ...stimuli: string[]];

/** A part, read once. Parts with other marks, such as classes of a status, are of other faults. */
export interface PartForm {
  readonly marks: string;
  /** Whether its number has a plain relation to the expected one, which tells the fault. */
  readonly isTelling: boolean;
  /** Words of the result. */
  readonly got: ReadonlySet<string>;
  /** The stimuli that the finding names. */
  readonly stimuli: readonly string[];
  /** Whether there were more than it names. */
  readonly isCut: boolean;
}

/** UTF-16 units of a text that are looked at. */
const LOOKED_AT = 2_000;
/** Number of distinct parts of one finding. */
const PARTS = 6;
/** Dice's coefficient of two results, below which they differ. */
const LEAST_ALIKE = 0.6;
const COUNTED = '*';
const MEDIA = '\\b(?:application|text|image|audio|video|font|multipart)/[\\w.+*-]+';
const MARK = /\b\dxx\b|<[a-z ]+>/g;
const TELLING = /<(?:one less|one more|half|a thousand times)>/;

/** The results of a finding, a part for each, without their values. */
export function partsOf(deviation: Deviation): readonly ResultPart[] {
  const expected = deviation.expected ?? '';
  const parts = normalised(deviation, {
    text: (text) => withoutKinds(withoutValues(ranked(expected, text))),
    stimulus: (to) => withoutKinds(withoutValues(to)).replace(METHOD, 'METHOD'),
  });
  return distinctParts(parts).slice(0, PARTS);
}

export function distinctParts(parts: readonly ResultPart[]): readonly ResultPart[] {
  return [...new Map(parts.map((part) => [part.join('\n'), part])).values()];
}

const METHOD = /^(?:GET|POST|PUT|PATCH|DELETE)\b/;

/** Results without values, one text for each stimulus: `status 500 for GET with a wrong key`; `*`: more. */
export function signatureOf(finding: Finding): readonly string[] {
  const parts = normalised(finding, {
    text: (text) => withoutValues(text, NOT_OF_OPERATION),
    // A path stays that follows a method, which follows "for".
    stimulus: (to) => withoutValues(` for ${to}`, NOT_OF_OPERATION).slice(' for '.length),
  });
  const each = parts.flatMap(([got, ...stimuli]) =>
    stimuli.length === 0 ? [got] : stimuli.map((stimulus) => `${got} for ${stimulus}`),
  );
  const last = each.pop();
  if (last !== undefined) each.push(finding.silentSince ? `${last}${SILENT_SINCE}` : last);
  return [...new Set(each)];
}

interface Normalising {
  readonly text: (text: string) => string;
  readonly stimulus: (to: string) => string;
}

/** A part for each thing that came; a text that lists several things is several parts. */
function normalised(deviation: Deviation, { text, stimulus }: Normalising): readonly ResultPart[] {
  const { expected, got, more = 0 } = deviation;
  if (expected === null) return cutUp(text(deviationText(deviation).slice(0, LOOKED_AT)), []);
  return got.flatMap((each, at) => {
    const named = each.stimuli.map(({ to }) => stimulus(to.slice(0, LOOKED_AT)));
    const counted = more > 0 && at === got.length - 1 ? [COUNTED] : [];
    return cutUp(text(each.text.slice(0, LOOKED_AT)), [...named, ...counted]);
  });
}

function cutUp(text: string, stimuli: readonly string[]): readonly ResultPart[] {
  const pieces = text.split('; ');
  return pieces.map((piece, at) => (at === pieces.length - 1 ? [piece, ...stimuli] : [piece]));
}

/** The same in lists from before findings: cut out of the text, also within a stimulus. */
export function signatureBefore(finding: Finding): readonly string[] {
  const text = `${finding.expected === null ? deviationText(finding) : gotText(finding)}${finding.silentSince ? SILENT_SINCE : ''}`;
  const parts = withoutValues(text.slice(0, LOOKED_AT), NOT_OF_OPERATION).split('; ');
  const each = parts.flatMap((part) => {
    const [got = '', ...stimuli] = part.split(CUT);
    return stimuli.length === 0 ? [got] : stimuli.map((to) => `${got} for ${to === 'N more' ? COUNTED : to}`);
  });
  return [...new Set(each)];
}

/** The same as lists have it that were written when a signature did not name operations. */
export function withoutOperation(signature: string): string {
  return signature.replace(PATH, 'PATH');
}

/** After the method, as stimuli name operations. */
const OPERATION = / for [A-Z]+ (\/\S*)/;

/** The path of the operation that a signature names; null for none. */
export function operationIn(signature: string): string | null {
  return OPERATION.exec(signature)?.[1] ?? null;
}

/** The path of an operation as a signature names it. */
export function operationInSignature(path: string): string {
  return operationIn(withoutValues(`something for GET ${path}`, NOT_OF_OPERATION)) ?? path;
}

/** Reads a part. */
export function formOf([got, ...stimuli]: ResultPart): PartForm {
  return {
    marks: (got.match(MARK) ?? []).join(' '),
    isTelling: TELLING.test(got),
    got: wordsOf(got),
    stimuli: stimuli.filter((each) => each !== COUNTED),
    isCut: stimuli.includes(COUNTED),
  };
}

/** How alike two results are, from 0 to 1; 0 if they tell of different faults, or no stimulus is alike. */
export function likeness(one: PartForm, other: PartForm): number {
  if (one.marks !== other.marks || !isSentAlike(one, other)) return 0;
  const got = overlap(one.got, other.got);
  return got < LEAST_ALIKE ? 0 : got;
}

function isSentAlike(one: PartForm, other: PartForm): boolean {
  if (one.isCut || other.isCut || one.stimuli.length === 0 || other.stimuli.length === 0) return true;
  return one.stimuli.some((each) => other.stimuli.includes(each));
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_<>-]+/gu));
}

/** Dice's coefficient. */
function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size + other.size === 0) return 1;
  return (2 * one.intersection(other).size) / (one.size + other.size);
}

/** Says of a number what it is to the one that was expected in the same place, `request 21` and `N s` alone. */
function ranked(expected: string, got: string): string {
  return got
    .replace(/\brequest (\d{1,9})\b/g, (_, number) => {
      const wanted = Number(/\brequest (\d{1,9})\b/.exec(expected)?.[1]);
      return `request ${rank(Number(number), wanted)}`;
    })
    .replace(/^(\d{1,12}(?:\.\d+)?) s\b/, (text, number) => {
      const wanted = Number(/\b(\d{1,9}) s\b/.exec(expected)?.[1]);
      return Number(number) > 100 * wanted ? `${rank(Number(number), wanted)} s` : text;
    });
}

function rank(number: number, wanted: number): string {
  if (number === wanted - 1) return '<one less>';
  if (number === wanted + 1) return '<one more>';
  const ratio = number / wanted;
  if (Math.abs(ratio - 0.5) < 0.1) return '<half>';
  if (ratio > 100) return ratio < 10_000 ? '<a thousand times>' : '<far more>';
  return ratio > 1 ? '<more>' : '<less>';
}

const PATH = /(?<![\w.])\/[\w{}.:%~/-]+/g;
const NOT_OF_OPERATION = new RegExp(`(?<! for [A-Z]{2,20} )${PATH.source}`, 'g');

function withoutValues(text: string, path = PATH): string {
  return (
    text
      // Before anything that a slash among random octets in base64 could be taken for.
      .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z|(?<![\w+/])[\w+/]{27}=/g, 'VALUE')
      .replace(/"\d+\.\d+"/g, 'a decimal VALUE')
      .replace(/`[^`]*`|"[^"]*"/g, 'VALUE')
      .replace(/\b[a-z][a-z+.-]*:\/\/\S+/gi, 'URL')
      // Without its parameters.
      .replace(new RegExp(`(${MEDIA})(?:; ?[\\w-]+=[^\\s;,]+)+`, 'g'), '$1')
      .replace(path, 'PATH')
      // Tags, tokens, digests: letters and digits mixed.
      .replace(/(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{10,}/g, 'VALUE')
      .replace(/(?<![\w.-]|\bstatus |\bclose code )-?\d[\d,]*(?:\.\d+)?(?!\w)/g, 'N')
  );
}

/** Without what differs between services that have the same fault. */
function withoutKinds(text: string): string {
  return text
    .replace(new RegExp(MEDIA, 'g'), 'MEDIA')
    .replace(/\bclose code \d+/g, 'close code N')
    .replace(/ for (?:GET|POST|PUT|PATCH|DELETE)\b/g, ' for METHOD')
    .replace(/\bstatus (\d)\d\d\b/g, 'status $1xx');
}
