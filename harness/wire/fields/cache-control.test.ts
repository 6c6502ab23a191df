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

describe('two directives', () => {
  it.each([
    ['public, private', 'private and public'],
    ['public, private="Set-Cookie"', null],
    ['private, max-age=60', null],
    ['private, no-store', null],
    ['no-store, public', 'no-store and public'],
    ['no-store, max-age=60', 'no-store and a lifetime'],
    ['no-store, s-maxage=1', 'no-store and a lifetime'],
    ['no-store, max-age=0', null],
    ['no-store', null],
    ['public', null],
    ['public, max-age=60', null],
    ['max-age=60', null],
    ['no-cache, max-age=60', null],
  ])('of %j contradict each other: %j', (value, contradiction) => {
    expect(readCacheControl([value]).contradiction).toBe(contradiction);
  });

  it('that are alike do no harm', () => {
    expect(readCacheControl(['max-age=1, MAX-AGE=1', 'no-store, no-store']).faults).toEqual([]);
  });

  it('are told with the value of each, and for the first twenty', () => {
    expect(readCacheControl(['max-age=1 2']).faults).toEqual(['not a directive: "max-age=1 2"']);
    expect(readCacheControl(['max-age="1"x']).faults).toEqual(['not a directive: "max-age="1"x"']);
    expect(readCacheControl([Array(30).fill('=1').join()]).faults).toHaveLength(20);
  });

  it('of which one has no number leave the other', () => {
    expect(readCacheControl(['public, max-age=x']).sharesAuthorised).toBe(true);
    expect(readCacheControl(['s-maxage=1, max-age=0']).allowsReuse).toBe(true);
    expect(readCacheControl(['s-maxage=0, max-age=1']).allowsReuse).toBe(true);
    expect(readCacheControl(['s-maxage=0, max-age=0']).allowsReuse).toBe(false);
  });
});
