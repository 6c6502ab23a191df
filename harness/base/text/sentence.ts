import { shortened } from '../text.ts';

/** What a violation says, `expected …, got … for …, for … and for 2 more; … [ground]`, taken apart. */
export interface Deviation {
  readonly expected: string;
  /** All results with their stimuli. */
  readonly got: string;
  /** The first result alone. */
  readonly value: string;
}

/** Separates the result from each stimulus. */
export const STIMULUS = /(?:,| and)? for (?=[A-Z]|an? |(?:N|\d+) more)/;

const EXPECTED = 'expected ';
const GOT = ', got ';

/** The halves of a message; null where it is of another kind, as what the verifier of pacts says is. */
export function deviationIn(message: string): Deviation | null {
  const said = withoutGround(message);
  const between = said.indexOf(GOT);
  if (!said.startsWith(EXPECTED) || between === -1) return null;
  const got = said.slice(between + GOT.length);
  const [value = ''] = got.split(STIMULUS, 1);
  return { expected: said.slice(EXPECTED.length, between), got, value };
}

/** The message without what it is held against, in brackets at its end. */
export function withoutGround(message: string): string {
  const ground = message.endsWith(']') ? message.lastIndexOf(' [') : -1;
  return ground === -1 ? message : message.slice(0, ground);
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

/** Of a value in a sentence, in UTF-16 units. */
const LONGEST_VALUE = 64;

/** The sentence with the values of a message in its places. */
export function filledIn(sentence: string, message = ''): string {
  const deviation = deviationIn(message);
  return sentence.replace(PLACE, (_, name?: keyof typeof PLACES, usual?: string) => {
    if (name !== undefined) return PLACES[name].exec(deviation?.got ?? '')?.[1] ?? usual ?? '';
    return deviation === null ? 'something else' : shortened(deviation.value, LONGEST_VALUE);
  });
}

/** The sentence of a check with the values of its violation; or that no response arrived. */
export function headlineOf(sentence: string, message: string): string {
  const isSilence = deviationIn(message)?.value.startsWith(NO_RESPONSE) ?? false;
  return filledIn(
    isSilence && !sentence.includes('{answer}') ? 'The service gives {answer}' : sentence,
    message,
  );
}
