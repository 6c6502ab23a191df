import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import fc from '../fixtures/properties.ts';
import { shapeFaults } from './shape-faults.ts';

const name = fc.constantFrom('a', 'b', 'cd');
const text = fc.constantFrom('', 'a', 'ab', '\u{1f600}\u{1f600}', 'abcd');
const scalar = fc.oneof(text, fc.constantFrom(-1, 0, 1, 1.5, 3, true, false, null));

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { noNullPrototype: true }),
  ),
}));

const of = (keyword: string, given: fc.Arbitrary<unknown>) =>
  fc.record({ [keyword]: given }, { requiredKeys: [] });
const together = (...parts: readonly fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((each) => Object.assign({}, ...each) as object);
const small = fc.constantFrom(0, 1, 2);
const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'];
const type = fc.oneof(
  fc.constantFrom(...TYPES),
  fc.uniqueArray(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 2 }),
);

const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    together(of('type', type), of('minLength', small), of('maxLength', small)),
    together(of('type', type), of('minimum', small), of('maximum', small)),
    together(
      of('pattern', fc.constantFrom('^a', '^.{2}$')),
      of('enum', fc.uniqueArray(scalar, { minLength: 1 })),
    ),
    of('const', scalar),
    fc.constant({ $ref: '#/$defs/shared' }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    together(
      ...[
        of('type', fc.constant('array')),
        of('items', tie('schema')),
        of('minItems', small),
        of('maxItems', small),
      ],
      of('uniqueItems', fc.constant(true)),
    ),
    together(
      ...[
        of('type', fc.constant('object')),
        of('required', fc.uniqueArray(name)),
        of('minProperties', small),
      ],
      of('properties', fc.dictionary(name, tie('schema'), { noNullPrototype: true })),
      of('additionalProperties', fc.oneof(fc.boolean(), tie('schema'))),
      of('propertyNames', fc.constantFrom({ pattern: '^[a-z]$' }, { minLength: 2 })),
    ),
  ),
}));
const shared = { type: 'object', required: ['a'], properties: { b: { $ref: '#/$defs/shared' } } };

function bothOn(given: unknown, candidate: unknown) {
  const whole = { ...(given as object), $defs: { shared } };
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false, ownProperties: true }).compile(
    whole,
  );
  ajv(candidate);
  const errors = ajv.errors ?? [];
  // What else is wrong with a value of another type is only a consequence.
  const isConsequence = ({ keyword, instancePath, parentSchema }: ErrorObject) =>
    keyword !== 'type' &&
    errors.some(
      (other) =>
        other.keyword === 'type' &&
        other.instancePath === instancePath &&
        other.parentSchema === parentSchema,
    );
  const told = errors
    .filter(({ propertyName }) => propertyName === undefined)
    .filter((error) => !isConsequence(error))
    .map(({ instancePath, keyword, message }) => `${instancePath} ${keyword} ${message}`);
  const ours = shapeFaults(whole, { shared })(candidate).map(
    ({ path, keyword, message }) => `${path.map((step) => `/${step}`).join('')} ${keyword} ${message}`,
  );
  return { told, ours };
}

/** Of several duplicates ajv names one or another, or none among items of another type. */
const withoutDuplicates = (lines: readonly string[]) =>
  lines.filter((line) => !line.includes('duplicate')).toSorted();

describe('what a shape refuses', () => {
  it('is what ajv refuses, in its words', () => {
    fc.assert(
      fc.property(schema, value, (given, candidate) => {
        const { told, ours } = bothOn(given, candidate);
        expect(withoutDuplicates(ours)).toEqual(withoutDuplicates(told));
        expect(ours.length === 0).toBe(told.length === 0);
      }),
      { numRuns: 150 },
    );
  });

  it.for([
    [{ uniqueItems: true, items: { type: 'string' } }, ['a', 'b', 'a']],
    [{ items: { type: 'string', minLength: 1 } }, ['', 1, 'a']],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1],
    [{ required: ['toString'] }, {}],
    [{ additionalProperties: false, properties: { a: {} } }, JSON.parse('{"__proto__":1}')],
  ] as const)('is told as ajv tells it: %j of %j', ([given, candidate]) => {
    const { told, ours } = bothOn(given, candidate);
    expect(ours).toEqual(told);
    expect(ours.length).toBeGreaterThan(0);
  });

  it('is not asked of a shape with a keyword that is not checked', () => {
    expect(() => shapeFaults({ oneOf: [] })(1)).toThrow(
      'a shape has the keyword oneOf, which is not checked',
    );
  });
});
