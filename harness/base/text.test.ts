import { describe, expect, it } from 'vitest';
import { grouped, shortened, withShortValues } from './text.ts';

const KEY = 'k'.repeat(9_215);

describe('a long value', () => {
  it('loses its middle, and tells its size there', () => {
    expect(shortened(`a${KEY}`, 40)).toBe('akkkkkkkkkkkkkk…9,216 characters…kkkkkkk');
    expect(shortened('as long as that', 15)).toBe('as long as that');
  });

  it.each([15, 16, 17, 18, 19, 20, 21, 22])('is cut to %i units, but in no character', (longest) => {
    const short = shortened('😀'.repeat(20), longest + 10);
    expect(short.isWellFormed()).toBe(true);
    expect(short.length).toBeLessThanOrEqual(longest + 10);
  });

  it('is shortened in the middle of a sentence, which stays whole', () => {
    expect(withShortValues(`expected 401, got 200 for\nthe key "${KEY}" of 9 KiB`, 30)).toBe(
      'expected 401, got 200 for\nthe key "kkkkkkk…9,217 characters…kkk" of 9 KiB',
    );
  });

  it('keeps the difference to the one before it', () => {
    const other = `${KEY.slice(0, 5_000)}😀${KEY.slice(5_002)}`;
    expect(withShortValues(`expected ${KEY}, got ${other},`, 60)).toBe(
      `expected kkkkkkkkkkkkkkkkkkkkkkkkkkkk…9,216 characters…kkkkkkkkkkkkk, got kkkkkkkkkkkkkkk…kkkkkkkkkk😀kkkkkkkk…9,216 characters…`,
    );
    const same = withShortValues(`expected ${KEY}, got ${KEY},`, 60).split(' got ');
    expect(same[0]).toBe(`expected ${same[1]}`);
  });
});

it.each([0, 7, 999, 1_000, 12_480, 999_999, 1_234_567, -1_000, 1_234.5, 0.125, 0.12345, 99_999.9999])(
  '%d is grouped as in English',
  (n) => {
    expect(grouped(n)).toBe(n.toLocaleString('en'));
  },
);
