import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { DEEPEST_JSON, pointerMembers, pointerToken, type Shape, shapeOf, tokenMember } from './shape.ts';

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

  it('tells of every level that a value is made of', () => {
    const nested = (levels: number, last: unknown) =>
      JSON.parse(`${'{"a":['.repeat(levels / 2)}${JSON.stringify(last)}${']}'.repeat(levels / 2)}`);
    for (const levels of [20, 22, 24, 500]) {
      const shape = JSON.stringify(shapeOf(nested(levels, { id: 1 })));
      expect(JSON.stringify(shapeOf(nested(levels, { id: 2 })))).toBe(shape);
      for (const other of [{ id: 'x' }, { key: 1 }, {}, 1, null])
        expect(JSON.stringify(shapeOf(nested(levels, other)))).not.toBe(shape);
    }
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
    for (const levels of [500, 100_000]) {
      const deep = JSON.parse('['.repeat(levels) + ']'.repeat(levels));
      expect(JSON.stringify(shapeOf(deep)).length).toBeLessThan(2000);
    }
  });

  it('gives equal shapes for equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(JSON.stringify(shapeOf(value))).toBe(JSON.stringify(shapeOf(structuredClone(value))));
      }),
    );
  });
});

describe('a JSON Pointer (RFC 6901)', () => {
  it.each([
    ['a/b', '/a~1b'],
    ['~1', '/~01'],
    [0, '/0'],
    ['', '/'],
  ])('has for the member %j the token %s', (member, token) => {
    expect(pointerToken(member)).toBe(token);
    expect(tokenMember(token.slice(1))).toBe(String(member));
  });

  it('has a member for each token', () => {
    expect(pointerMembers('')).toEqual([]);
    expect(pointerMembers('/a~1b/0/')).toEqual(['a/b', '0', '']);
  });
});

describe('the bounds of a shape', () => {
  it('are 20 levels below the first', () => {
    const levels = (value: unknown): number => (JSON.stringify(shapeOf(value)).match(/array/g) ?? []).length;
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    expect(levels(nested(21))).toBe(21);
    expect(levels(nested(22))).toBe(21);
    const objects = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
    expect(JSON.stringify(shapeOf(objects(20)))).toContain('number');
    expect(JSON.stringify(shapeOf(objects(21)))).not.toContain('number');
  });

  it('tell values apart down to the deepest level that is looked at', () => {
    const of = (levels: number) =>
      JSON.stringify(shapeOf(JSON.parse('['.repeat(levels) + ']'.repeat(levels))));
    // The outermost level is 0, and that there is something within the deepest one is seen.
    expect(of(DEEPEST_JSON + 1)).not.toBe(of(DEEPEST_JSON + 2));
    expect(of(DEEPEST_JSON + 2)).toBe(of(DEEPEST_JSON + 3));
  });

  it.each([
    ['of arrays', '[', ']'],
    ['of objects', '{"a":', '}'],
  ])('show 20 levels %s, and the digest of those below', (_, open, close) => {
    const of = (levels: number) => shapeOf(JSON.parse(`${open.repeat(levels)}1${close.repeat(levels)}`));
    const levelsOf = (shape: Shape | null | undefined): number =>
      shape == null ? 0 : 1 + levelsOf(shape.items ?? shape.properties?.a);
    expect([20, 21, 25].map((levels) => levelsOf(of(levels)))).toEqual([21, 21, 21]);
    expect([20, 21].map((levels) => JSON.stringify(of(levels)).includes('further'))).toEqual([false, true]);
  });

  it('are 500 members of an object', () => {
    const of = (count: number) =>
      shapeOf(Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 1])));
    expect(of(500)).not.toHaveProperty('further');
    expect(of(501)).toHaveProperty('further');
  });

  it('show the names in order, and those of every object as required', () => {
    expect(
      JSON.stringify(
        shapeOf([
          { b: 1, a: 1 },
          { b: 1, c: [] },
        ]),
      ),
    ).toBe(
      '{"type":"array","items":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"},"c":{"type":"array"}},"required":["b"]}}',
    );
    expect(shapeOf([])).toEqual({ type: 'array' });
    expect(shapeOf({})).toEqual({ type: 'object', properties: {}, required: [] });
    expect(shapeOf([1, 'a', null, true, []])?.items?.type).toEqual([
      'array',
      'boolean',
      'null',
      'number',
      'string',
    ]);
  });
});
