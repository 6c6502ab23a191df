import type { TSchema } from 'typebox';
import { type OwnSchema, ownSchema } from '../../base/schema/own-schema.ts';
import { pointerMembers } from '../../wire/json/pointer.ts';
import { SHARED } from './shapes.ts';

const known = new Map<TSchema, OwnSchema>();

/** Holds values against a shape of the results model. */
export function heldTo<Value>(shape: TSchema): OwnSchema<Value> {
  const fits = known.get(shape) ?? ownSchema({ ...shape, $defs: SHARED }, { allowUnionTypes: true });
  known.set(shape, fits);
  return fits as OwnSchema<Value>;
}

/** `services[0].checks[3].outcome must be equal to one of the allowed values (pass, fail …)`. */
export function problemOf({ errors }: OwnSchema): { readonly key: string; readonly problem: string } {
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
