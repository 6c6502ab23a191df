import { describe, expect, it } from 'vitest';
import { EndlessSchema, SchemaBook } from '../../../../wire/json/schema.ts';
import { answerJudge, described, expectDocumentFault, onlyOperation } from '../fixtures/described.ts';

/** Documents that would take for ever, or all of the memory, were they read as they ask for it. */
const ref = (name: string | number) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ content: { 'application/json': { schema } } });

/** An operation that is sent this schema and answers it. */
function both(schemas: Readonly<Record<string, object>>, first: string) {
  const content = json(ref(first));
  const post = { requestBody: { required: true, ...content }, responses: { 200: content } };
  return { openapi: '3.1.0', paths: { '/things': { post } }, components: { schemas } };
}

/** Schemas each of which is made of the next one. */
function chain(length: number, link: (next: object) => object, last: object): Record<string, object> {
  return Object.fromEntries(
    Array.from({ length }, (_, index) => [
      `S${index}`,
      index === length - 1 ? last : link(ref(`S${index + 1}`)),
    ]),
  );
}

const BUSH: Parameters<typeof chain> = [
  30,
  (next) => ({ oneOf: [next, { allOf: [next, { type: 'string' }] }] }),
  { type: 'integer' },
];

describe('a document that asks for too much', () => {
  it.each<[string, Record<string, object>]>([
    [
      'schemas that are made of each other',
      {
        S0: { allOf: [ref('S1')], properties: { a: {} } },
        S1: { allOf: [ref('S0')], properties: { b: {} } },
      },
    ],
    [
      'a value that holds itself',
      { S0: { type: 'object', required: ['next'], properties: { next: ref('S0') } } },
    ],
    ['alternatives of alternatives', chain(...BUSH)],
    ['lists of lists', chain(30, (items) => ({ type: 'array', minItems: 90, items }), { type: 'string' })],
    [
      'members of members',
      chain(
        30,
        (next) => ({ type: 'object', required: ['a', 'b', 'c'], properties: { a: next, b: next, c: next } }),
        { type: 'string' },
      ),
    ],
  ])('loads, and does not call what cannot be made up: %s', async (_, schemas) => {
    const { uncallable } = await onlyOperation(both(schemas, 'S0'));
    expect(uncallable).toMatch(/^its body has no example: /);
  });

  it.each(['((a{1000}){1000}){1000}', '(((((x{9}y+){9}){9}){9}){9}){9}', '(x{50}){50}(y{900}){900}'])(
    'loads soon with a pattern for which no text is made up: %s',
    async (pattern) => {
      const { uncallable } = await onlyOperation(both({ S0: { type: 'string', pattern } }, 'S0'));
      expect(uncallable).toMatch(/^its body has no example: /);
    },
  );

  describe('with alternatives within alternatives', () => {
    const alternatives = (depth: number) =>
      Array.from({ length: depth }).reduce<object>(
        (inner) => ({ oneOf: [inner, { type: 'object', properties: { a: inner } }] }),
        { type: 'string' },
      );
    const describedBy = (depth: number) => described(both({ S0: alternatives(depth) }, 'S0'));

    it('gives a verdict where they are few', async () => {
      const { operations, definitions } = await describedBy(3);
      const judge = new SchemaBook(definitions).compile(operations[0]?.response.schema);
      expect(judge('a')).toBeNull();
      expect(judge(1)).not.toBeNull();
    });

    it('loads with thousands, and gives up on them when its time is over', async () => {
      const { operations, definitions } = await describedBy(12);
      const book = new SchemaBook(definitions, undefined, { eachMs: 1, allMs: 1 });
      expect(() => book.compile(operations[0]?.response.schema)('a')).toThrow(EndlessSchema);
    });
  });

  it('loads with thousands of schemas that lead from one to the next', async () => {
    const last = { type: 'integer' };
    const schemas = chain(1_000, (next) => next, last);
    expect((await onlyOperation(both(schemas, 'S0'))).uncallable).toBeNull();
    const judge = await answerJudge(both(schemas, 'S0'));
    expect(judge(1)).toBeNull();
    expect(judge('a')?.keyword).toBe('type');
  });

  it('gives no verdict on a response for which a schema has no end', async () => {
    const circle = { S0: { allOf: [ref('S1')] }, S1: { allOf: [ref('S0')] } };
    for (const [schemas, why] of [
      [chain(...BUSH), 'its schema leads to more than 1000000 others'],
      [circle, 'the schema refers to itself without end'],
    ] as const) {
      const judge = await answerJudge(both(schemas, 'S0'));
      expect(() => judge(1)).toThrow(new EndlessSchema(why));
    }
  });

  it('reads names that every object has as names', async () => {
    const schema =
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}},"required":["constructor"]}';
    const document = `{"openapi":"3.1.0","__proto__":{"polluted":true},"paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":${schema}}}}}}}}}`;
    const judge = await answerJudge(document);
    expect(judge({})?.message).toContain('constructor');
    expect(judge(JSON.parse('{"constructor":"a"}'))?.message).toContain('must be integer');
    expect(judge(JSON.parse('{"constructor":1}'))).toBeNull();
    expect('polluted' in {}).toBe(false);
  });
});

