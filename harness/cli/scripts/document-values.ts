import { Ajv2020 } from 'ajv/dist/2020.js';
import { generateSync } from 'json-schema-faker';
import { UsageError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { withinTimeLimit } from '../../base/time-limit.ts';
import { SourceFiles } from '../../config/document/files.ts';
import { Remarks } from '../../config/document/remarks.ts';
import { child, children, type DocumentNode, pointerText, refOf } from '../../config/document/source.ts';
import { isJsonType } from '../../config/operation/call/call.ts';
import { contentsOf } from '../../config/operation/openapi/inputs.ts';
import { operationsOf, type Version, versionOf } from '../../config/operation/openapi/outline.ts';
import { OpenApiSchemas } from '../../config/operation/openapi/schemas.ts';

/**
 * Holds values that json-schema-faker makes of the schemas of a document to the reading of these schemas. A value that a
 * plain JSON Schema validator refuses as well is a fault of the generator.
 */

const SEEDS = [1, 2, 3];
/** Schemas of one document. */
const MAX_SCHEMAS = 60;
const MAKING_MS = 500;
const MAX_FOLLOWED = 2_000;
const MAX_DEPTH = 60;

export interface DocumentValues {
  readonly schemas: number;
  /** Values that were judged. */
  readonly judged: number;
  /** Values that could not be made, or that their own schema refuses. */
  readonly unmade: number;
  /** Values that only the reading refuses, in words. */
  readonly refused: readonly string[];
}

export async function documentValues(path: string): Promise<DocumentValues> {
  const files = await SourceFiles.open(path, path);
  if ('fault' in files) throw new UsageError(files.fault.problem);
  const version = versionOf(files.root);
  const places = [...schemasIn(files)].slice(0, MAX_SCHEMAS);
  const plain = {
    request: new PlainSchemas(files, version, 'readOnly'),
    response: new PlainSchemas(files, version, 'writeOnly'),
  };
  const refused: string[] = [];
  let judged = 0;
  let unmade = 0;
  for (const { at, direction } of places) {
    const reading = new OpenApiSchemas(files, direction, version);
    const judge = attempt(() => reading.book.compile(reading.take(at)));
    const isPlain = judge && attempt(() => plain[direction].judgeOf(at));
    for (const seed of SEEDS) {
      const made = isPlain && attempt(() => ({ value: plain[direction].valueOf(at, seed) }));
      if (!judge || !isPlain || made === null || !attempt(() => isPlain(made.value))) {
        unmade += 1;
        continue;
      }
      judged += 1;
      const fault = judge(made.value);
      if (fault !== null && fault.keyword !== 'format')
        refused.push(`${pointerText(at.pointer)} (seed ${seed}): ${fault.message}`);
    }
  }
  return { schemas: places.length, judged, unmade, refused };
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

interface SchemaPlace {
  readonly at: DocumentNode;
  readonly direction: 'request' | 'response';
}

/** The JSON Schemas of requests and responses, each once. */
function* schemasIn(files: SourceFiles): Generator<SchemaPlace> {
  const seen = new Set<string>();
  for (const { operation } of operationsOf(files, new Remarks())) {
    const bodies = [[child(operation, 'requestBody'), 'request'] as const];
    const answers = children(child(operation, 'responses')).map(([, at]) => [at, 'response'] as const);
    for (const [holder, direction] of [...bodies, ...answers]) {
      if (holder.value === undefined) continue;
      const contents = attempt(() => contentsOf(files.dereferenced(holder), files)) ?? [];
      for (const [type, content] of contents) {
        const written = child(content, 'schema');
        if (!isJsonType(type) || written.value === undefined) continue;
        const at = attempt(() => files.dereferenced(written));
        const key = at && `${direction} ${at.file.path}${pointerText(at.pointer)}`;
        if (at === null || key === null || seen.has(key)) continue;
        seen.add(key);
        yield { at, direction };
      }
    }
  }
}

/** Schemas as the document has them, with references that need no document. */
class PlainSchemas {
  readonly #files: SourceFiles;
  readonly #isEarly: boolean;
  readonly #foreign: 'readOnly' | 'writeOnly';
  readonly #uris = new Map<string, string>();
  readonly #copies = new Map<string, unknown>();
  readonly #ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    logger: false,
  });

  /** `foreign`: marks the members that values of this direction do not have. */
  constructor(files: SourceFiles, version: Version, foreign: 'readOnly' | 'writeOnly') {
    this.#files = files;
    this.#foreign = foreign;
    this.#isEarly = version === '2.0' || version === '3.0';
  }

  judgeOf(at: DocumentNode): (value: unknown) => boolean {
    const uri = this.#uriOf(at);
    for (const [each, copy] of this.#copies) {
      if (this.#ajv.getSchema(each) === undefined && isJsonObject(copy)) this.#ajv.addSchema(copy, each);
    }
    return this.#ajv.compile({ $ref: uri });
  }

  valueOf(at: DocumentNode, seed: number): unknown {
    let followed = 0;
    const schema = this.#copies.get(this.#uriOf(at));
    return withinTimeLimit(MAKING_MS, () =>
      generateSync(schema as Parameters<typeof generateSync>[0], {
        seed,
        optionalsProbability: 0.5,
        maxDepth: 8,
        refResolver: (ref) => {
          followed += 1;
          if (followed > MAX_FOLLOWED) throw new Error('too many references');
          return (this.#copies.get(ref) ?? true) as Parameters<typeof generateSync>[0];
        },
      }),
    );
  }

  #uriOf(at: DocumentNode): string {
    const key = `${at.file.path}${pointerText(at.pointer)}`;
    const known = this.#uris.get(key);
    if (known !== undefined) return known;
    const uri = `plain:/${this.#uris.size}`;
    this.#uris.set(key, uri);
    this.#copies.set(uri, this.#copy(at, 0));
    return uri;
  }

  /** `isNamed`: its members are schemas by their names. */
  #copy(at: DocumentNode, depth: number, isNamed = false): unknown {
    if (depth > MAX_DEPTH) return true;
    const { value } = at;
    const ref = isNamed ? null : refOf(value);
    if (ref !== null) {
      const target = this.#files.target(ref, at);
      const only = { $ref: this.#uriOf(target) };
      if (this.#isEarly || Object.keys(value as object).length === 1) return only;
    }
    if (Array.isArray(value)) return children(at).map(([, item]) => this.#copy(item, depth + 1));
    if (!isJsonObject(value)) return value;
    const copied = Object.fromEntries(
      children(at).flatMap(([name, each]) => {
        if (isNamed && this.#isForeign(each)) return [];
        if (name === '$ref' && ref !== null)
          return [[name, this.#uriOf(this.#files.target(ref, at))] as const];
        const isValue = !isNamed && VALUES.has(name);
        const names = !isNamed && NAMED.has(name);
        return [[name, isValue ? each.value : this.#copy(each, depth + 1, names)] as const];
      }),
    );
    return this.#isEarly && !isNamed ? withBounds(copied) : copied;
  }

  #isForeign(at: DocumentNode): boolean {
    const { value } = attempt(() => this.#files.dereferenced(at)) ?? at;
    return isJsonObject(value) && value[this.#foreign] === true;
  }
}

/** Keywords that hold values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'required', 'default', 'example', 'examples']);

const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

/** Before 3.1 an exclusive bound is a flag, and `nullable` only admits more. */
function withBounds(schema: Readonly<Record<string, unknown>>): unknown {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, nullable: _, ...rest } = schema;
  return {
    ...rest,
    ...(exclusiveMinimum === true ? { exclusiveMinimum: minimum } : minimum !== undefined && { minimum }),
    ...(exclusiveMaximum === true ? { exclusiveMaximum: maximum } : maximum !== undefined && { maximum }),
  };
}
