import { readFileSync } from 'node:fs';
import { Ajv2020, type AnySchema, type ErrorObject } from 'ajv/dist/2020.js';
import { pointerMembers } from '../../evidence/json/pointer.ts';

const RESULTS_SCHEMA_URL = new URL('./results.schema.json', import.meta.url);

/** `$id` of the shipped schema, by which other schemas refer to its `$defs`. */
export const RESULTS_SCHEMA_ID = 'conform:results.schema.json';

const ajv = new Ajv2020({ allErrors: false, allowUnionTypes: true, strictRequired: false });
let loaded = false;

/** A validator that knows `results.schema.json`; its shapes may be referred to by `RESULTS_SCHEMA_ID#/$defs/…`. */
export function reportSchemas(): Ajv2020 {
  if (!loaded) {
    const schema: AnySchema = JSON.parse(readFileSync(RESULTS_SCHEMA_URL, 'utf8'));
    ajv.addSchema(schema);
    loaded = true;
  }
  return ajv;
}

/** `services[0].checks[3].outcome must be equal to one of the allowed values (pass, fail …)`. */
export function explainSchemaError(error: ErrorObject | undefined): {
  readonly key: string;
  readonly problem: string;
} {
  if (!error) return { key: '', problem: 'is not valid' };
  const key = pointerMembers(error.instancePath).reduce(
    (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part),
    '',
  );
  const allowed: unknown = error.params.allowedValues ?? error.params.allowedValue;
  const choice = allowed === undefined ? '' : ` (${[allowed].flat().join(', ')})`;
  return { key, problem: `${error.message ?? 'is not valid'}${choice}` };
}