const PATHS = 'paths: { /a: { get: { responses: { 200: { description: ok } } } } }\n';
const power = (link: (name: string) => string) =>
  `openapi: 3.1.0\na0: &a0 { x: 1, y: 2 }\n${Array.from({ length: 25 }, (_, i) => `a${i + 1}: &a${i + 1} ${link(`*a${i}`)}\n`).join('')}${PATHS}`;

describe('a document that is too large', () => {
  it.each([
    [
      'aliases of aliases',
      power((alias) => `{ p: ${alias}, q: ${alias} }`),
      'holds more than 2000000 values',
    ],
    [
      'merged aliases',
      power((alias) => `{ <<: ${alias}, ${alias.slice(1)}: ${alias} }`),
      'holds more than 2000000 values',
    ],
    [
      'a long list a thousand times',
      `openapi: 3.1.0\nlong: &long [${'1,'.repeat(9_999)}1]\nuse: [${'*long,'.repeat(500)}*long]\n${PATHS}`,
      'holds more than 2000000 values',
    ],
    ['an alias of what it stands in', `openapi: 3.1.0\na: &a { b: *a }\n${PATHS}`, 'nested more than 200'],
    ['brackets without end', `openapi: 3.1.0\nx: ${'['.repeat(100_000)}\n`, 'nested too deeply'],
    [
      'brackets of JSON',
      `{"openapi":"3.1.0","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      'nested more than 200',
    ],
    [
      'much YAML',
      `openapi: 3.1.0\n${PATHS}# ${'a'.repeat(16 * 1024 * 1024)}\n`,
      'is YAML of more than 16 MiB',
    ],
    ['much that is no JSON', `{"x":"${'a'.repeat(9 * 1024 * 1024)}",\n  §}`, 'is not JSON'],
  ])('is refused soon: %s', async (_, document, problem) => {
    await expectDocumentFault(document, { problem });
  });

  it('is read up to the size of the largest ones in use', async () => {
    // Most of such a document is prose and examples.
    const examples = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`e${at}`, { value: `${'words '.repeat(6_000)}${at}` }]),
    );
    const link = (next: object) => ({ type: 'object', properties: { next, id: { type: 'integer' } } });
    const schemas = chain(300, link, { type: 'string' });
    const paths = Object.fromEntries(
      Object.keys(schemas).map((name) => [`/${name}`, { get: { responses: { 200: json(ref(name)) } } }]),
    );
    const document = JSON.stringify({ openapi: '3.1.0', paths, components: { schemas, examples } });
    expect(document.length).toBeGreaterThan(10_000_000);
    const { operations } = await described(document);
    expect(operations).toHaveLength(300);
  });
});
