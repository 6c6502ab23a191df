import { describe, expect, it } from 'vitest';
import { readTransportSecurity } from '../single-fields.ts';

describe('Strict-Transport-Security', () => {
  it.each([
    ['max-age=31536000', 31_536_000],
    ['max-age=31536000; includeSubDomains; preload', 31_536_000],
    ['Max-Age="60" ; INCLUDESUBDOMAINS', 60],
    ['includeSubDomains;max-age = 60;', 60],
    [';; max-age=0', 0],
    ['max-age=60; report-uri="https://a.example/;x"; other=1', 60],
  ])('%s: %i s', (value, seconds) => {
    expect(readTransportSecurity(value)).toEqual({ maxAgeSeconds: seconds, fault: null });
  });

  it.each([
    ['', 'no max-age'],
    ['includeSubDomains', 'no max-age'],
    ['max-age', 'no number of seconds'],
    ['max-age=', 'no value of max-age'],
    ['max-age=1y', 'no number of seconds'],
    ['max-age=-1', 'no number of seconds'],
    ['max-age=60, includeSubDomains', 'where ; should be'],
    ['max-age=60 includeSubDomains', 'where ; should be'],
    ['max-age=60; max-age=60', 'max-age twice'],
    ['"max-age=60"', 'where ; should be'],
  ])('%s: %s', (value, fault) => {
    expect(readTransportSecurity(value).fault).toContain(fault);
  });
});
