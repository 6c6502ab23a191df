import { describe, expect, it } from 'vitest';
import { HOSTILE } from '../../fixtures/sample-evidence.ts';
import { cut, plainLine, plainText } from './plain.ts';

describe('plain text', () => {
  it('takes out terminal sequences and writes out what could hide or reorder', () => {
    expect(plainText('\u001b[31mred\u001b[0m \u0000\u202egnp\u200b')).toBe('red \\0\\u{202e}gnp\\u{200b}');
  });

  it('keeps line breaks, and a line keeps none', () => {
    expect(plainText('a\r\nb\rc\nd\te')).toBe('a\nb\nc\nd    e');
    expect(plainLine('  a\r\n b\u2028c\td ')).toBe('a b c d');
  });

  it('leaves no control, format or surrogate character of a hostile text', () => {
    expect(plainLine(HOSTILE)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
  });

  it('is bounded, and never cuts a surrogate pair in two', () => {
    expect(plainText('x'.repeat(1_000_000), 100)).toHaveLength(100);
    expect(plainLine('\n'.repeat(50).padEnd(1_000, '\0'), 40).length).toBeLessThanOrEqual(40);
    expect(cut('ab😀cd', 4)).toBe('ab…');
  });
});
