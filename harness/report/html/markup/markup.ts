import type { Outcome } from '../../../base/verdict.ts';
import { plainText } from '../../results/words/plain.ts';
import type { Sign } from '../../results/words/words.ts';

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

const REFERENCES = new Map(Object.entries({ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' }));

/** A template that escapes every text, also in attributes, and names invisible characters. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return new Markup(strings.reduce((page, part, index) => page + sourceOf(pieces[index - 1]) + part));
}

function sourceOf(piece: Piece): string {
  if (piece === null || piece === undefined || piece === false) return '';
  if (piece instanceof Markup) return piece.toString();
  if (typeof piece === 'object') return piece.map(sourceOf).join('');
  return plainText(String(piece)).replace(/[&<>"']/g, (character) => `&${REFERENCES.get(character)};`);
}

/** For our own style, script and encoded evidence; never for anything that a service or a user said. */
export function trusted(source: string): Markup {
  return new Markup(source);
}

/** Compilers rewrite a template that holds it. */
export const SCRIPT_END = trusted('</script>');

/** Every outcome has a shape of its own, which colour only repeats. Drawn on 16 by 16. */
const SHAPES = {
  pass: '<path d="M2.5 8.6 6.2 12.3 13.6 4.4" fill="none" stroke="currentColor" stroke-width="1.9"/>',
  conforms:
    '<circle cx="8" cy="8" r="8" fill="currentColor"/><path d="M4.6 8.3 7 10.7l4.5-5" class="cut" stroke-width="1.7"/>',
  fail: '<circle cx="8" cy="8" r="8" fill="currentColor"/><path d="m5.3 5.3 5.4 5.4m0-5.4-5.4 5.4" class="cut" stroke-width="1.8"/>',
  warning:
    '<path d="M8 1.8 15 14.2H1z" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round"/><path d="M8 6.2v4" stroke="currentColor" stroke-width="1.5"/><circle cx="8" cy="12" r=".9" fill="currentColor"/>',
  blocked:
    '<circle cx="8" cy="8" r="6.7" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="m3.4 12.6 9.2-9.2" stroke="currentColor" stroke-width="1.5"/>',
  known:
    '<circle cx="8" cy="8" r="6.7" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M8 1.3a6.7 6.7 0 0 0 0 13.4z" fill="currentColor"/>',
  observed:
    '<path d="M8 1.6 14.4 8 8 14.4 1.6 8z" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round"/>',
  skipped: '<path d="M3 8h10" stroke="currentColor" stroke-width="1.8"/>',
  error:
    '<rect width="16" height="16" rx="4" fill="currentColor"/><path d="M8 3.4v5.8" class="cut" stroke-width="2"/><circle cx="8" cy="12" r="1.3" class="dot"/>',
  chevron: '<path d="m6 3.5 4.5 4.5L6 12.5" fill="none" stroke="currentColor" stroke-width="1.5"/>',
  search:
    '<circle cx="7" cy="7" r="4.8" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="m10.6 10.6 3.9 3.9" stroke="currentColor" stroke-width="1.5"/>',
  theme:
    '<circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M8 1.8a6.2 6.2 0 0 1 0 12.4z" fill="currentColor"/>',
  mark: '<rect width="16" height="16" rx="4" fill="currentColor"/><rect x="5" y="5" width="6" height="6" rx="1.4" class="dot"/>',
} as const;

type IconShape = keyof typeof SHAPES;

/** `color` is that in a tab, which has no style of ours. */
const OF_SIGN: Readonly<Record<Sign, { readonly shape: IconShape; readonly color: string }>> = {
  pass: { shape: 'conforms', color: '#1c6b3c' },
  fail: { shape: 'fail', color: '#b8231a' },
  blocked: { shape: 'blocked', color: '#6a41b0' },
  partial: { shape: 'known', color: '#696e75' },
  error: { shape: 'error', color: '#17181a' },
};

/** The shapes, once in a page; `icon` refers to them. */
export function sprite(): Markup {
  const symbols = Object.entries(SHAPES).map(
    ([name, shape]) => html`<symbol id="i-${name}" viewBox="0 0 16 16">${trusted(shape)}</symbol>`,
  );
  return html`<svg hidden>${symbols}</svg>`;
}

/** Always beside a word, a number with a heading, or as `outcomeIcon`. */
export function icon(shape: IconShape, tone: string = shape): Markup {
  return html`<svg class="i ${tone}" aria-hidden="true"><use href="#i-${shape}"/></svg>`;
}

/** The outcome as a shape, with its word for readers who do not see it. */
export function outcomeIcon(outcome: Outcome): Markup {
  return html`${icon(outcome)}<span class="unseen">${outcome} </span>`;
}

export function signIcon(sign: Sign): Markup {
  return icon(OF_SIGN[sign].shape, `sign ${sign}`);
}

export function chevron(): Markup {
  return icon('chevron');
}

/** So that the verdict is seen in a row of tabs. */
export function tabIcon(sign: Sign): string {
  const { shape, color } = OF_SIGN[sign];
  const drawn = SHAPES[shape]
    .replaceAll('currentColor', color)
    .replaceAll('class="cut"', 'fill="none" stroke="#fff"')
    .replaceAll('class="dot"', 'fill="#fff"');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${drawn}</svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}
