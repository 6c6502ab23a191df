import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { shapeOf } from './shape.ts';

describe('shapeOf', () => {
  it('says what a value looks like', () => {
    expect(shapeOf({ b: 1, a: [{ id: 'x', n: null }, { id: 7 }], c: [] })).toEqual({
      type: 'object',
      properties: {
        a: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: ['number', 'string'] }, n: { type: 'null' } },
            required: ['id'],
          },
        },
        b: { type: 'number' },
        c: { type: 'array' },
      },
      required: ['a', 'b', 'c'],
    });
    expect(shapeOf(undefined)).toBeNull();
    expect(shapeOf(null)).toEqual({ type: 'null' });
  });

  it('is the same whatever the order of members and the number of items', () => {
    const one = shapeOf([{ a: 1, b: { c: true } }]);
    const other = shapeOf([
      { b: { c: false }, a: 2 },
      { a: 3.5, b: { c: true } },
    ]);
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });

  it('takes a member called __proto__ as a member', () => {
    expect(shapeOf(JSON.parse('{"__proto__":1}'))?.required).toEqual(['__proto__']);
  });

  it('is bounded in depth', () => {
    const deep = JSON.parse('['.repeat(500) + ']'.repeat(500));
    expect(JSON.stringify(shapeOf(deep)).length).toBeLessThan(2000);
  });

  it('gives equal shapes for equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(JSON.stringify(shapeOf(value))).toBe(JSON.stringify(shapeOf(structuredClone(value))));
      }),
    );
  });
});
