import { describe, expect, it } from 'vitest';
import { readRetryAfter, retryAfterMs } from './grammar/http-date.ts';

const NOW = new Date('2026-11-21T12:00:00Z');

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120],
    ['007', 7],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])('reads %j as seconds', (value, seconds) => {
    expect(readRetryAfter(value, NOW)).toEqual({ kind: 'delay', seconds });
  });

  it('reads each form of an HTTP-date', () => {
    const at = new Date('2026-11-21T12:00:30Z');
    for (const [value, form] of [
      ['Sat, 21 Nov 2026 12:00:30 GMT', 'imf-fixdate'],
      ['Saturday, 21-Nov-26 12:00:30 GMT', 'rfc850'],
      ['Sat Nov 21 12:00:30 2026', 'asctime'],
    ] as const) {
      expect(readRetryAfter(value, NOW)).toEqual({ kind: 'date', at, form });
    }
  });

  it.each(['', '-1', '2.98', '3s', '+5', '1e3', '1, 2', '0x10', '٣', '2026-11-21T12:00:30Z', 'soon'])(
    'refuses %j',
    (value) => {
      const read = readRetryAfter(value, NOW);
      expect(read.kind === 'invalid' && read.reason).toContain('neither whole seconds nor an HTTP-date');
    },
  );

  it('says what is wrong with a date', () => {
    const read = readRetryAfter('Mon, 21 Nov 2026 12:00:30 GMT', NOW);
    expect(read.kind === 'invalid' && read.reason).toContain('that day is not Mon but Sat');
  });

  it('counts seconds from receipt, and dates from the Date of the response', () => {
    const moments = { receivedAt: NOW, date: new Date('2026-11-21T11:00:00Z') };
    expect(retryAfterMs({ kind: 'delay', seconds: 3 }, moments)).toBe(3000);
    const at = new Date('2026-11-21T11:00:05Z');
    expect(retryAfterMs({ kind: 'date', at, form: 'asctime' }, moments)).toBe(5000);
    expect(retryAfterMs({ kind: 'date', at, form: 'asctime' }, { ...moments, date: null })).toBe(0);
    expect(retryAfterMs({ kind: 'invalid', reason: '' }, moments)).toBeNull();
  });
});
