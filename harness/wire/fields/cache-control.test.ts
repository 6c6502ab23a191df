import { describe, expect, it } from 'vitest';
import { readCacheControl } from './cache-control.ts';

describe('readCacheControl', () => {
  it('reads directives from every line, names in any case', () => {
    const cache = readCacheControl(['Public, Max-Age=60', 'no-cache="Set-Cookie, X"']);
    expect(cache.directives).toEqual(['public', 'max-age', 'no-cache']);
    expect(cache.has('PUBLIC')).toBe(true);
    expect(cache.get('public')).toBe('');
    expect(cache.get('max-age')).toBe('60');
    expect(cache.get('no-cache')).toBe('Set-Cookie, X');
    expect(cache.seconds('max-age')).toBe(60);
    expect(cache.get('no-store')).toBeUndefined();
    expect(cache.faults).toEqual([]);
  });

  it.each([
    ['max-age', 'max-age without a number of seconds'],
    ['max-age=-1', 'max-age without a number of seconds'],
    ['max-age=1.5', 'max-age without a number of seconds'],
    ['max-age=1, max-age=2', 'the directive max-age twice'],
    ['=1', 'not a directive'],
    ['no-store;', 'not a directive'],
    ['max-age = 1', 'not a directive'],
  ])('says what is wrong with %j', (value, fault) => {
    expect(readCacheControl([value]).faults[0]).toContain(fault);
  });

  it.each([
    ['', false, false, false],
    ['private, max-age=60', false, false, true],
    ['private, s-maxage=60', false, false, true],
    ['public', true, true, true],
    ['public, max-age=0', false, false, true],
    ['public, max-age=60, no-cache', false, false, false],
    ['public, max-age=60, no-cache="Set-Cookie"', true, true, false],
    ['s-maxage=60', true, true, true],
    ['s-maxage=0, max-age=60, public', false, false, true],
    ['must-revalidate', false, false, false],
    ['must-revalidate, max-age=60', true, true, true],
    ['max-age=60', false, true, true],
    ['public, max-age=60, no-store', false, false, false],
    ['no-cache', false, false, false],
    ['max-age=0', false, false, false],
  ])('knows what %j allows', (value, authorised, unguarded, reuse) => {
    const cache = readCacheControl([value]);
    expect([cache.sharesAuthorised, cache.sharesUnguarded, cache.allowsReuse]).toEqual([
      authorised,
      unguarded,
      reuse,
    ]);
  });
});
