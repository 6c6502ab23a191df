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

  it('tells of every member and item, however many there are', () => {
    const objectOf = (last: unknown) =>
      Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`m${at + 100}`, at < 599 ? at : last]));
    const listOf = (last: unknown) => [...Array.from({ length: 600 }, () => 1), last];
    for (const make of [objectOf, listOf]) {
      expect(shapeOf(make('text'))).not.toEqual(shapeOf(make(1)));
      expect(shapeOf(make(2))).toEqual(shapeOf(make(1)));
    }
    expect(shapeOf(objectOf(1))?.required).toHaveLength(500);
  });

  it('takes no longer for each of many names', () => {
    const manifold = Array.from({ length: 200_000 }, (_, at) => ({ [`m${at}`]: 1 }));
    const { properties = {}, further } = shapeOf(manifold)?.items ?? {};
    expect(Object.keys(properties)).toHaveLength(500);
    expect(further).toMatch(/^[0-9a-f]{64}$/);
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
