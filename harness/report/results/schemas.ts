import type { TSchema } from 'typebox';
import { shapeFaults } from '../../base/schema/shape-faults.ts';
import { SHARED } from './shapes.ts';

const known = new Map<TSchema, ReturnType<typeof shapeFaults>>();

/** What a shape of the results model refuses first in a value; null when it fits. */
export interface ShapeProblem {
  /** Such as `services[0].checks[3].outcome`. */
  readonly key: string;
  /** Such as `must be equal to one of the allowed values (pass, fail …)`. */
  readonly problem: string;
}

/** Holds a value against a shape of the results model. */
export function problemIn(shape: TSchema, value: unknown): ShapeProblem | null {
  const find = known.get(shape) ?? shapeFaults(shape, SHARED);
  known.set(shape, find);
  const [fault] = find(value);
  if (!fault) return null;
  const key = fault.path.reduce(
    (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part),
    '',
  );
  const allowed = fault.keyword === 'enum' ? fault.schema.enum : fault.schema.const;
  const choice = allowed === undefined ? '' : ` (${[allowed].flat().join(', ')})`;
  return { key, problem: `${fault.message}${choice}` };
}
