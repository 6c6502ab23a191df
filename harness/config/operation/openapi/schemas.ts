import { upgradeFromThreeToThreeOne } from '@scalar/openapi-upgrader/3.0-to-3.1';
import { UsageError } from '../../../base/exit.ts';
import { hasMembers, isJsonObject, type JsonObject } from '../../../base/json-text.ts';
import { reasonOf } from '../../../base/thrown.ts';
import { type Dialect, LATEST } from '../../../wire/json/dialect.ts';
import { readPattern } from '../../../wire/json/pattern.ts';
import { holdToDialect, SchemaBook } from '../../../wire/json/schema.ts';
import { namedDialect } from '../../document/bundle.ts';
import type { SourceFiles } from '../../document/files.ts';
import {
  child,
  children,
  type DocumentNode,
  faultAt,
  pointerText,
  refOf,
  type SourceFile,
} from '../../document/source.ts';
import type { Version } from './outline.ts';

/** Which way the values of a schema travel: `readOnly` ones are never sent, `writeOnly` ones never answered. */
export type Direction = 'request' | 'response';

const MAX_SCHEMAS = 100_000;
const MAX_NESTING = 100;

/** How the values of a keyword are read. Other keywords say nothing about a value and are left out. */
const KEYWORDS = new Map(
  Object.entries({
    data: `type format nullable enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength
      minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties minProperties
      dependentRequired`,
    schemas: 'allOf anyOf oneOf prefixItems',
    // The last one of earlier drafts.
    schema: `not if then else items contains additionalProperties propertyNames unevaluatedItems
      unevaluatedProperties additionalItems`,
    'named-schemas': 'properties patternProperties dependentSchemas',
    // Of earlier drafts.
    dependencies: 'dependencies',
  } as const).flatMap(([reading, names]) => names.split(/\s+/).map((name) => [name, reading] as const)),
);

/** What helps to make up a value; only of interest in requests. */
const SAMPLES: ReadonlySet<string> = new Set(['default', 'example', 'examples']);

/** Schemas as JSON Schema 2020-12, one definition for each place, for values of one direction. */
export class OpenApiSchemas {
  /** By the URI with which they are referred to; grows with each schema taken. */
  readonly definitions: Record<string, unknown> = {};
  readonly book: SchemaBook;
  readonly #files: SourceFiles;
  readonly #direction: Direction;
  readonly #space: string;
  /** Before 3.1: keywords next to a reference are ignored, and `nullable` admits null. */
  readonly #isEarly: boolean;
  /** What schemas are written in that name nothing else. */
  readonly #dialect: Dialect;
  /** The document names a dialect that is not known, so no schema is read. */
  readonly unknownDialect: UsageError | null = null;
  readonly #uris = new Map<string, string>();
  readonly #byText = new Map<string, unknown>();
  readonly #pending: (readonly [uri: string, at: DocumentNode])[] = [];
  /** The URIs that each definition refers to. */
  readonly #links = new Map<string, Set<string>>();
  /** The member that tells a schema from its alternatives, with its value, by the place of the schema. */
  readonly #kinds = new Map<string, { readonly name: string; readonly value: string }>();
  readonly #faults = new Map<string, UsageError>();
  /** Definitions that lead to no fault. */
  readonly #sound = new Set<string>();
  /** The definition that is being read. */
  #reading: string | null = null;

  /** `dialect`: of schemas that name none, where it is no OpenAPI document. `space`: tells its URIs from those of other books. */
  constructor(
    files: SourceFiles,
    direction: Direction,
    version: Version,
    { dialect = LATEST, space = direction }: { readonly dialect?: Dialect; readonly space?: string } = {},
  ) {
    this.#files = files;
    this.#direction = direction;
    this.#space = space;
    this.#isEarly = version === '2.0' || version === '3.0';
    const named = child(files.root, 'jsonSchemaDialect');
    try {
      this.#dialect = namedDialect(named, dialect);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.#dialect = dialect;
      this.unknownDialect = error;
    }
    this.book = new SchemaBook(this.definitions, files.mention('unevaluatedProperties', 'unevaluatedItems'));
  }

