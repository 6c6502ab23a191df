import { describe, expect, it } from 'vitest';
import fc from '../../../base/fixtures/properties.ts';
import { readHttpDate, readRetryAfter } from './http-date.ts';

const NOW = new Date('2026-11-21T00:00:00Z');

describe('readHttpDate', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', 'imf-fixdate', '1994-11-06T08:49:37.000Z'],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 'rfc850', '1994-11-06T08:49:37.000Z'],
    ['Sun Nov  6 08:49:37 1994', 'asctime', '1994-11-06T08:49:37.000Z'],
    ['Wed Nov 16 08:49:37 1994', 'asctime', '1994-11-16T08:49:37.000Z'],
    // Within fifty years of now: this century.
    ['Friday, 06-Nov-26 08:49:37 GMT', 'rfc850', '2026-11-06T08:49:37.000Z'],
    ['Thu, 29 Feb 2024 00:00:00 GMT', 'imf-fixdate', '2024-02-29T00:00:00.000Z'],
    // A leap second.
    ['Sat, 31 Dec 2016 23:59:60 GMT', 'imf-fixdate', '2017-01-01T00:00:00.000Z'],
  ])('reads %j', (value, form, at) => {
    expect(readHttpDate(value, NOW)).toEqual({ kind: 'date', form, at: new Date(at) });
  });

  it.each([
    ['', 'none of the three forms'],
    ['2026-11-21T00:00:00Z', 'none of the three forms'],
    ['Sat, 21 Nov 2026 00:00:00 UTC', 'none of the three forms'],
    ['Sat, 21 Nov 2026 00:00:00 +0000', 'none of the three forms'],
    ['sat, 21 nov 2026 00:00:00 gmt', 'none of the three forms'],
    ['Sat, 1 Nov 2026 00:00:00 GMT', 'none of the three forms'],
    ['Sat, 21 Nov 2026 00:00 GMT', 'none of the three forms'],
    ['Mon, 21 Nov 2026 00:00:00 GMT', 'that day is not Mon but Sat'],
    ['Mon, 31 Feb 2026 00:00:00 GMT', 'no such day'],
    ['Sat, 21 Nov 2026 24:00:00 GMT', 'no such time'],
  ])('refuses %j', (value, reason) => {
    const read = readHttpDate(value, NOW);
    expect(read.kind === 'invalid' && read.reason).toContain(reason);
  });

  it('reads every date that toUTCString writes', () => {
    const moment = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(moment, (date) => {
        date.setUTCMilliseconds(0);
        expect(readHttpDate(date.toUTCString(), NOW)).toEqual({
          kind: 'date',
          form: 'imf-fixdate',
          at: date,
        });
      }),
    );
  });
});

it.each([
  ['Sat, 21 Nov 2026 23:59:60 GMT', true],
  ['Sat, 21 Nov 2026 23:59:61 GMT', false],
  ['Sat, 21 Nov 2026 23:60:00 GMT', false],
  ['Sat, 21 Nov 2026 23:59:59 GMT', true],
  ['Sat, 21 Nov 2026 00:00:00 GMT', true],
])('the time of day of %s is one: %s', (value, isOne) => {
  expect(readHttpDate(value, NOW).kind).toBe(isOne ? 'date' : 'invalid');
});

it.each([
  // RFC 9110 §5.6.7: more than 50 years ahead is a year of the past.
  ['Friday, 06-Nov-76 08:49:37 GMT', '2076-11-06T08:49:37.000Z'],
  ['Sunday, 06-Nov-77 08:49:37 GMT', '1977-11-06T08:49:37.000Z'],
])('the year of %s has four digits', (value, at) => {
  expect(readHttpDate(value, NOW)).toEqual({ kind: 'date', form: 'rfc850', at: new Date(at) });
});

it('what is no date in Retry-After is told as what it seems to be', () => {
  const reason = (value: string) => {
    const read = readRetryAfter(value, NOW);
    return read.kind === 'invalid' ? read.reason : null;
  };
  expect(reason('Mon, 21 Nov 2026 00:00:00 GMT')).toMatch(/^that day is not Mon but Sat: "Mon/);
  expect(reason('in Mon, 21 Nov 2026 00:00:00 GMT')).toMatch(/^neither whole seconds nor an HTTP-date: "in/);
});
