import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { isLatin1, utf8Beginning, utf8FaultAt, visible } from './utf8.ts';

describe('visible', () => {
  it('writes out what cannot be seen', () => {
    expect(visible('a\u001b[31m\r\nb\u202ec\u0000\u0085\u2028\ud800é😀\\')).toBe(
      'a\\x1b[31m\\r\\nb\\u{202e}c\\0\\x85\\u{2028}\\u{d800}é😀\\',
    );
  });

  it('is one bounded line without control characters, whatever was sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), fc.nat(50), (text, limit) => {
        const shown = visible(text, limit);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(shown.length).toBeLessThanOrEqual(limit + 1);
      }),
    );
  });
});

describe('text that is cut', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc…'],
    ['', 0, ''],
    ['a', 0, '…'],
    // What is written out counts as written.
    ['\n\n', 4, '\\n\\n'],
    ['\n\n', 3, '\\n\\…'],
    ['a\u0001', 4, 'a\\x0…'],
    ['a\u0001', 5, 'a\\x01'],
  ])('%j at %i is %j', (text, limit, shown) => {
    expect(visible(text, limit)).toBe(shown);
  });

  it('is cut at 1000 characters, unless something else is said', () => {
    expect(visible('x'.repeat(1_000))).toBe('x'.repeat(1_000));
    expect(visible('x'.repeat(1_001))).toBe(`${'x'.repeat(1_000)}…`);
  });
});

describe('octets that are cut', () => {
  const cut = (text: string, limit: number) =>
    Buffer.from(utf8Beginning(Buffer.from(text), limit)).toString();

  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['aé', 2, 'a'],
    ['aé', 3, 'aé'],
    ['é', 1, ''],
    ['a😀b', 5, 'a😀'],
    ['a😀b', 4, 'a'],
    ['a😀b', 3, 'a'],
    ['a😀b', 2, 'a'],
  ])('%s within %i are %s', (text, limit, beginning) => {
    expect(cut(text, limit)).toBe(beginning);
  });

  it('are the same octets if they are short enough', () => {
    const octets = Buffer.from('abc');
    expect(utf8Beginning(octets, 3)).toBe(octets);
  });

  it('go back by three octets at most, however they continue', () => {
    expect(utf8Beginning(Buffer.alloc(9, 0x80), 8)).toHaveLength(5);
    expect(utf8Beginning(Buffer.alloc(9, 0x80), 2)).toHaveLength(0);
  });
});

it.each([
  ['a', true],
  ['ÿ', true],
  ['Ā', false],
  ['a€', false],
])('%s has a character for each octet: %s', (text, isIt) => {
  expect(isLatin1(text)).toBe(isIt);
});

it.each([
  ['after a byte order mark', [0xef, 0xbb, 0xbf, 0xff], 3],
  ['at the beginning', [0xff], 0],
  ['at the beginning of several', [0xff, 0x61, 0x61], 0],
  ['after characters of several octets', [0xc3, 0xa9, 0xe2, 0x82, 0xac, 0x80], 5],
  ['nowhere', [0x61], null],
])('the first octet that is no UTF-8 is %s', (_, octets, at) => {
  expect(utf8FaultAt(Uint8Array.from(octets))).toBe(at);
});
