import { STATUS_CODES as NODE_STATUS_CODES } from 'node:http';
import { describe, expect, it } from 'vitest';
import { findStatusCode, isRegistered, STATUS_CODES } from './status-registry.ts';

describe('the status code registry', () => {
  it('is sorted, without doubles, each code of a class that exists', () => {
    const codes = STATUS_CODES.map(({ code }) => code);
    expect(codes).toEqual([...new Set(codes)].sort((a, b) => a - b));
    expect(codes.every((code) => code >= 100 && code <= 599)).toBe(true);
  });

  it('has the codes that Node knows, but for those that the registry reserves or does not have', () => {
    const missing = Object.keys(NODE_STATUS_CODES).filter((code) => !isRegistered(Number(code)));
    // 418 is reserved, 509 was never registered.
    expect(missing).toEqual(['418', '509']);
  });

  it('knows what is not assigned', () => {
    for (const code of [0, 99, 299, 306, 418, 419, 420, 499, 520, 522, 600, 999]) {
      expect(isRegistered(code)).toBe(false);
    }
    expect(findStatusCode(429)).toEqual({ code: 429, name: 'Too Many Requests', reference: 'RFC 6585 §4' });
  });
});
