import { describe, expect, it } from 'vitest';
import { EndlessSchema, SchemaBook } from './schema.ts';

const message = (schema: unknown, value: unknown, definitions = {}) =>
  new SchemaBook(definitions).compile(schema)(value)?.message ?? null;

describe('a schema fault', () => {
  it.each([
    [{ type: 'object', required: ['a'] }, {}, `the whole must have required property 'a' (required)`],
    [{ properties: { a: { type: 'string' } } }, { a: 1 }, '"/a" must be string (type)'],
    [
      { items: { enum: ['x', 'y'] } },
      ['z'],
      '"/0" must be equal to one of the allowed values ("x", "y") (enum)',
    ],
    [
      { additionalProperties: false },
      { 'a\u202eb': 1 },
      'the whole must NOT have additional properties ("a\\u{202e}b") (additionalProperties)',
    ],
    [{ type: 'string', format: 'date' }, 'soon', null],
    [
      { $schema: 'http://json-schema.org/draft-07/schema#', type: 'string', format: 'date' },
      'soon',
      'the whole must match format "date" (format)',
    ],
    // Only "something or null" has one branch that is meant.
    [
      { anyOf: [{ type: 'object', required: ['a'] }, { type: 'null' }] },
      {},
      `the whole must have required property 'a' (required)`,
    ],
    [
      { anyOf: [{ type: 'object' }, { type: 'array' }] },
      'text',
      'the whole must match a schema in anyOf (anyOf)',
    ],
    [
      {
        oneOf: [
          { type: 'string' },
          { properties: { a: { properties: { b: { type: 'string' } } } }, required: ['a'], type: 'object' },
        ],
      },
      { a: { b: 1 } },
      '"/a/b" must be string (type)',
    ],
    // Of an alternative by a condition one branch is tried.
    [
      { if: { type: 'string' }, else: { required: ['a'] } },
      {},
      `the whole must have required property 'a' (required)`,
    ],
    [
      { properties: { a: { anyOf: [{ type: 'string' }, { type: 'number' }] } } },
      { a: {} },
      '"/a" must match a schema in anyOf (anyOf)',
    ],
    [
      { anyOf: [{ type: 'null' }, { type: 'string', minLength: 2 }] },
      'a',
      'the whole must NOT have fewer than 2 characters (minLength)',
    ],
    [
      { oneOf: [{ type: 'object' }, { required: ['a'] }] },
      { a: 1 },
      'the whole must match exactly one schema in oneOf (oneOf)',
    ],
    [{ required: ['toString'] }, {}, `the whole must have required property 'toString' (required)`],
  ])('of %j over %j is said in one line', (schema, value, line) => {
    expect(message(schema, value)).toBe(line);
  });

  it('is bounded, whatever the value holds', () => {
    const long = message({ additionalProperties: { type: 'string' } }, { ['k'.repeat(100_000)]: 1 });
    expect(long?.length).toBeLessThan(400);
  });

  it.each([
    [{ oneOf: [{ type: 'object' }, { required: ['a'] }] }, { a: 1 }, { isAmbiguous: true }],
    [{ required: ['a'] }, {}, { member: 'a' }],
    [{ additionalProperties: false }, { b: 1 }, { member: 'b' }],
  ])('of %j over %j knows %j', (schema, value, facts) => {
    expect(new SchemaBook({}).compile(schema)(value)).toMatchObject(facts);
  });

  it('is none where the value fits', () => {
    expect(message({ type: 'object', required: ['a'] }, { a: null })).toBeNull();
  });
});

