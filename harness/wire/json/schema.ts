import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { DataValidateFunction, DataValidationCxt } from 'ajv/dist/types/index.js';
import { hasMembers, isJsonObject } from '../../base/json-text.ts';
import { TimeLimitReached } from '../../base/time-limit.ts';
import { Blocked } from '../../base/verdict.ts';
import { visible } from '../octets/utf8.ts';
import { type Dialect, dialectNamed, type Engine, LATEST } from './dialect.ts';
import { fitsLatest } from './latest-schema.ts';
import { PatternWatch } from './pattern.ts';

const require = createRequire(import.meta.url);
const formats = (): typeof import('ajv-formats') => require('ajv-formats');

/** The first thing in a JSON value that its schema refuses. */
interface SchemaFault {
  /** JSON Pointer (RFC 6901) of the value that is refused; '' is the whole. */
  readonly path: string;
  /** The keyword of the schema that refuses it: `required`, `type` … */
  readonly keyword: string;
  /** One line for a person. What it quotes of the value is escaped and bounded. */
  readonly message: string;
  /** The value fits several schemas of a `oneOf`, which do not exclude each other. */
  readonly isAmbiguous?: true;
  /** The name of a member that is missing, or that may not be there. */
  readonly member?: string;
}

/** @throws EndlessSchema, which says nothing about the value. */
export type SchemaJudge = (value: unknown) => SchemaFault | null;

/**
 * A schema that asks of a value to fit the very same schema, or so much else that it takes too long. A check that needs
 * its verdict is blocked.
 */
export class EndlessSchema extends Blocked {
  constructor(message = 'the schema refers to itself without end') {
    super(message);
    this.name = 'EndlessSchema';
  }
}

/**
 * References followed for one value. Alternatives that refer to alternatives multiply with each level of a schema, or
 * of the value; an array of a hundred thousand resources needs one reference for each.
 */
const MOST_FOLLOWED = 1_000_000;
/** How long judging may take, in ms. */
interface SchemaPatience {
  /** For one value, or one schema. */
  readonly eachMs: number;
  /** For all of them together that end without a verdict. */
  readonly allMs: number;
}

/** The worker must give a sign of life every few seconds. */
const PATIENCE: SchemaPatience = { eachMs: 3_000, allMs: 9_000 };

/** Characters of a schema, and values in a value, that are compiled and judged in no time. */
const LARGE_SCHEMA = 100_000;
const LARGE_VALUE = 1_000;

/** Schemas that others refer to, by the URI with which they do. */
export type Definitions = Readonly<Record<string, unknown>>;

const LINK = 'x-conform-ref';

/**
 * JSON Schemas that share definitions, each in the dialect that its `$schema` names, else 2020-12; with formats. Each
 * definition is compiled by itself, when it is first needed: a document may have hundreds that refer to each other, and
 * compiling them into one another would need a stack as deep as the longest chain.
 */
export class SchemaBook {
  readonly #definitions: Definitions;
  readonly #engines = new Map<Dialect, Engine>();
  /** By dialect and text: a schema in many places is compiled once. */
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #byUri = new Map<string, ValidateFunction>();
  readonly #registered = new Set<string>();
  readonly #patterns: PatternWatch;
  /** `unevaluated…` asks what a referenced schema has looked at, which only a reference proper can tell. */
  readonly #linked: boolean;
  /** References followed for the value at hand. */
  #followed = 0;
  readonly #patience: SchemaPatience;
  #patienceMs: number;

  /** @param definitions may still grow; then `unevaluated` tells whether they will use keywords of that name. */
  constructor(
    definitions: Definitions = {},
    unevaluated = mentionsUnevaluated(definitions),
    patience: SchemaPatience = PATIENCE,
  ) {
    this.#definitions = definitions;
    this.#linked = !unevaluated;
    this.#patterns = new PatternWatch(patience.eachMs, (reason) => new EndlessSchema(reason));
    this.#patience = patience;
    this.#patienceMs = patience.allMs;
  }

  /** @throws Error, with the reason in one line, when it is no JSON Schema; EndlessSchema when compiling has no end. */
  compile(schema: unknown): SchemaJudge {
    const validate = this.#validatorOf(schema);
    return (value) =>
      this.#bounded(isLarge(value), () => (validate(value) ? null : describe(validate.errors ?? [])));
  }

  /** Definitions are held to their dialect where they are read. */
  #validatorOf(schema: unknown): ValidateFunction {
    if (this.#isDefinition(schema)) return this.#definition(schema.$ref);
    holdToDialect(schema);
    return this.#validator(schema);
  }

