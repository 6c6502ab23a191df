import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { visible } from './utf8.ts';

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
