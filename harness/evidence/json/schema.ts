import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { DataValidateFunction, DataValidationCxt } from 'ajv/dist/types/index.js';
import { default as addFormats } from 'ajv-formats';
import { isJsonObject } from '../../base/json-text.ts';
import { visible } from '../octets/visible.ts';

/** The first thing in a JSON value that its schema refuses. */
export interface SchemaFault {
  /** JSON Pointer (RFC 6901) of the value that is refused; '' is the whole. */
  readonly path: string;
  /** The keyword of the schema that refuses it: `required`, `type` … */
  readonly keyword: string;
  /** One line for a person. What it quotes of the value is escaped and bounded. */
  readonly message: string;
}

/** @throws EndlessSchema, which says nothing about the value. */
export type SchemaJudge = (value: unknown) => SchemaFault | null;

/** A schema that asks of a value to fit the very same schema, or so many others that nobody can wait for it. */
export class EndlessSchema extends Error {
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

/** Schemas that others refer to, by the URI with which they do. */
export type Definitions = Readonly<Record<string, unknown>>;

const LINK = 'x-conform-ref';

/**
 * JSON Schemas (2020-12, with formats) that share definitions. Each definition is compiled by itself, when it is
 * first needed: a document may have hundreds that refer to each other, and compiling them into one another
 * would need a stack as deep as the longest chain.
 */
export class SchemaBook {
  readonly #definitions: Definitions;
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #registered = new Set<string>();
  /** `unevaluated…` asks what a referenced schema has looked at, which only a reference proper can tell. */
  readonly #linked: boolean;
  /** References followed for the value at hand. */
  #followed = 0;

  /** @param definitions may still grow; then `unevaluated` tells whether they will use keywords of that name. */
  constructor(definitions: Definitions = {}, unevaluated = mentionsUnevaluated(definitions)) {
    this.#definitions = definitions;
    this.#linked = !unevaluated;
    this.#ajv = new Ajv2020({
      strict: false,
      logger: false,
      // `toString` is no member of an object unless it was sent.
      ownProperties: true,
      code: { regExp: Object.assign(patternOf, { code: 'patternOf' }) },
    });
    addFormats.default(this.#ajv);
    this.#ajv.addKeyword({
      keyword: LINK,
      schemaType: 'string',
      errors: 'full',
      compile: (uri: string) => this.#follow(uri),
    });
  }

  /** @throws Error, with the reason in one line, when it is no JSON Schema. */
  compile(schema: unknown): SchemaJudge {
    if (!isSchema(schema)) throw new Error('a schema is an object, or true or false');
    const validate = this.#isDefinition(schema) ? this.#definition(schema.$ref) : this.#validator(schema);
    return (value) => {
      this.#followed = 0;
      try {
        return validate(value) ? null : describe(validate.errors ?? []);
      } catch (error) {
        if (error instanceof RangeError) throw new EndlessSchema();
        throw error;
      }
    };
  }

  /** @throws Error when the definition is no JSON Schema. */
  compileDefinition(uri: string): void {
    this.#definition(uri);
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
    const known = this.#compiled.get(uri);
    if (known !== undefined) return known;
    const schema = Object.hasOwn(this.#definitions, uri) ? this.#definitions[uri] : undefined;
    if (!isSchema(schema)) throw new Error(`there is no schema ${uri}`);
    const validate = this.#validator(this.#linked ? schema : { $ref: uri });
    this.#compiled.set(uri, validate);
    return validate;
  }

  #isDefinition(schema: Schema): schema is { readonly $ref: string } {
    if (typeof schema === 'boolean' || Object.keys(schema).length !== 1) return false;
    return typeof schema.$ref === 'string' && Object.hasOwn(this.#definitions, schema.$ref);
  }

  #validator(schema: Schema): ValidateFunction {
    if (this.#linked) {
      const linked = withLinks(schema, this.#definitions);
      return this.#ajv.compile(isSchema(linked) ? linked : schema);
    }
    for (const [uri, definition] of Object.entries(this.#definitions)) {
      if (this.#registered.has(uri) || !isSchema(definition)) continue;
      this.#registered.add(uri);
      this.#ajv.addSchema(definition, uri);
    }
    return this.#ajv.compile(schema);
  }
}

type Schema = boolean | Readonly<Record<string, unknown>>;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isJsonObject(value);
}

/** References to definitions as links; all others stay. */
function withLinks(node: unknown, definitions: Definitions): unknown {
  if (Array.isArray(node)) return node.map((item) => withLinks(item, definitions));
  if (!isJsonObject(node)) return node;
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) =>
      name === '$ref' && typeof value === 'string' && Object.hasOwn(definitions, value)
        ? [LINK, value]
        : [name, withLinks(value, definitions)],
    ),
  );
}

function mentionsUnevaluated(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(mentionsUnevaluated);
  if (!isJsonObject(node)) return false;
  return Object.entries(node).some(
    ([name, value]) => name.startsWith('unevaluated') || mentionsUnevaluated(value),
  );
}

/** Patterns are ECMA-262 with the flag u; many in use are right only without it, and mean the same there. */
function patternOf(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    try {
      return new RegExp(pattern, flags.replace('u', ''));
    } catch {
      throw error;
    }
  }
}

/** Alternatives report each of their branches; the one that came furthest is what the sender most likely meant. */
function describe(errors: readonly ErrorObject[]): SchemaFault {
  const last = errors.at(-1);
  if (last === undefined) return { path: '', keyword: 'schema', message: 'does not fit its schema' };
  const { instancePath, keyword, message, params } = UNIONS.has(last.keyword) ? branchOf(errors, last) : last;
  const place = instancePath === '' ? 'the whole' : `"${visible(instancePath, 120)}"`;
  const stray =
    typeof params.additionalProperty === 'string' ? ` ("${visible(params.additionalProperty, 60)}")` : '';
  const allowed = Array.isArray(params.allowedValues)
    ? ` (${visible(params.allowedValues.map((value) => JSON.stringify(value)).join(', '), 120)})`
    : '';
  const words = visible(message ?? 'does not fit', 160);
  return { path: instancePath, keyword, message: `${place} ${words}${stray}${allowed} (${keyword})` };
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
