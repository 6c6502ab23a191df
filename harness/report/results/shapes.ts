import type { Static, TObject, TSchema } from 'typebox';
import { shapeFaults } from '../../base/schema/shape-faults.ts';
import Type from '../../base/schema/type.ts';

/** What the shapes of the results model are made of. */

export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T;

/** What may be left out may be undefined as well. */
type Unfinished<T> = {
  readonly [Name in keyof T as object extends Pick<T, Name> ? never : Name]: T[Name];
} & { readonly [Name in keyof T as object extends Pick<T, Name> ? Name : never]?: T[Name] | undefined };

/** Of a value the members that a shape has, in its order: neither those that a newer version has added, nor undefined ones. */
export function picked<Shape extends TObject>(
  shape: Shape,
  value: Unfinished<Frozen<Static<Shape>>>,
): Frozen<Static<Shape>> {
  const members = new Map(Object.entries(value));
  const present = Object.keys(shape.properties).filter((name) => members.get(name) !== undefined);
  return Object.fromEntries(present.map((name) => [name, members.get(name)])) as Frozen<Static<Shape>>;
}

export const SHARED: Record<string, TSchema> = {};

export function shared<Shape extends TSchema>(name: string, shape: Shape) {
  SHARED[name] = shape;
  return Type.Unsafe<Frozen<Static<Shape>>>({ $ref: `#/$defs/${name}` });
}

const described = (description?: string) => (description === undefined ? {} : { description });
export const text = (description?: string) => Type.String(described(description));
export const name = Type.String({ minLength: 1 });
export const textOrNull = (description?: string) =>
  Type.Unsafe<string | null>({ ...described(description), type: ['string', 'null'] });
export const list = <Item extends TSchema>(item: Item, description?: string) =>
  Type.Array(item, described(description));
export const texts = (description?: string) => list(Type.String(), description);
export const flag = (description?: string) => Type.Boolean(described(description));
export const whole = (minimum: number, description: string) => Type.Integer({ minimum, description });
export const optional = Type.Optional;

export const Count = shared('count', Type.Integer({ minimum: 0 }));
export const Milliseconds = shared('milliseconds', Type.Number({ minimum: 0 }));
export const Instant = shared(
  'instant',
  Type.String({
    description: 'ISO 8601, UTC.',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$',
  }),
);

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
