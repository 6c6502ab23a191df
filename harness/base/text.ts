/** Text for people. */

/** As a sentence: a leading path keeps its case, and an existing full stop is not doubled. */
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

/** `1 request`, `1254 requests`: with plain digits, as messages of checks have them. */
export function numberOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `12,480`, with at most three decimals. Not by `Intl`: its first use costs as much as starting Node. */
export function grouped(n: number): string {
  return String(Math.round(n * 1_000) / 1_000).replace(/\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g, ',');
}

/** Share of the kept text that comes before the gap: the beginning of a value says most about it. */
const BEFORE = 2 / 3;

/**
 * The value without its middle if it is longer than `longest` UTF-16 units: `kkkkkkkkkk…9,216 characters…kkkkk`. All
 * long values are shortened in this way; the evidence has the whole. Surrogate pairs stay whole.
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

/** The text with each of its values (runs without blanks) `shortened`; values that differ in their middle still do. */
export function withShortValues(text: string, longest: number): string {
  if (text.length <= longest) return text;
  let before = '';
  return text.replace(/\S+/g, (value) => {
    if (value.length <= longest) return value;
    const short = shortened(value, longest);
    const at = short === shortened(before, longest) ? firstDifference(value, before) : -1;
    before = value;
    if (at < 0) return short;
    const size = `${grouped(value.length)} characters`;
    return `${around(value, 0, longest / 4)}…${around(value, at, longest / 3)}…${size}…`;
  });
}

/** -1 for none. */
function firstDifference(one: string, other: string): number {
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return at;
  return -1;
}

/** `longest` units around a place, but no half of a surrogate pair. */
function around(value: string, at: number, longest: number): string {
  const from = Math.max(0, Math.floor(at - longest / 2));
  return value
    .slice(from, from + Math.floor(longest))
    .replace(/^[\udc00-\udfff]/, '')
    .replace(/[\ud800-\udbff]$/, '');
}

/** A value as it stands in `application/x-www-form-urlencoded`. */
export function formEncoded(value: string): string {
  return new URLSearchParams({ value }).toString().slice('value='.length);
}