describe('schemas that share definitions', () => {
  const definitions = {
    'conform:response/tree': {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, kids: { items: { $ref: 'conform:response/tree' } } },
    },
  };

  it('refer to them, and errors name the place in the whole', () => {
    const judge = new SchemaBook(definitions).compile({ items: { $ref: 'conform:response/tree' } });
    expect(judge([{ name: 'a', kids: [{ name: 'b', kids: [{}] }] }])).toEqual({
      path: '/0/kids/0/kids/0',
      keyword: 'required',
      message: `"/0/kids/0/kids/0" must have required property 'name' (required)`,
      member: 'name',
    });
    expect(judge([{ name: 'a', kids: [] }])).toBeNull();
  });

  it('are held beside other keywords, but in dialects where a reference stands alone', () => {
    const word = { 'conform:word': { type: 'string' } };
    const beside = { $ref: 'conform:word', maxLength: 1 };
    expect(message(beside, 'ab', word)).toBe('the whole must NOT have more than 1 characters (maxLength)');
    expect(message(beside, 1, word)).toBe('the whole must be string (type)');
    const alone = { $schema: 'http://json-schema.org/draft-07/schema#', ...beside, type: 'number' };
    expect(message(alone, 'ab', word)).toBeNull();
    expect(message(alone, 1, word)).toBe('the whole must be string (type)');
  });

  it('may be of another dialect, also where references are followed by the schema itself', () => {
    const old = {
      'conform:old': {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { a: { $ref: '#/definitions/word' } },
        definitions: { word: { type: 'string' } },
      },
      'conform:new': { properties: { b: { type: 'number' } } },
      'conform:none': 'no schema',
    };
    const schema = {
      properties: { old: { $ref: 'conform:old' }, new: { $ref: 'conform:new' } },
      unevaluatedProperties: false,
    };
    for (const unevaluated of [false, true]) {
      const judge = new SchemaBook(old, unevaluated).compile(schema);
      expect(judge({ old: { a: 'x' }, new: { b: 1 } })).toBeNull();
      expect(judge({ old: { a: 1 } })?.path).toBe('/old/a');
      expect(judge({ new: { b: 'x' } })?.path).toBe('/new/b');
      expect(judge({ other: 1 })?.keyword).toBe('unevaluatedProperties');
    }
  });

  it('may be chained by the thousand', () => {
    const chain = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [
        `conform:response/${index}`,
        {
          type: 'object',
          properties: { next: { $ref: `conform:response/${(index + 1) % 5_000}` }, v: { type: 'string' } },
        },
      ]),
    );
    const judge = new SchemaBook(chain).compile({ $ref: 'conform:response/0' });
    expect(judge({ next: { next: { v: 1 } } })?.path).toBe('/next/next/v');
  });

  it('see what a referenced schema has looked at, for unevaluatedProperties', () => {
    const base = { 'conform:response/base': { properties: { id: { type: 'string' } } } };
    const strict = { allOf: [{ $ref: 'conform:response/base' }], unevaluatedProperties: false };
    const judge = new SchemaBook({ ...base, 'conform:response/strict': strict }).compile({
      $ref: 'conform:response/strict',
    });
    expect(judge({ id: 'a' })).toBeNull();
    expect(judge({ id: 'a', other: 1 })?.keyword).toBe('unevaluatedProperties');
  });

  it('that ask a value to fit themselves give no verdict', () => {
    const judge = new SchemaBook({
      'conform:response/loop': { allOf: [{ $ref: 'conform:response/loop' }] },
    }).compile({ $ref: 'conform:response/loop' });
    expect(() => judge({})).toThrow(EndlessSchema);
  });
});

describe('schemas that name themselves', () => {
  it.each([
    [{ $id: 'https://schemas.example/a' }],
    [{ $schema: 'http://json-schema.org/draft-04/schema#', id: 'https://schemas.example/a' }],
  ])('may have the name of another: %j', (named) => {
    const book = new SchemaBook();
    const [text, number] = ['string', 'number'].map((type) => book.compile({ ...named, type }));
    expect(text?.('a')).toBeNull();
    expect(number?.('a')?.keyword).toBe('type');
  });

  it('are known by members that are texts alone', () => {
    const book = new SchemaBook();
    const both = ['string', 'number'].map((type) => book.compile({ properties: { id: { type } } }));
    expect(both.map((judge) => judge({ id: 'a' }) === null)).toEqual([true, false]);
  });
});

