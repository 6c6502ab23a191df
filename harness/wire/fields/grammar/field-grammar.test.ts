import { describe, expect, it } from 'vitest';
import fc from '../../../base/fixtures/properties.ts';
import {
  FieldReader,
  linesIn,
  listElements,
  readMediaType,
  readParameters,
  trimSpace,
} from './field-grammar.ts';

describe('field grammar', () => {
  it('takes lists apart at commas outside quotes, empty elements left out (RFC 9110 §5.6.1)', () => {
    expect(listElements(' GET,\tHEAD , , "a,b\\",c" ,')).toEqual(['GET', 'HEAD', '"a,b\\",c"']);
    expect(listElements('')).toEqual([]);
    expect(listElements('"never ends, not, at all')).toEqual(['"never ends, not, at all']);
  });

  it('reads quoted strings with escapes and obs-text, but no control characters', () => {
    expect(new FieldReader('"a\\"b\\\\\u00e9"').quotedString()).toBe('a"b\\\u00e9');
    expect(new FieldReader('"a\u0001"').quotedString()).toBeNull();
    expect(new FieldReader('"a').quotedString()).toBeNull();
  });

  it.each([
    [';a=1; b="x;y" ;;C=2', { a: '1', b: 'x;y', c: '2' }, null],
    ['', {}, null],
    ['; a = 1', {}, '` = 1` after the parameter a, where = should be'],
    [';a=1;a=2', { a: '1' }, 'the parameter a twice'],
    [';a="x', {}, 'after a=, where a token or a quoted-string should be'],
    [';a=1 b', { a: '1' }, '`b` where ; or the end should be'],
  ])('reads the parameters %j', (value, parameters, fault) => {
    const read = readParameters(new FieldReader(value));
    expect(Object.fromEntries(read.parameters)).toEqual(parameters);
    if (fault === null) expect(read.fault).toBeNull();
    else expect(read.fault).toContain(fault);
  });

  it('trims spaces and tabs, and nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(' ', '\t', 'a', '\u00a0') }), (text) => {
        expect(trimSpace(text)).toBe(text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, ''));
      }),
    );
  });
});

it('the lines of a message are names and values in turn', () => {
  expect(linesIn(['A', '1', 'B', '2'])).toEqual([
    ['A', '1'],
    ['B', '2'],
  ]);
  expect(linesIn(['A', '1', 'B'])).toEqual([
    ['A', '1'],
    ['B', ''],
  ]);
  expect(linesIn([])).toEqual([]);
});

it.each([
  ['application/problem+json', 'json'],
  ['application/a+b+xml', 'xml'],
  ['application/json', null],
  // RFC 6838 §4.2.8: a suffix follows a name.
  ['application/+json', null],
])('%s has the suffix %j', (value, suffix) => {
  expect(readMediaType(value).mediaType?.suffix).toBe(suffix);
});

it('a character is taken if it is the next one, and none at the end', () => {
  expect(new FieldReader('').takeChar('')).toBe(false);
  expect(new FieldReader('ab').takeChar('b')).toBe(false);
  expect(new FieldReader('ab').takeChar('a')).toBe(true);
});
