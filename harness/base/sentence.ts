/**
 * A sentence with places for values, each with what stands there when nothing is known: `{status:200}`. Each name of a
 * place is also how its value is found in what a check says.
 */
const PLACES = {
  status: /\bstatus (\d{3})\b/,
  'media type': /\bContent-Type ([\w.+-]{1,60}\/[\w.+-]{1,60})/,
} as const;

const PLACE = /\{(status|media type):([^{}]*)\}/g;

/** The sentence with the values of a message in its places. */
export function filledIn(sentence: string, message = ''): string {
  const [, got = ''] = /, got (.*)$/s.exec(message.slice(0, 2_000)) ?? [];
  return sentence.replace(
    PLACE,
    (_, name: keyof typeof PLACES, usual: string) => PLACES[name].exec(got)?.[1] ?? usual,
  );
}