  /** A schema that refers to the definition of this one. @throws UsageError if it, or one that it leads to, is invalid. */
  take(at: DocumentNode): { readonly $ref: string } {
    if (this.unknownDialect !== null) throw this.unknownDialect;
    this.#reading = null;
    const $ref = this.#uriOf(this.#meant(at));
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      const [uri, place] = next;
      this.#reading = uri;
      try {
        this.definitions[uri] = this.#once(this.#definition(place), place);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        this.#faults.set(uri, error);
      }
    }
    this.#holdSound($ref);
    return { $ref };
  }

  #holdSound(uri: string): void {
    const seen = new Set([uri]);
    for (const each of seen) {
      const fault = this.#faults.get(each);
      if (fault !== undefined) throw fault;
      if (!this.#sound.has(each)) for (const next of this.#links.get(each) ?? []) seen.add(next);
    }
    for (const each of seen) this.#sound.add(each);
  }

  /** What a schema that is a reference and nothing else stands for: most operations of a document share few schemas. */
  #meant(at: DocumentNode): DocumentNode {
    const ref = refOf(at.value);
    return ref !== null && Object.keys(at.value as object).length === 1 ? this.#files.target(ref, at) : at;
  }

  /** The same schema where it stands in several places. */
  #once(schema: unknown, at: DocumentNode): unknown {
    const text = JSON.stringify(schema);
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    try {
      holdToDialect(schema);
    } catch (error) {
      throw faultAt(at, `is not a JSON Schema: ${reasonOf(error)}`, 'correct the schema');
    }
    this.#byText.set(text, schema);
    return schema;
  }

  #uriOf(at: DocumentNode): string {
    const uri = this.#ownUri(at);
    if (this.#reading !== null) {
      const links = this.#links.get(this.#reading) ?? new Set();
      this.#links.set(this.#reading, links.add(uri));
    }
    return uri;
  }

  #ownUri(at: DocumentNode): string {
    const key = placeOf(at.file, at.pointer);
    const known = this.#uris.get(key);
    if (known !== undefined) return known;
    if (this.#uris.size >= MAX_SCHEMAS)
      throw faultAt(at, `needs more than ${MAX_SCHEMAS} schemas`, 'leave out operations that are not tested');
    const name = (at.pointer.at(-1) ?? 'schema').replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 60);
    const uri = `conform:${this.#space}/${this.#uris.size + 1}-${name}`;
    this.#uris.set(key, uri);
    this.#pending.push([uri, at]);
    return uri;
  }

  #definition(at: DocumentNode): unknown {
    const dialect = this.#dialectOf(at);
    const copy = this.#copied(at, dialect, 0);
    if (dialect === LATEST) return upgraded(copy);
    return isJsonObject(copy) ? { $schema: dialect.uri, ...copy } : copy;
  }

  /** What the schema names, or the nearest around it. */
  #dialectOf({ file, pointer }: DocumentNode): Dialect {
    let at: DocumentNode = { file, pointer: [], value: file.root };
    let dialect = namedDialect(child(at, '$schema'), this.#dialect);
    for (const token of pointer) {
      at = child(at, token);
      if (hasMembers(at.value)) dialect = namedDialect(child(at, '$schema'), dialect);
    }
    return dialect;
  }

  #copied(at: DocumentNode, dialect: Dialect, depth: number): unknown {
    if (depth > MAX_NESTING)
      throw faultAt(at, `is nested more than ${MAX_NESTING} deep`, 'name the inner schemas');
    if (typeof at.value === 'boolean') return at.value;
    if (!isJsonObject(at.value)) throw faultAt(at, 'is not a schema', 'write an object');
    this.#noteKinds(at);
    const named = namedDialect(child(at, '$schema'), dialect);
    if (named !== dialect) return { $ref: this.#uriOf(at) };
    const ref = refOf(at.value);
    if (ref !== null && dialect.lonelyRef) return this.#linked(ref, at);
    if (ref !== null && this.#isEarly) {
      // `nullable` is written there all the same.
      const link = this.#linked(ref, at);
      return isNullable(at) ? { anyOf: [link, { type: 'null' }] } : link;
    }
    const copy: Record<string, unknown> = ref === null ? {} : this.#linked(ref, at);
    for (const [name, inner] of children(at)) {
      const value = this.#keyword(name, inner, dialect, depth);
      if (value !== undefined) copy[name] = value;
    }
    for (const dynamic of ['$dynamicRef', '$recursiveRef']) {
      if (typeof at.value[dynamic] === 'string')
        throw faultAt(at, `uses ${dynamic}, which is not read here`, 'refer with $ref');
    }
    Object.assign(copy, this.#required(at), this.#isEarly && isNullable(at) ? { nullable: true } : {});
    return dialect === LATEST ? nullableUnion(copy) : copy;
  }

  /** A discriminator decides nothing about validity, but made-up values need its member (OpenAPI 3.1 §4.8.25). */
  #noteKinds(at: DocumentNode): void {
    const discriminator = child(at, 'discriminator');
    const { value: name } = child(discriminator, 'propertyName');
    if (this.#direction !== 'request' || typeof name !== 'string') return;
    for (const [, branch] of ['oneOf', 'anyOf'].flatMap((keyword) => children(child(at, keyword)))) {
      const ref = refOf(branch.value);
      if (ref === null) continue;
      const target = this.#files.target(ref, branch);
      const own = target.pointer.at(-1) ?? '';
      const isMeant = (meant: unknown) => meant === ref || meant === own;
      const [value = own] =
        children(child(discriminator, 'mapping')).find(([, { value: to }]) => isMeant(to)) ?? [];
      this.#kinds.set(placeOf(target.file, target.pointer), { name, value });
    }
  }

  /** A property of the schema at a place, with the value that tells it from its alternatives. */
  #ofKind(copy: unknown, { file, pointer }: DocumentNode): unknown {
    if (this.#kinds.size === 0 || !isJsonObject(copy)) return copy;
    let holder = pointer.slice(0, -2);
    while (holder.at(-2) === 'allOf') holder = holder.slice(0, -2);
    const kind = this.#kinds.get(placeOf(file, holder));
    if (kind === undefined || kind.name !== pointer.at(-1)) return copy;
    const isOpen = !('const' in copy) && (!Array.isArray(copy.enum) || copy.enum.includes(kind.value));
    return isOpen && [...SAMPLES].every((sample) => !(sample in copy))
      ? { ...copy, default: kind.value }
      : copy;
  }

  #linked(ref: string, at: DocumentNode): Record<string, unknown> {
    return { $ref: this.#uriOf(this.#files.target(ref, at)) };
  }

  #keyword(name: string, at: DocumentNode, dialect: Dialect, depth: number): unknown {
    if (SAMPLES.has(name)) {
      // An example in the wrong form is no reason to leave out its schema.
      const isUsable = name !== 'examples' || Array.isArray(at.value);
      return this.#direction === 'request' && isUsable ? at.value : undefined;
    }
    switch (KEYWORDS.get(name)) {
      case 'data':
        if (name === 'pattern') holdToPattern(at, at.value);
        return name === 'enum' && Array.isArray(at.value) ? enumerated(at.value) : at.value;
      case 'schema':
        // `items` was a list before 2020-12.
        if (!Array.isArray(at.value)) return this.#copied(at, dialect, depth + 1);
        return dialect === LATEST ? undefined : this.#all(at, dialect, depth);
      case 'schemas':
        return this.#all(at, dialect, depth);
      case 'dependencies':
        if (dialect === LATEST) return undefined;
        return this.#each(children(at), (inner) =>
          Array.isArray(inner.value) ? inner.value : this.#copied(inner, dialect, depth + 1),
        );
      case 'named-schemas':
        if (name === 'patternProperties') for (const [key, inner] of children(at)) holdToPattern(inner, key);
        return this.#each(
          this.#named(at).filter(([, inner]) => name !== 'properties' || this.#isKept(inner)),
          (inner) => {
            if (name !== 'properties') return this.#copied(inner, dialect, depth + 1);
            if (this.#isForeign(inner)) return { writeOnly: true };
            const copy = this.#ofKind(this.#copied(inner, dialect, depth + 1), inner);
            // Which members are the service's alone to set.
            return this.#isReadOnly(inner) && isJsonObject(copy) ? { ...copy, readOnly: true } : copy;
          },
        );
      default:
        return undefined;
    }
  }

  #all(at: DocumentNode, dialect: Dialect, depth: number): readonly unknown[] {
    return children(at).map(([, inner]) => this.#copied(inner, dialect, depth + 1));
  }

  #each(named: ReturnType<typeof children>, read: (inner: DocumentNode) => unknown): JsonObject {
    return Object.fromEntries(named.map(([key, inner]) => [key, read(inner)]));
  }

  /** Documents that are kept in many files refer to whole mappings too, which OpenAPI has no references for. */
  #named(at: DocumentNode): ReturnType<typeof children> {
    return children(this.#files.dereferenced(at));
  }

  /** A property that is never sent in a response stays known by name: it must not appear. */
  #isKept(property: DocumentNode): boolean {
    return this.#direction === 'response' || !this.#isForeign(property);
  }

  /** What travels the other way only is neither required nor judged in this one. */
  #isForeign(property: DocumentNode): boolean {
    return this.#isMarked(property, this.#direction === 'request' ? 'readOnly' : 'writeOnly');
  }

  #isReadOnly(property: DocumentNode): boolean {
    return this.#direction === 'response' && this.#isMarked(property, 'readOnly');
  }

  #isMarked(property: DocumentNode, flag: 'readOnly' | 'writeOnly'): boolean {
    if (child(property, flag).value === true) return true;
    return refOf(property.value) !== null && child(this.#files.dereferenced(property), flag).value === true;
  }

  #required(at: DocumentNode): { readonly required?: readonly unknown[] } {
    const { value: required } = child(at, 'required');
    if (!Array.isArray(required)) return {};
    const properties = this.#files.dereferenced(child(at, 'properties'));
    const known = new Set(required.filter((name) => typeof name === 'string'));
    return { required: [...known].filter((name) => !this.#isForeign(child(properties, name))) };
  }
}

