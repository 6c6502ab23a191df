import { describe, expect, it } from 'vitest';
import { repeatedField } from './single-fields.ts';

describe('repeatedField', () => {
  it('finds a field of one value on several lines, in whatever letters its name is', () => {
    const lines = [
      ['Date', 'a'],
      ['Vary', 'x'],
      ['Vary', 'y'],
      ['Content-Type', 'text/html'],
      ['content-type', 'application/json'],
    ] as const;
    expect(repeatedField(lines)).toBe('Content-Type: "text/html" and "application/json"');
  });

  it('leaves lists alone, and fields that nobody has heard of', () => {
    const lines = ['Vary', 'Set-Cookie', 'Cache-Control', 'WWW-Authenticate', 'X-Own', 'constructor'];
    expect(repeatedField([...lines, ...lines].map((name) => [name, 'a']))).toBeNull();
  });
});