  /** Work that may be much is done within a time limit. */
  #bounded<T>(isMuch: boolean, work: () => T): T {
    if (this.#patienceMs <= 0) {
      throw new EndlessSchema(`others before it took more than ${this.#patience.allMs / 1000} s`);
    }
    this.#followed = 0;
    const startedMs = performance.now();
    try {
      return isMuch ? this.#patterns.withinTimeLimit(work) : work();
    } catch (error) {
      if (error instanceof RangeError) throw new EndlessSchema();
      this.#patienceMs -= performance.now() - startedMs;
      throw error instanceof TimeLimitReached ? new EndlessSchema(`judging it ${error.message}`) : error;
    }
  }

  #follow(uri: string): DataValidateFunction {
    const link: DataValidateFunction = (value: unknown, context?: DataValidationCxt): boolean => {
      this.#followed += 1;
      if (this.#followed > MOST_FOLLOWED) {
        throw new EndlessSchema(`its schema leads to more than ${MOST_FOLLOWED} others`);
      }
      const validate = this.#definition(uri);
      // The context tells where the value stands, so that errors name the place in the whole.
      const fits = validate(value, context);
      link.errors = validate.errors ?? [];
      return fits;
    };
    return link;
  }

  #definition(uri: string): ValidateFunction {
    const known = this.#byUri.get(uri);
    if (known !== undefined) return known;
    const schema = Object.hasOwn(this.#definitions, uri) ? this.#definitions[uri] : undefined;
    if (!isSchema(schema)) throw new Error(`there is no schema ${uri}`);
    const referring = { $schema: dialectOf(schema).uri, $ref: uri };
    const validate = this.#validator(this.#linked ? schema : referring);
    this.#byUri.set(uri, validate);
    return validate;
  }

  #isDefinition(schema: unknown): schema is { readonly $ref: string } {
    if (!isJsonObject(schema) || Object.keys(schema).length !== 1) return false;
    return typeof schema.$ref === 'string' && Object.hasOwn(this.#definitions, schema.$ref);
  }

  #validator(schema: Schema): ValidateFunction {
    const dialect = dialectOf(schema);
    const key = `${dialect.name} ${JSON.stringify(schema)}`;
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const linked = withLinks(schema, (uri) => this.#isLinkedFrom(dialect, uri), dialect.lonelyRef);
    const engine = this.#engineFor(schema, dialect);
    const compile = () => engine.compile(isSchema(linked) ? linked : schema);
    const validate = key.length < LARGE_SCHEMA ? compile() : this.#bounded(true, compile);
    this.#compiled.set(key, validate);
    return validate;
  }

  /** A reference proper leads to schemas of the same dialect alone. */
  #isLinkedFrom(dialect: Dialect, uri: string): boolean {
    if (!Object.hasOwn(this.#definitions, uri)) return false;
    return this.#linked || dialectOf(this.#definitions[uri]) !== dialect;
  }

  #engineFor(schema: Schema, dialect: Dialect): Engine {
    // What names itself might have the name of something else.
    if (this.#linked && namesItself(schema)) return this.#newEngine(dialect);
    const engine = this.#engines.get(dialect) ?? this.#newEngine(dialect);
    this.#engines.set(dialect, engine);
    if (this.#linked) return engine;
    for (const [uri, definition] of Object.entries(this.#definitions)) {
      if (this.#registered.has(uri) || !isSchema(definition) || dialectOf(definition) !== dialect) continue;
      this.#registered.add(uri);
      const linked = withLinks(definition, (named) => this.#isLinkedFrom(dialect, named), dialect.lonelyRef);
      engine.addSchema(isSchema(linked) ? linked : definition, uri);
    }
    return engine;
  }

  #newEngine(dialect: Dialect): Engine {
    const engine = dialect.engine({
      ...LENIENT,
      // Held to it before, once for all engines of the dialect.
      validateSchema: false,
      // `toString` is no member of an object unless it was sent.
      ownProperties: true,
      validateFormats: dialect.assertsFormats ?? false,
      code: { optimize: false, regExp: this.#patterns.engine },
    });
    formats().default(engine);
    return engine.addKeyword({
      keyword: LINK,
      schemaType: 'string',
      errors: 'full',
      compile: (uri: string) => this.#follow(uri),
    });
  }
}

const LENIENT = { strict: false, logger: false } as const;
const ofSchemas = new Map<Dialect, Engine>();

/**
 * Holds a schema to the schema of its dialect, which is compiled once for all of them. References are not followed, and
 * patterns not read.
 *
 * @throws Error, with the reason in one line, when it is no JSON Schema.
 */
export function holdToDialect(schema: unknown): asserts schema is Schema {
  if (!isSchema(schema)) throw new Error('a schema is an object, or true or false');
  const dialect = dialectOf(schema);
  const named = typeof schema === 'boolean' ? schema : { ...schema, $schema: dialect.uri };
  // Only ajv describes the fault.
  if (dialect === LATEST && fitsLatest(named)) return;
  const engine = ofSchemas.get(dialect) ?? dialect.engine(LENIENT);
  ofSchemas.set(dialect, engine);
  if (engine.validateSchema(named) !== true) {
    throw new Error(`schema is invalid: ${visible(engine.errorsText(engine.errors), 300)}`);
  }
}

/** @throws Error for one that is not known. */
export function dialectOf(schema: unknown): Dialect {
  if (!isJsonObject(schema) || schema.$schema === undefined) return LATEST;
  const dialect = dialectNamed(schema.$schema);
  if (dialect !== undefined) return dialect;
  throw new Error(
    `its $schema names a dialect that is not known: ${visible(JSON.stringify(schema.$schema), 120)}`,
  );
}

function isLarge(value: unknown): boolean {
  const rest: unknown[] = [value];
  for (let count = 0; rest.length > 0; count += 1) {
    if (count > LARGE_VALUE) return true;
    const next = rest.pop();
    if (!hasMembers(next)) continue;
    const inner = Object.values(next);
    if (inner.length > LARGE_VALUE) return true;
    rest.push(...inner);
  }
  return false;
}

type Schema = boolean | Readonly<Record<string, unknown>>;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isJsonObject(value);
}

/** References to linked schemas as links; all others stay. */
function withLinks(node: unknown, isLinked: (uri: string) => boolean, lonelyRef: boolean): unknown {
  if (Array.isArray(node)) return node.map((item) => withLinks(item, isLinked, lonelyRef));
  if (!isJsonObject(node)) return node;
  const { $ref } = node;
  const link = typeof $ref === 'string' && isLinked($ref) ? $ref : null;
  if (link !== null && lonelyRef) return { [LINK]: link };
  // Of the keywords beside a reference, ajv passes over all but this one.
  const isPassedOver = (name: string) => lonelyRef && typeof $ref === 'string' && name === 'type';
  return Object.fromEntries(
    Object.entries(node)
      .filter(([name]) => !isPassedOver(name))
      .map(([name, value]) =>
        name === '$ref' && link !== null ? [LINK, link] : [name, withLinks(value, isLinked, lonelyRef)],
      ),
  );
}

/** Something in it has an identifier of its own. */
function namesItself(schema: unknown): boolean {
  return holds(schema, (name, value) => (name === '$id' || name === 'id') && typeof value === 'string');
}

function mentionsUnevaluated(definitions: unknown): boolean {
  return holds(definitions, (name) => name.startsWith('unevaluated'));
}

/** Whether there is such a member, at whatever depth. */
function holds(node: unknown, isMeant: (name: string, value: unknown) => boolean): boolean {
  if (!hasMembers(node)) return false;
  return Object.entries(node).some(([name, value]) => isMeant(name, value) || holds(value, isMeant));
}

/** Alternatives report each of their branches; the one that came furthest is what the sender most likely meant. */
function describe(errors: readonly ErrorObject[]): SchemaFault {
  const last = errors.at(-1);
  if (last === undefined) return { path: '', keyword: 'schema', message: 'does not fit its schema' };
  const isAmbiguous = last.keyword === 'oneOf' && last.params.passingSchemas !== null;
  const isOfBranch = UNIONS.has(last.keyword) && !isAmbiguous;
  const { instancePath, keyword, message, params } = isOfBranch ? branchOf(errors, last) : last;
  const place = instancePath === '' ? 'the whole' : `"${visible(instancePath, 120)}"`;
  const stray =
    typeof params.additionalProperty === 'string' ? ` ("${visible(params.additionalProperty, 60)}")` : '';
  const allowed = Array.isArray(params.allowedValues)
    ? ` (${visible(params.allowedValues.map((value) => JSON.stringify(value)).join(', '), 120)})`
    : '';
  const member = params.additionalProperty ?? params.missingProperty;
  const words = visible(message ?? 'does not fit', 160);
  return {
    path: instancePath,
    keyword,
    message: `${place} ${words}${stray}${allowed} (${keyword})`,
    ...(isAmbiguous && { isAmbiguous }),
    ...(typeof member === 'string' && { member }),
  };
}

const UNIONS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'if']);

function branchOf(errors: readonly ErrorObject[], union: ErrorObject): ErrorObject {
  const others = errors.filter((error) => error !== union);
  const branches = others.filter(({ keyword, params }) => keyword !== 'type' || params.type !== 'null');
  const [furthest] = branches.toSorted((a, b) => depthOf(b) - depthOf(a));
  if (furthest === undefined) return union;
  // "Something or null" has one branch that is meant; of `if` only one is tried.
  const only = branches.length === 1 && (branches.length < others.length || union.keyword === 'if');
  return only || depthOf(furthest) > depthOf(union) ? furthest : union;
}

function depthOf({ instancePath }: ErrorObject): number {
  return instancePath.split('/').length;
}
