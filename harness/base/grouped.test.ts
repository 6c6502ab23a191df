import { expect, it } from 'vitest';
import { grouped } from './grouped.ts';

it.each([0, 7, 999, 1_000, 12_480, 999_999, 1_234_567, -1_000, 1_234.5, 0.125, 0.12345, 99_999.9999])(
  '%d is grouped as in English',
  (n) => {
    expect(grouped(n)).toBe(n.toLocaleString('en'));
  },
);
