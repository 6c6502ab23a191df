/** Text for people. */

/** As a sentence of its own: a path at its head stays as it is, and no stop follows another. */
export function asSentence(text: string): string {
  const whole = /^\S*\/\S/.test(text) ? text : capitalized(text);
  return /[.?!]$/.test(whole) ? whole : `${whole}.`;
}

/** `orders, search and stock` */
export function listed(items: readonly (string | number)[], word = 'and'): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${word} ${items.at(-1)}`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `12,480`, with at most three decimals. By hand: the first number that `Intl` writes costs as much as a Node that starts. */
export function grouped(n: number): string {
  return String(Math.round(n * 1_000) / 1_000).replace(/\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g, ',');
}

/** Of what is left the share that stands before the gap: the beginning of a value tells most of it. */
const BEFORE = 2 / 3;

/**
 * A value that is longer than so many UTF-16 units without its middle, in whose place its size stands:
 * `kkkkkkkkkk…9,216 characters…kkkkk`. However values are shown, long ones are shortened by this; the whole is in the
 * evidence. Never half of a surrogate pair.
 */
export function shortened(value: string, longest: number): string {
  if (value.length <= longest) return value;
  const gap = `…${grouped(value.length)} characters…`;
  const room = Math.max(0, longest - gap.length);
  const before = Math.ceil(room * BEFORE);
  const head = value.slice(0, before).replace(/[\ud800-\udbff]$/, '');
  const tail = value.slice(value.length - (room - before)).replace(/^[\udc00-\udfff]/, '');
  return `${head}${gap}${tail}`;
}

/** A text in which every value, which is a run without blanks, is `shortened`. */
export function withShortValues(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return text.replace(/\S+/g, (value) => shortened(value, longest));
}