function placeOf({ path }: SourceFile, pointer: readonly string[]): string {
  return `${path}${pointerText(pointer)}`;
}

/** Swagger 2.0 has no word for it; `x-nullable` is in use. */
function isNullable(at: DocumentNode): boolean {
  return child(at, 'nullable').value === true || child(at, 'x-nullable').value === true;
}

/** A duplicate is harmless, but no JSON Schema. Generators write an empty list where all values are hidden. */
function enumerated(values: readonly unknown[]): readonly unknown[] | undefined {
  return values.length === 0 ? undefined : [...new Set(values)];
}

function holdToPattern(at: DocumentNode, pattern: unknown): void {
  if (typeof pattern !== 'string') return;
  try {
    readPattern(pattern);
  } catch (error) {
    throw faultAt(at, `is no pattern: ${reasonOf(error)}`, 'correct the regular expression');
  }
}

/** `nullable` next to alternatives admits null: most authors mean it, against the letter of 3.0. */
function nullableUnion(schema: Record<string, unknown>): Record<string, unknown> {
  const { nullable, ...rest } = schema;
  if (nullable !== true) return rest;
  const values = Array.isArray(rest.enum) && !rest.enum.includes(null) ? { enum: [...rest.enum, null] } : {};
  if (typeof rest.type === 'string') return { ...rest, nullable, ...values };
  const union = ['allOf', 'anyOf', 'oneOf'].some((keyword) => keyword in rest);
  // Without a type null is admitted as it is.
  return union ? { anyOf: [{ ...rest, ...values }, { type: 'null' }] } : { ...rest, ...values };
}

/** In the dialect of 3.1. Schemas of 3.1 pass through it too, as they may have remains of 3.0. */
function upgraded(schema: unknown): unknown {
  // The library works on documents; this one has nothing else in it.
  const components = { schemas: { schema } };
  const document: unknown = upgradeFromThreeToThreeOne({ openapi: '3.0.3', components });
  const path = ['components', 'schemas', 'schema'];
  return path.reduce((node, name) => (hasMembers(node) ? node[name] : undefined), document);
}
