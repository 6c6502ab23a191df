import { plainText } from '../../results/words/plain.ts';

/** HTML that is safe to put into a page as it stands. Only `html` and `trusted` make it. */
export class Markup {
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  toString(): string {
    return this.#source;
  }
}

/** What may stand in a template; null, undefined and false leave nothing. */
export type Piece = string | number | Markup | null | undefined | false | readonly Piece[];

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A template in which every text is escaped, for content and for quoted attributes alike, and in which what could
 * hide or reorder what a reader sees is shown by name.
 */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return new Markup(strings.reduce((page, part, index) => page + sourceOf(pieces[index - 1]) + part));
}

function sourceOf(piece: Piece): string {
  if (piece === null || piece === undefined || piece === false) return '';
  if (piece instanceof Markup) return piece.toString();
  if (typeof piece === 'object') return piece.map(sourceOf).join('');
  return plainText(String(piece)).replace(/[&<>"']/g, (character) => REFERENCES[character] ?? character);
}

/** For our own style, script and encoded evidence; never for anything that a service or a user said. */
export function trusted(source: string): Markup {
  return new Markup(source);
}

/** Compilers rewrite a template that holds it. */
export const SCRIPT_END = trusted('</script>');
