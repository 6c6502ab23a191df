import { expect, it, vi } from 'vitest';
import { remembering } from './remembering.ts';

const BOUNDS = { values: 3, length: 12, total: 10 };

it('reads a text again only after later ones have taken its place', () => {
  const read = vi.fn((text: string) => text.length);
  const lengthOf = remembering(BOUNDS, read);
  for (const text of ['a', 'b', 'a', 'c', 'a', 'd', 'b']) expect(lengthOf(text)).toBe(1);
  expect(read.mock.calls.flat()).toEqual(['a', 'b', 'c', 'd']);
  expect(lengthOf('a')).toBe(1);
  expect(read).toHaveBeenCalledTimes(5);
});

it('holds no more than its bounds allow, and the latest text in any case', () => {
  const read = vi.fn((text: string) => text.length);
  const lengthOf = remembering(BOUNDS, read);
  for (const text of [
    '1234',
    '5678',
    '90ab',
    '5678',
    '1234',
    'long as that',
    'long as that',
    'longer than that',
  ])
    expect(lengthOf(text)).toBe(text.length);
  expect(read.mock.calls.flat()).toEqual([
    '1234',
    '5678',
    '90ab',
    '1234',
    'long as that',
    'longer than that',
  ]);
  expect(lengthOf('longer than that')).toBe(16);
  expect(read).toHaveBeenCalledTimes(7);
});

it('forgets everything with another version', () => {
  let version = 1;
  const seen = remembering(
    BOUNDS,
    (text) => `${text}${version}`,
    () => version,
  );
  expect([seen('a'), seen('a')]).toEqual(['a1', 'a1']);
  version = 2;
  expect([seen('a'), seen('a')]).toEqual(['a2', 'a2']);
});
