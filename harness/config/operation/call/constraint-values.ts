import { isDeepStrictEqual } from 'node:util';
import type { SchemaBook } from '../../../wire/json/schema.ts';
import type { ConstraintTrial, Facets, InputTrialKind } from './call.ts';
import { refusalBy } from './refusal.ts';

/** Values at the bounds of what a schema states, inside and outside. */

/** One value that tries one keyword of a schema. */
export interface ConstraintValue extends Pick<ConstraintTrial, 'keyword' | 'side'> {
  readonly kind: InputTrialKind;
  readonly value: unknown;
  /** The constraint in words: `at most 100`. */
  readonly wanted: string;
}

/** Longer texts and lists are not sent. */
const MAX_TEXT = 2_000;
const MAX_ITEMS = 100;
/** Bounds that come with a type (`int32` and wider) are no limits of a service. */
const MAX_BOUND = 2 ** 31 - 1;

/** What no lenient reading takes for a value of the type. */
const OTHER_TYPE: ReadonlyMap<string | null, unknown> = new Map<string, unknown>([
  ['integer', 'conform-not-an-integer'],
  ['number', 'conform-not-a-number'],
  ['boolean', 'conform-not-a-boolean'],
  ['object', 'conform-not-an-object'],
  ['array', 'conform-not-an-array'],
  ['string', { conform: 'not a string' }],
]);

/** Types whose other values are of another type. */
const UNTRIED: ReadonlySet<string | null> = new Set(['boolean', 'object', 'array']);

/** Types in the order in which services confuse them least. */
export function typeRank({ type }: Facets): number {
  return [...OTHER_TYPE.keys()].indexOf(type);
}

/** Names whose values mean something elsewhere, so that not every text serves. */
const REFERENCE =
  /(?:id|ids|ref|uri|url|href|link|key|code|parent|owner|user|username|login|email|phone|status|state|type|kind|sort|order|by|fields?|cursor|token|locale|lang|language|country|currency|version|sku|slug|hash|date|time|zone|filter|expand|include)$/i;

/** Texts that get lost where bytes are taken for characters. */
const UNUSUAL_TEXTS: readonly (readonly [words: string, text: string])[] = [
  ['letters beyond ASCII', 'Größe 漢字'],
  ['an emoji', 'conform 👍🏽'],
  ['a combining sequence', 'cafe\u0301'],
];

/** Not one of these is a value of a format that services check. */
const NO_FORMAT = 'conform: of no format';
const CHECKED_FORMATS: ReadonlySet<unknown> = new Set([
  'date',
  'date-time',
  'time',
  'uuid',
  'email',
  'ipv4',
  'ipv6',
  'uri',
]);

const NO_MATCH = ['conform has no match!', '~', '0', 'a', 'A', '-', ' '];

/**
 * The values that try the keywords of one schema. `shown`: a valid value; undefined if none is known.
 * `isNamedFreely`: any text serves.
 */
export class ConstraintValues {
  readonly #facets: Facets;
  readonly #shown: () => unknown;
  readonly #book: SchemaBook;

  constructor(facets: Facets, shown: () => unknown, book: SchemaBook) {
    this.#facets = facets;
    this.#shown = shown;
    this.#book = book;
  }

  /** Of another type than the documented one. */
  *ofOtherType(): Generator<ConstraintValue> {
    const { type } = this.#facets;
    const value = OTHER_TYPE.get(type);
    if (value !== undefined)
      yield { kind: 'wrong-type', keyword: 'type', side: 'outside', value, wanted: String(type) };
  }

