import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { pointerMembers } from '../../evidence/json/pointer.ts';
import { SHARED } from './results.ts';

const ajv = new Ajv2020({ allErrors: false, allowUnionTypes: true, strictRequired: false });
const known = new Map<TSchema, ValidateFunction>();

/** Holds values against a shape of the results model; compiled when first needed. */
export function compiled<Value>(shape: TSchema): ValidateFunction<Value> {
  const fits = known.get(shape) ?? ajv.compile<Value>({ ...shape, $defs: SHARED });
  known.set(shape, fits);
  return fits as ValidateFunction<Value>;
}

/** `services[0].checks[3].outcome must be equal to one of the allowed values (pass, fail …)`. */
export function problemOf({ errors }: ValidateFunction): { readonly key: string; readonly problem: string } {
  const [error] = errors ?? [];
  if (!error) return { key: '', problem: 'is not valid' };
  const key = pointerMembers(error.instancePath).reduce(
    (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part),
    '',
  );
  const allowed: unknown = error.params.allowedValues ?? error.params.allowedValue;
  const choice = allowed === undefined ? '' : ` (${[allowed].flat().join(', ')})`;
  return { key, problem: `${error.message ?? 'is not valid'}${choice}` };
}
