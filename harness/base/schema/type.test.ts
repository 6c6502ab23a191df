import { Type as TypeBox } from 'typebox';
import { describe, expect, it } from 'vitest';
import Type from './type.ts';

/** Every builder, in the ways in which shapes of the house are put together. */
function shapes(T: typeof Type) {
  const inner = T.Object(
    {
      text: T.String({ description: 'a text', minLength: 1 }),
      count: T.Optional(T.Integer({ minimum: 0 })),
      choice: T.Enum(['a', 'b'], { description: 'one of them' }),
      flag: T.Optional(T.Boolean()),
    },
    { description: 'a mapping', additionalProperties: false },
  );
  return T.Object({
    inner,
    list: T.Array(T.Number(), { minItems: 1 }),
    either: T.Union([T.String(), T.Null()]),
    both: T.Optional(T.Intersect([inner, T.Object({ version: T.Literal(1) })])),
    anything: T.Unknown({ description: 'anything' }),
    foreign: T.Optional(T.Unsafe<string>({ $ref: '#/$defs/name' })),
    picked: T.Pick(inner, ['text', 'count']),
    left: T.Omit(inner, ['text', 'choice']),
    spread: T.Object({ ...T.Pick(inner, ['count', 'flag']).properties, name: T.Literal('x') }),
    none: T.Object({}),
  });
}

describe('the builders of shapes', () => {
  it('make what those of TypeBox make, in the same order', () => {
    expect(JSON.stringify(shapes(Type), null, 1)).toBe(JSON.stringify(shapes(TypeBox), null, 1));
  });
});
