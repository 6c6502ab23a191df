import { createRequire } from 'node:module';
import { type Schema, validate } from '@cfworker/json-schema';
import type { ErrorObject, Options, ValidateFunction } from 'ajv/dist/2020.js';

/** Validates values by one of our own schemas. */
export interface OwnSchema<Value = unknown> {
  (value: unknown): value is Value;
  /** Of the value that was validated last; null if it fits. */
  errors: readonly ErrorObject[] | null;
}

/** Number of values, and the milliseconds spent on them, after which loading ajv and compiling pays. */
const WORTH_COMPILING = { values: 100, ms: 50 };
/** Milliseconds after which it pays, whatever the number of values. */
const WORTH_COMPILING_MS = 300;
/** Keywords of the config's schemas that JSON Schema does not have. */
const ANNOTATIONS = ['x-expected', 'x-def'];
const require = createRequire(import.meta.url);

/**
 * A schema of ours, JSON Schema 2020-12; `x-expected` in it says in words what would be right. Compiling a large one
 * takes longer than a whole run of one check. So it is interpreted until a value does not fit, because only ajv reports
 * faults, or until it has been used often and at length.
 */
export function ownSchema<Value>(schema: object, options: Options = {}): OwnSchema<Value> {
  const read = schema as Schema;
  const definitions = definitionsOf(read);
  let compiled: ValidateFunction | undefined;
  let uses = 0;
  let readMs = 0;
  const fits = (value: unknown): value is Value => {
    fits.errors = null;
    uses += 1;
    const isOften =
      readMs > WORTH_COMPILING_MS || (uses > WORTH_COMPILING.values && readMs > WORTH_COMPILING.ms);
    if (compiled === undefined && !isOften) {
      const beganMs = performance.now();
      const { valid } = validate(value, read, '2020-12', definitions);
      readMs += performance.now() - beganMs;
      if (valid) return true;
    }
    compiled ??= compile(schema, options);
    if (compiled(value)) return true;
    fits.errors = compiled.errors ?? [];
    return false;
  };
  fits.errors = null as OwnSchema['errors'];
  return fits;
}

/** Every `$ref` target of our schemas. Finding the addresses inside a schema would take as long as one use of it. */
function definitionsOf({ $defs = {} }: Schema): Record<string, Schema | boolean> {
  return Object.fromEntries(
    Object.entries<Schema | boolean>($defs).map(([name, schema]) => [`#/$defs/${name}`, schema]),
  );
}

function compile(schema: object, options: Options): ValidateFunction {
  const { Ajv2020 }: typeof import('ajv/dist/2020.js') = require('ajv/dist/2020.js');
  // The tests validate the schemas themselves: at a start that would take most of the time.
  const ajv = new Ajv2020({ ...options, strictRequired: false, meta: false, validateSchema: false });
  for (const keyword of ANNOTATIONS) ajv.addKeyword({ keyword, schemaType: 'string' });
  return ajv.compile(schema);
}
