import { describe, expect, it } from 'vitest';
import { partialFault } from './partial-content.ts';

describe('partialFault', () => {
  it.each([
    ['bytes 0-1/100', 2],
    ['bytes 0-0/1', 1],
    ['bytes 0-99/*', 100],
    ['Bytes 0-1/100', 2],
  ])('finds nothing wrong with %j and %i octets', (contentRange, octets) => {
    expect(partialFault(contentRange, octets)).toBeNull();
  });

  it.each([
    [undefined, 2, 'no Content-Range'],
    ['0-1/100', 2, 'Content-Range: 0-1/100'],
    ['bytes 0-1', 2, 'Content-Range: bytes 0-1'],
    ['bytes */100', 0, 'Content-Range: bytes */100'],
    ['bytes 1-2/100', 2, 'Content-Range: bytes 1-2/100'],
    ['bytes 1-0/100', 0, 'Content-Range: bytes 1-0/100'],
    ['bytes 0-1/1', 2, 'Content-Range: bytes 0-1/1'],
    ['bytes 0-1/100', 100, 'Content-Range: bytes 0-1/100 with 100 octets'],
    [`bytes ${'9'.repeat(400)}-1/2`, 2, 'Content-Range: bytes 999'],
  ])('says what is wrong with %j and %i octets', (contentRange, octets, fault) => {
    expect(partialFault(contentRange, octets)).toContain(fault);
  });
});