  /** Just outside. Each breaks no other keyword than the one that it names. */
  *outside(): Generator<ConstraintValue> {
    for (const each of [...this.#beyond(), ...this.#ofOtherForm(), ...this.#ofOtherItems()])
      if (this.#breaksOnly(each)) yield { ...each, side: 'outside' };
  }

  /** At the bound, or unusual. */
  *inside(): Generator<ConstraintValue> {
    const found: unknown[] = [this.#shown()];
    for (const each of [...this.#atBounds(), ...this.#atLengths(), ...this.#ofFewestItems()]) {
      if (found.some((other) => isDeepStrictEqual(other, each.value))) continue;
      found.push(each.value);
      yield { kind: 'boundary', ...each, side: 'inside' };
    }
  }

  /** Texts that any service for people has to take. */
  *unusualTexts(name: string): Generator<ConstraintValue> {
    if (!this.#isFreeText(name)) return;
    for (const [wanted, value] of UNUSUAL_TEXTS)
      yield { kind: 'text', keyword: 'type', side: 'inside', value, wanted };
    const { maxLength } = this.#facets.keywords;
    if (isLength(maxLength) && maxLength > 0) {
      const wanted = `${charactersIn(maxLength)}, ${2 * maxLength} bytes`;
      const value = 'é'.repeat(maxLength);
      yield { kind: 'characters', keyword: 'maxLength', side: 'inside', value, wanted };
    }
  }

  #isFreeText(name: string): boolean {
    const { type, keywords } = this.#facets;
    const isBound = ['format', 'pattern', 'enum', 'const', 'contentEncoding'].some(
      (each) => each in keywords,
    );
    return type === 'string' && !isBound && !REFERENCE.test(name.replaceAll(/[^A-Za-z]+$/g, ''));
  }

  *#beyond(): Generator<Outside> {
    const { type, keywords } = this.#facets;
    if (type === 'integer' || type === 'number') {
      const least = type === 'integer' ? 1 : 0.5;
      const step = isStep(keywords.multipleOf) ? keywords.multipleOf : least;
      const bounds: readonly (readonly [keyword: string, step: number, words: string])[] = [
        ['maximum', step, 'at most'],
        ['minimum', -step, 'at least'],
        ['exclusiveMaximum', 0, 'less than'],
        ['exclusiveMinimum', 0, 'more than'],
      ];
      for (const [keyword, by, words] of bounds) {
        const bound = keywords[keyword];
        if (typeof bound !== 'number' || Math.abs(bound) > 2 ** 52) continue;
        yield { kind: 'out-of-range', keyword, value: bound + by, wanted: `${words} ${bound}` };
      }
      yield* this.#noMultiples(type);
    }
    const keyword = 'const' in keywords ? 'const' : 'enum';
    if (keyword in keywords && !UNTRIED.has(type)) {
      const value = type === 'integer' || type === 'number' ? 1_000_003 : 'conform-no-such-value';
      const wanted =
        keyword === 'enum' ? 'none of the enumerated values' : `only ${JSON.stringify(keywords.const)}`;
      yield { kind: 'out-of-range', keyword, value, wanted };
    }
    if (type !== 'string') return;
    const { maxLength, minLength } = keywords;
    if (isLength(maxLength))
      yield* this.#ofLength(maxLength + 1, 'maxLength', `at most ${charactersIn(maxLength)}`);
    // Servers often treat an empty value as absent.
    if (isLength(minLength) && minLength > 1)
      yield* this.#ofLength(minLength - 1, 'minLength', `at least ${charactersIn(minLength)}`);
  }

  *#ofLength(length: number, keyword: string, wanted: string): Generator<Outside> {
    const fitting = this.#texts(length).find((value) => this.#breaksOnly({ keyword, value }));
    if (fitting !== undefined) yield { kind: 'out-of-range', keyword, value: fitting, wanted };
  }

  /** Texts of that many characters, which a pattern may admit. */
  #texts(length: number): readonly string[] {
    const plain = ['a'.repeat(length)];
    if (!('pattern' in this.#facets.keywords)) return plain;
    const shown = this.#shown();
    if (typeof shown !== 'string' || shown === '') return plain;
    const characters = [...shown];
    const longer =
      characters.join('') + (characters.at(-1) ?? '').repeat(Math.max(0, length - characters.length));
    return [[...longer].slice(0, length).join(''), ...plain, '0'.repeat(length), 'A'.repeat(length)];
  }

  *#noMultiples(type: string): Generator<Outside> {
    const { multipleOf: step, minimum = 0 } = this.#facets.keywords;
    if (!isStep(step) || (type === 'integer' && step <= 1)) return;
    const from = Math.ceil(Number(minimum) / step) * step;
    const values = (type === 'integer' ? [1, 2] : [step / 2, step / 3]).flatMap((by) => [
      from + step + by,
      from + by,
    ]);
    const value = values.find((each) => this.#breaksOnly({ keyword: 'multipleOf', value: each }));
    if (value !== undefined)
      yield { kind: 'multiple', keyword: 'multipleOf', value, wanted: `a multiple of ${step}` };
  }

  *#ofOtherForm(): Generator<Outside> {
    const { type, keywords } = this.#facets;
    const { pattern, format, minLength = 0, maxLength = MAX_TEXT } = keywords;
    if (type === 'integer' && format === 'int32')
      yield { kind: 'format', keyword: 'format', value: 2 ** 31, wanted: 'int32' };
    if (type !== 'string') return;
    if (typeof pattern === 'string') {
      const sized = NO_MATCH.flatMap((text) => {
        const filled = text.repeat(Math.max(1, Math.ceil(Number(minLength) / text.length)));
        return [text, filled.slice(0, Number(maxLength))];
      });
      const value = sized.find((each) => this.#breaksOnly({ keyword: 'pattern', value: each }));
      if (value !== undefined)
        yield { kind: 'pattern', keyword: 'pattern', value, wanted: `matches ${pattern}` };
    }
    if (CHECKED_FORMATS.has(format))
      yield { kind: 'format', keyword: 'format', value: NO_FORMAT, wanted: String(format) };
  }

  *#ofOtherItems(): Generator<Outside> {
    const { minItems, maxItems, uniqueItems } = this.#facets.keywords;
    if (this.#facets.type !== 'array') return;
    if (isCount(maxItems) && maxItems < MAX_ITEMS) {
      const value = this.#items(maxItems + 1);
      if (value !== null)
        yield { kind: 'items', keyword: 'maxItems', value, wanted: `at most ${itemsIn(maxItems)}` };
    }
    if (isCount(minItems) && minItems > 0) {
      const value = this.#items(minItems - 1);
      if (value !== null)
        yield { kind: 'items', keyword: 'minItems', value, wanted: `at least ${itemsIn(minItems)}` };
    }
    const [item] = this.#items(1) ?? [];
    if (uniqueItems === true && item !== undefined) {
      const value = Array.from({ length: Math.max(2, Number(minItems ?? 0)) }, () => item);
      yield { kind: 'items', keyword: 'uniqueItems', value, wanted: 'no item twice' };
    }
  }

  /** A list with that number of items, distinct if they have to be; null if none can be made of the one shown. */
  #items(count: number): readonly unknown[] | null {
    const shown = this.#shown();
    const known = Array.isArray(shown) ? (shown as readonly unknown[]) : [];
    if (count <= known.length) return known.slice(0, count);
    const [item] = known;
    if (item === undefined) return null;
    if (this.#facets.keywords.uniqueItems !== true)
      return Array.from({ length: count }, (_, at) => known[at] ?? item);
    const refuses = refusalBy(this.#book, this.#facets.keywords.items ?? null);
    const items = [...known];
    for (const other of othersLike(item)) {
      if (items.length === count) break;
      if (!refuses(other) && !items.includes(other)) items.push(other);
    }
    return items.length === count ? items : null;
  }

  *#atBounds(): Generator<Inside> {
    const { type, keywords } = this.#facets;
    if (type === 'integer' || type === 'number') {
      const least = type === 'integer' ? 1 : 0.5;
      const step = isStep(keywords.multipleOf) ? keywords.multipleOf : least;
      const bounds: readonly (readonly [keyword: string, step: number, words: string])[] = [
        ['maximum', 0, 'at most'],
        ['minimum', 0, 'at least'],
        ['exclusiveMaximum', -step, 'less than'],
        ['exclusiveMinimum', step, 'more than'],
      ];
      for (const [keyword, by, words] of bounds) {
        const bound = keywords[keyword];
        if (typeof bound !== 'number' || Math.abs(bound) >= MAX_BOUND) continue;
        yield { keyword, value: bound + by, wanted: `${words} ${bound}` };
      }
      if (isStep(keywords.multipleOf)) {
        const from = Math.ceil(Number(keywords.minimum ?? step) / step) * step;
        const wanted = `a multiple of ${step}`;
        yield { keyword: 'multipleOf', value: from + step, wanted };
      }
    }
    const { enum: listed } = keywords;
    const last = Array.isArray(listed) ? listed.findLast((each) => each !== null && each !== '') : undefined;
    if (last !== undefined) yield { keyword: 'enum', value: last, wanted: 'one of the enumerated values' };
    if ([keywords.type].flat().includes('null'))
      yield { keyword: 'type', value: null, wanted: `${type ?? 'another type'} or null` };
  }

  *#atLengths(): Generator<Inside> {
    const { type, keywords } = this.#facets;
    if (type !== 'string' || 'enum' in keywords || 'const' in keywords || 'format' in keywords) return;
    const { maxLength, minLength } = keywords;
    const fitting = (length: number) => this.#texts(length).find((each) => this.#isFree(each));
    if (isLength(maxLength) && maxLength > 0) {
      const value = fitting(maxLength);
      if (value !== undefined)
        yield { keyword: 'maxLength', value, wanted: `at most ${charactersIn(maxLength)}` };
    }
    if (isLength(minLength) && minLength > 0) {
      const value = fitting(minLength);
      if (value !== undefined)
        yield { keyword: 'minLength', value, wanted: `at least ${charactersIn(minLength)}` };
    }
  }

  *#ofFewestItems(): Generator<Inside> {
    const { minItems, maxItems } = this.#facets.keywords;
    if (this.#facets.type !== 'array') return;
    if (isCount(maxItems) && maxItems > 0 && maxItems <= MAX_ITEMS) {
      const value = this.#items(maxItems);
      if (value !== null) yield { keyword: 'maxItems', value, wanted: `at most ${itemsIn(maxItems)}` };
    }
    if (isCount(minItems) && minItems > 0 && minItems <= MAX_ITEMS) {
      const value = this.#items(minItems);
      if (value !== null) yield { keyword: 'minItems', value, wanted: `at least ${itemsIn(minItems)}` };
    }
  }

  #isFree(value: unknown): boolean {
    return this.#broken(value).length === 0;
  }

  #breaksOnly({ keyword, value }: Pick<Outside, 'keyword' | 'value'>): boolean {
    return this.#broken(value).every((each) => each === keyword);
  }

  /** The keywords that a value of the type breaks. */
  #broken(value: unknown): readonly string[] {
    const { keywords } = this.#facets;
    const bound = (name: string, isKept: (limit: number) => boolean): readonly string[] => {
      const limit = keywords[name];
      return typeof limit === 'number' && !isKept(limit) ? [name] : [];
    };
    const broken: string[] = [];
    if (Array.isArray(keywords.enum) && !keywords.enum.some((each) => isDeepStrictEqual(each, value)))
      broken.push('enum');
    if ('const' in keywords && !isDeepStrictEqual(keywords.const, value)) broken.push('const');
    if (typeof value === 'number') {
      broken.push(
        ...bound('maximum', (limit) => value <= limit),
        ...bound('minimum', (limit) => value >= limit),
        ...bound('exclusiveMaximum', (limit) => value < limit),
        ...bound('exclusiveMinimum', (limit) => value > limit),
        ...bound('multipleOf', (limit) => isMultiple(value, limit)),
      );
    }
    if (typeof value === 'string') {
      const length = [...value].length;
      broken.push(
        ...bound('maxLength', (limit) => length <= limit),
        ...bound('minLength', (limit) => length >= limit),
        ...['pattern', 'format'].filter((name) => this.#refusesText(name, value)),
      );
    }
    if (Array.isArray(value)) {
      broken.push(
        ...bound('maxItems', (limit) => value.length <= limit),
        ...bound('minItems', (limit) => value.length >= limit),
      );
      const isRepeated = value.some((item, at) =>
        value.slice(0, at).some((other) => isDeepStrictEqual(other, item)),
      );
      if (keywords.uniqueItems === true && isRepeated) broken.push('uniqueItems');
    }
    return broken;
  }

  /** The book bounds the time that a pattern takes. */
  #refusesText(keyword: string, value: string): boolean {
    const { [keyword]: given } = this.#facets.keywords;
    return given !== undefined && refusalBy(this.#book, { [keyword]: given })(value);
  }
}

type Outside = Omit<ConstraintValue, 'side'>;
type Inside = Omit<ConstraintValue, 'side' | 'kind'>;

function isLength(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < MAX_TEXT;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function isStep(value: unknown): value is number {
  return typeof value === 'number' && value > 0;
}

function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) < 1e-6;
}

/** Other values of the same type, as many as a list may need; none if they cannot be counted. */
function othersLike(item: unknown): readonly unknown[] {
  const counts = Array.from({ length: MAX_ITEMS + 1 }, (_, at) => at + 1);
  if (typeof item === 'number') return counts.map((at) => item + at);
  if (typeof item !== 'string') return [];
  return [...counts.map((at) => `${item}${at}`), ...counts.map((at) => item + 'a'.repeat(at))];
}

function charactersIn(count: number): string {
  return `${count} character${count === 1 ? '' : 's'}`;
}

function itemsIn(count: number): string {
  return `${count} item${count === 1 ? '' : 's'}`;
}
