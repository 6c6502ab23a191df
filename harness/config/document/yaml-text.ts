import {
  CORE_SCHEMA,
  constructFromEvents,
  defineMappingTag,
  defineScalarTag,
  defineSequenceTag,
  EVENT_ID,
  getScalarValue,
  mapTag,
  mergeTag,
  parseEvents,
  SCALAR_STYLE,
  seqTag,
  strTag,
  YAMLException,
} from 'js-yaml';

/** A key that a mapping has already, at its offset in the text. */
export interface RepeatedKey {
  readonly key: string;
  readonly offset: number;
}

export interface YamlText {
  readonly root: unknown;
  readonly repeatedKeys: readonly RepeatedKey[];
  readonly places: YamlPlaces;
}

/** Position of a fault of syntax, in characters from the beginning of the text. */
export interface YamlTextFault {
  readonly reason: string;
  readonly offset: number;
}

type YamlEvent = ReturnType<typeof parseEvents>[number];

/** One more level than the bound of a document, which has a message of its own. */
const MAX_DEPTH = 1_000;

/** Own tags of a tool mean nothing here: their values are read as if they had none. */
const UNKNOWN_TAGS = ['!', 'tag:'].flatMap((prefix) => [
  defineScalarTag(prefix, { ...strTag, implicit: false, matchByTagPrefix: true, identify: () => false }),
  defineSequenceTag(prefix, { ...seqTag, matchByTagPrefix: true, identify: () => false }),
  defineMappingTag(prefix, { ...mapTag, matchByTagPrefix: true, identify: () => false }),
]);
const SCHEMA = CORE_SCHEMA.withTags(mergeTag, ...UNKNOWN_TAGS);

/** Plain data of a YAML 1.2 text with one document. Keys are text as written, and the last of a repeated key counts. */
export function readYamlText(text: string): YamlText | YamlTextFault {
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    const places = new YamlPlaces(events);
    const repeatedKeys = holdKeysAsText(events, text, places);
    const [root, second] = constructFromEvents(events, { source: text, schema: SCHEMA, json: true });
    if (second !== undefined) return { reason: 'holds a second document', offset: 0 };
    return { root: root ?? null, repeatedKeys, places };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { reason: error.reason, offset: error.mark?.position ?? 0 };
  }
}

/** `1.0` as a key is text: a plain scalar would be a number. */
function holdKeysAsText(
  events: readonly YamlEvent[],
  text: string,
  places: YamlPlaces,
): readonly RepeatedKey[] {
  const repeated: RepeatedKey[] = [];
  const keysByMapping = new Map<YamlEvent, Set<string>>();
  for (const [index, event, mapping] of keysOf(events)) {
    const key = getScalarValue(text, event);
    places.addKey(index, key);
    if (key === '<<') continue;
    const offset = startOf(event);
    if (event.style === SCALAR_STYLE.PLAIN && event.fast) event.style = SCALAR_STYLE.SINGLE_QUOTED;
    const keys = keysByMapping.get(mapping) ?? new Set();
    if (keys.size === 0) keysByMapping.set(mapping, keys);
    if (keys.has(key)) repeated.push({ key, offset });
    keys.add(key);
  }
  return repeated;
}

type ScalarEvent = Extract<YamlEvent, { readonly type: typeof EVENT_ID.SCALAR }>;

/** How an event changes the depth. */
const DEPTHS: Readonly<Record<number, number>> = {
  [EVENT_ID.DOCUMENT]: 1,
  [EVENT_ID.SEQUENCE]: 1,
  [EVENT_ID.MAPPING]: 1,
  [EVENT_ID.SCALAR]: 0,
  [EVENT_ID.ALIAS]: 0,
  [EVENT_ID.POP]: -1,
};

/** The keys of all mappings that are scalars, with their indexes and their mapping. */
function* keysOf(
  events: readonly YamlEvent[],
): Generator<readonly [index: number, key: ScalarEvent, mapping: YamlEvent]> {
  const open: { readonly event: YamlEvent; isKeyNext: boolean }[] = [];
  for (const [index, event] of events.entries()) {
    const around = open.at(-1);
    if (event.type !== EVENT_ID.POP && around?.event.type === EVENT_ID.MAPPING) {
      if (around.isKeyNext && event.type === EVENT_ID.SCALAR) yield [index, event, around.event];
      around.isKeyNext = !around.isKeyNext;
    }
    if (DEPTHS[event.type] === 1) open.push({ event, isKeyNext: true });
    else if (event.type === EVENT_ID.POP) open.pop();
  }
}

/** Offsets of the values of a YAML text, looked up on demand: far smaller than its events. */
export class YamlPlaces {
  /** Of each event, in the order of the text. */
  readonly #types: Uint8Array;
  readonly #starts: Int32Array;
  /** Of each event that is a key of a mapping: its number in the list of names. 0 if it is none. */
  readonly #keys: Int32Array;
  readonly #names: string[] = [''];
  readonly #numbers = new Map<string, number>();
  /** Indexes of the events of members and items, by the index of the collection. */
  readonly #within = new Map<number, ReadonlyMap<string, number>>();

  constructor(events: readonly YamlEvent[]) {
    this.#types = Uint8Array.from(events, ({ type }) => type);
    this.#starts = Int32Array.from(events, startOf);
    this.#keys = new Int32Array(events.length);
  }

  addKey(index: number, name: string): void {
    const number = this.#numbers.get(name) ?? this.#names.push(name) - 1;
    this.#numbers.set(name, number);
    this.#keys[index] = number;
  }

  /** The offset of the value at a pointer, or of the nearest around it. */
  offsetOf(pointer: readonly string[]): number {
    // The first event is the document itself.
    let at = 1;
    for (const token of pointer) {
      const inner = this.#membersAt(at).get(token);
      if (inner === undefined) break;
      at = inner;
    }
    return Math.max(0, this.#starts[at] ?? 0);
  }

  #membersAt(index: number): ReadonlyMap<string, number> {
    const known = this.#within.get(index);
    if (known !== undefined) return known;
    const members = new Map<string, number>();
    this.#within.set(index, members);
    const isMapping = this.#types[index] === EVENT_ID.MAPPING;
    if (!isMapping && this.#types[index] !== EVENT_ID.SEQUENCE) return members;
    for (let at = index + 1; at < this.#types.length && this.#types[at] !== EVENT_ID.POP; ) {
      const key = this.#keys[at] ?? 0;
      const name = !isMapping ? String(members.size) : key === 0 ? undefined : this.#names[key];
      if (isMapping) at = this.#past(at);
      if (name !== undefined) members.set(name, at);
      at = this.#past(at);
    }
    return members;
  }

  /** The index of the event after a value. */
  #past(index: number): number {
    let depth = 0;
    for (let at = index; at < this.#types.length; at += 1) {
      depth += DEPTHS[this.#types[at] ?? EVENT_ID.POP] ?? 0;
      if (depth === 0) return at + 1;
    }
    return this.#types.length;
  }
}

function startOf(event: YamlEvent): number {
  if (event.type === EVENT_ID.SCALAR) {
    const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    return isQuoted ? event.valueStart - 1 : event.valueStart;
  }
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart;
  return event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE ? event.start : 0;
}
