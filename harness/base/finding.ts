import { listed, shortened, withShortValues } from './text.ts';

/** A violation as data. Its text is rendered from it, and never read back. */
export interface Finding extends Deviation {
  /** What the decisive evidence is about: `GET /v1/orders`, an endpoint, the service. */
  readonly subject: string;
  /** Id of the evidence that decided it; null if no single piece did. */
  readonly evidence: string | null;
  /** The ground that binds as strongly as the check does; absent for none. */
  readonly ground?: DecisiveGround;
  /** true: the service has answered nothing since. */
  readonly silentSince?: boolean;
  /** Absent in results that were written before it. */
  readonly fault?: FaultSide;
}

/** The side that a violation is mended on. */
export const FAULT_SIDES = ['service', 'document', 'config'] as const;
export type FaultSide = (typeof FAULT_SIDES)[number];

/** Each completes "fault of …". */
export const FAULT_WORDS: Readonly<Record<FaultSide, string>> = {
  service: 'the service',
  document: 'the document',
  config: "conform's config",
};

/** The side of several faults in one finding: one of the service is never held against another side. */
export function sharedSide(sides: readonly FaultSide[]): FaultSide {
  return FAULT_SIDES.find((side) => sides.includes(side)) ?? 'service';
}

/** The expectation, and the results instead. */
export interface Deviation {
  /** Completes "expected …"; null if another tool reports in its own words. */
  readonly expected: string | null;
  /** Each result once. */
  readonly got: readonly Got[];
  /** Number of further deviations that are not in `got`. */
  readonly more?: number;
  /** A remark of the other tool. */
  readonly remark?: string;
}

/** One result, instead of the expected one. */
export interface Got {
  /** Completes "got …". */
  readonly text: string;
  /** The stimuli that had this result: each completes "for …". Empty if the text names them. */
  readonly stimuli: readonly {
    readonly to: string;
    /** Its id; absent in results that were written before findings. */
    readonly evidence?: string;
  }[];
}

/** Completes "expected …, got …". */
export interface Mismatch {
  readonly expected: string;
  readonly got: string;
}

export interface DecisiveGround {
  /** Clause key, section of the standard, or name of the practice. */
  readonly ref: string;
  /** Where a clause is written; absent for a standard. */
  readonly place?: string;
}

/** `expected …, got … for …, for … and for 3 more; …` */
export function deviationText(deviation: Deviation): string {
  const { expected, more = 0, remark } = deviation;
  const got = gotText(deviation);
  if (expected !== null) return `expected ${expected}, got ${got}`;
  return `${got}${more > 0 ? `; and ${more} more` : ''}${remark === undefined ? '' : ` (${remark})`}`;
}

/** The results with their stimuli. */
export function gotText({ expected, got, more = 0 }: Deviation): string {
  const rest = expected !== null && more > 0 ? [`${more} more`] : [];
  return got
    .map(({ text, stimuli }, at) => {
      const named = [...stimuli.map(({ to }) => to), ...(at === got.length - 1 ? rest : [])];
      return named.length === 0 ? text : `${text} ${listed(named.map((to) => `for ${to}`))}`;
    })
    .join('; ');
}

/** The first result alone. */
export function firstGot({ got }: Deviation): string {
  return got[0]?.text ?? '';
}

/** What a finding says, in one line: the deviation, and the ground in brackets. */
export function findingText(finding: Finding): string {
  const since = finding.silentSince ? SILENT_SINCE : '';
  return `${deviationText(finding)}${since}${groundText(finding)}`;
}

/** The same finding with every text of the service and of the config redacted. */
export function redactedFinding(finding: Finding, redact: (text: string) => string): Finding {
  const { expected, got, remark, ground } = finding;
  return {
    ...finding,
    expected: expected === null ? null : redact(expected),
    got: got.map(({ text, stimuli }) => ({
      text: redact(text),
      stimuli: stimuli.map((each) => ({ ...each, to: redact(each.to) })),
    })),
    ...(remark !== undefined && { remark: redact(remark) }),
    ...(ground?.place !== undefined && { ground: { ...ground, place: redact(ground.place) } }),
  };
}

/** Ends what a finding says if the service has answered nothing since. */
export const SILENT_SINCE = ', and nothing has been served since';

/** The ground, as it ends a message; empty for none. */
export function groundText({ ground }: Finding): string {
  if (ground === undefined) return '';
  return ground.place === undefined ? ` [${ground.ref}]` : ` [${ground.ref}: ${ground.place}]`;
}

/** How a result begins if it is no response. */
export const NO_RESPONSE = 'no whole response';

/**
 * A sentence with places for values: `{answer}`, how a request was answered; `{got}`, any other result;
 * `{status:200}`, with its default. The name of such a place is also the key to its value in the result.
 */
const PLACES = {
  status: /\bstatus (\d{3})\b/,
  'media type': /\bContent-Type ([\w.+-]{1,60}\/[\w.+-]{1,60})/,
} as const;

const PLACE = /\{(?:answer|got|(status|media type):([^{}]*))\}/g;

/** Of a value (a run without blanks) in a sentence, in UTF-16 units: words are not cut, or the one that matters is. */
const LONGEST_VALUE = 64;
/** Of a result in a sentence. */
const LONGEST_RESULT = 240;

/** The sentence with the values of a deviation in its places. */
export function filledIn(sentence: string, deviation?: Deviation): string {
  const known = deviation === undefined || deviation.expected === null ? null : deviation;
  const came = known === null ? '' : gotText(known);
  return sentence.replace(PLACE, (_, name?: keyof typeof PLACES, usual?: string) => {
    if (name !== undefined) return PLACES[name].exec(came)?.[1] ?? usual ?? '';
    return known === null ? 'something else' : resultInSentence(firstGot(known));
  });
}

/** `one in which "/total" must be integer` after the body that it is about: `"/total" must be integer`. */
function resultInSentence(got: string): string {
  const plain = got.replace(/^one in which (the whole )?/, (_, whole?: string) => (whole ? 'it ' : ''));
  return shortened(withShortValues(plain, LONGEST_VALUE), LONGEST_RESULT);
}

/** The sentence of a check with the values of its deviation; or that no response arrived. */
export function headlineOf(sentence: string, deviation: Deviation): string {
  const isSilence = deviation.expected !== null && firstGot(deviation).startsWith(NO_RESPONSE);
  return filledIn(
    isSilence && !sentence.includes('{answer}') ? 'The service gives {answer}' : sentence,
    deviation,
  );
}
