import { stripVTControlCharacters } from 'node:util';
import { visible } from '../../../wire/octets/utf8.ts';

/** Makes text of a provider safe to show: terminal sequences removed, invisible characters named. */

/** Nothing is shown longer than this, in UTF-16 units; the whole is in the evidence. */
const LONGEST = 100_000;

/** Lines of which nothing has to be changed, as most are: a run of many services shows a million. */
const SAFE = /^[\n -~\u{A1}-\u{AC}\u{AE}-\u{2FF}\u{2010}-\u{2027}]*$/u;
/** Blanks that one line of text has no use for. */
const LOOSE = /^ | $| {2}|\n/;

/** Several lines of safe text. CR LF and CR end a line too; tabs become blanks. */
export function plainText(text: string, longest = LONGEST): string {
  if (text.length <= longest && SAFE.test(text)) return text;
  const lines = withoutSequences(text, longest).replace(/\r\n?/g, '\n').replaceAll('\t', '    ').split('\n');
  return cut(lines.map((line) => visible(line, longest)).join('\n'), longest);
}

/** One line of safe text: line breaks and runs of blanks become single spaces. */
export function plainLine(text: string, longest = LONGEST): string {
  if (text.length <= longest && SAFE.test(text) && !LOOSE.test(text)) return text;
  return cut(
    visible(
      withoutSequences(text, longest)
        .replace(/[\s\u2028\u2029]+/g, ' ')
        .trim(),
      longest,
    ),
    longest,
  );
}

/** A command as one line of safe text. Its blanks are part of it: `Bearer   KEY` is another request than `Bearer KEY`. */
export function plainCommand(text: string): string {
  return plainText(text).replaceAll('\n', ' ').trim();
}

/** At most `longest` UTF-16 units, an ellipsis included; never half of a surrogate pair. */
export function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, Math.max(0, longest - 1)).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Cut first, with room for the sequences that are taken out, so that no text is searched at any length. */
function withoutSequences(text: string, longest: number): string {
  return stripVTControlCharacters(cut(text, longest * 2));
}
