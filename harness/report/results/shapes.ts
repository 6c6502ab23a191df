import type { Static, TSchema } from 'typebox';
import Type from '../../base/type.ts';

/** What the shapes of the results model are made of. */

export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T;

/** The shapes that others refer to by name. */
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
export const texts = (description?: string) => Type.Array(Type.String(), described(description));

export const Count = shared('count', Type.Integer({ minimum: 0 }));
export const Milliseconds = shared('milliseconds', Type.Number({ minimum: 0 }));
export const Instant = shared(
  'instant',
  Type.String({
    description: 'ISO 8601, UTC.',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$',
  }),
);