describe('what is no schema', () => {
  it.each([
    ['text', 'a schema is an object'],
    [[], 'a schema is an object'],
    [{ type: 'thing' }, 'schema is invalid'],
    [{ $ref: 'https://schemas.example/a.json' }, "can't resolve reference"],
    [{ pattern: '(' }, 'Invalid regular expression'],
    [
      { $schema: 'https://schemas.example/own' },
      'its $schema names a dialect that is not known: "https://schemas.example/own"',
    ],
  ])('is refused: %j', (schema, why) => {
    expect(() => new SchemaBook().compile(schema)).toThrow(why);
  });

  it('is not a pattern that is only right without the flag u', () => {
    expect(message({ pattern: '^[\\w-.]+$' }, 'a-b.c')).toBeNull();
    expect(message({ pattern: '^[\\w-.]+$' }, 'a b')).toContain('(pattern)');
  });
});

describe('a schema that has no end in sight', () => {
  /** Shorter than that of a run, which only a run needs. */
  const impatient = () => new SchemaBook({}, false, { eachMs: 300, allMs: 900 });
  const refusal = (work: () => unknown) => {
    try {
      work();
      return null;
    } catch (error) {
      if (error instanceof EndlessSchema) return error.message;
      throw error;
    }
  };

  it('is told by its pattern, which is tried once only', () => {
    const book = impatient();
    const judge = book.compile({ properties: { a: { pattern: '^(a+)+$' }, b: { pattern: '^[a-z]+$' } } });
    const reason = 'its pattern ^(a+)+$ takes longer than 300 ms over a text of 41 characters';
    expect(refusal(() => judge({ a: `${'a'.repeat(40)}!` }))).toBe(reason);
    expect(refusal(() => judge({ a: 'a' }))).toBe(reason);
    // Others go on.
    expect(judge({ b: 'A' })?.keyword).toBe('pattern');
  });

  it('is cut short where values are compared with each other', () => {
    const items = Array.from({ length: 100_000 }, (_, at) => ({ a: { b: at } }));
    expect(refusal(() => impatient().compile({ uniqueItems: true })(items))).toBe(
      'judging it takes longer than 300 ms',
    );
  });

  it('is cut short where a value has many members in short lists', () => {
    const items = Array.from({ length: 800 }, (_, at) => [at, ...Array.from({ length: 900 }, () => 0)]);
    // So short that no machine compares 288 million numbers within it.
    const hasty = new SchemaBook({}, false, { eachMs: 20, allMs: 900 });
    expect(refusal(() => hasty.compile({ uniqueItems: true })(items))).toBe(
      'judging it takes longer than 20 ms',
    );
  });

  it('leaves no time for others where several have none', () => {
    const book = impatient();
    const text = `${'a'.repeat(60)}!`;
    const reasons = ['^(a+)+$', '^(a|a)+$', '^(aa?)+$', '^(a?a)+$'].map((pattern) =>
      refusal(() => book.compile({ pattern })(text)),
    );
    expect(reasons.at(-1)).toBe('others before it took more than 0.9 s');
    expect(reasons[0]).toContain('its pattern ^(a+)+$');
  });
});

describe('a pattern that is long', () => {
  it.each([
    ['^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$', '0b9e7c2a-4d55-4d6e-9a53-0d7c0a3a5f11', true],
    ['^(?:[a-z]+\\.)+[a-z]+$', 'service.of.an.example', true],
    ['^(?:[a-z]+\\.)+[a-z]+$', 'service..example', false],
    ['\\d', 'a'.repeat(500_000), false],
  ])('is judged all the same: %s', (pattern, text, fits) => {
    expect(message({ pattern }, text) === null).toBe(fits);
  });
});
