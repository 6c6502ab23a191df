import { describe, expect, it } from 'vitest';
import {
  acceptQueryFault,
  contentLanguageFault,
  lifecycleFault,
  partialFault,
  readContentRange,
  repeatedField,
} from './single-fields.ts';

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

  it.each([
    ['X-RateLimit-Remaining', ['99', '98'], true],
    ['x-ratelimit-remaining-minute', ['19', '19'], true],
    ['RateLimit-Reset', ['30', '30.5'], true],
    ['X-RateLimit-Limit', ['10', '10;w=1'], false],
    ['RateLimit', ['"burst";r=9', '"daily";r=99'], false],
    ['RateLimit-Policy', ['"burst";q=10', '"daily";q=100'], false],
  ])('takes numbers of a quota for single: %s', (name, values, isRepeated) => {
    expect(repeatedField(values.map((value) => [name, value])) !== null).toBe(isRepeated);
  });

  it('leaves lists alone, and fields that nobody has heard of', () => {
    const lines = ['Vary', 'Set-Cookie', 'Cache-Control', 'WWW-Authenticate', 'X-Own', 'constructor'];
    expect(repeatedField([...lines, ...lines].map((name) => [name, 'a']))).toBeNull();
  });
});

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

const now = new Date('2026-03-02T10:00:00Z');

describe('a Deprecation field', () => {
  it.each(['@1688169599', '@-1', '@0;note="x"'])('may be %s', (value) => {
    expect(lifecycleFault('Deprecation', value, now)).toBeNull();
  });

  it.each(['true', '?1', '1688169599', 'Sun, 06 Nov 1994 08:49:37 GMT', '@1.5', ''])(
    'may not be %j',
    (value) => {
      expect(lifecycleFault('Deprecation', value, now)).toContain(`"${value}"`);
    },
  );
});

describe('a Sunset field', () => {
  it('is an HTTP-date', () => {
    expect(lifecycleFault('Sunset', 'Sun, 06 Nov 1994 08:49:37 GMT', now)).toBeNull();
  });

  it.each(['2027-06-30', '@1688169599', ''])('may not be %j', (value) => {
    expect(lifecycleFault('Sunset', value, now)).toContain(`"${value}"`);
  });
});

it.each([
  ['x-count', ['1', '2'], false],
  ['my-ratelimit-limit', ['1', '2'], false],
  ['x-ratelimit-limit2', ['1', '2'], false],
  ['ratelimit-limit', ['1', '2'], true],
  ['date', ['1'], false],
])('the field %s with %j is repeated: %s', (name, values, isRepeated) => {
  expect(repeatedField(values.map((value) => [name, value] as const)) !== null).toBe(isRepeated);
});

describe('Content-Range', () => {
  it.each([
    ['BYTES 5-9/100', { first: 5, last: 9, total: 100 }],
    ['bytes 5-9/*', { first: 5, last: 9, total: null }],
    ['x bytes 5-9/100', null],
    ['bytes 5-9/100 x', null],
    ['bytes 5-9/*x', null],
  ])('%s', (value, range) => {
    expect(readContentRange(value)).toEqual(range);
  });

  it('ends no sooner than it begins', () => {
    expect(partialFault('bytes 0-0/*', 1)).toBeNull();
    expect(partialFault('bytes 1-0/*', 0)).toBe('Content-Range: bytes 1-0/*');
    expect(partialFault('bytes 2-0/*', -1)).toBe('Content-Range: bytes 2-0/*');
  });
});

describe('Deprecation', () => {
  it.each(['at @1', '@1x', '@1;=', '@1 x', 'x@1'])('may not be %j', (value) => {
    expect(lifecycleFault('Deprecation', value, now)).toContain(`"${value}"`);
  });
});

describe('Accept-Query', () => {
  it.each(['application/json', '"application/json", text/*', 'application/json;v=1', ''])(
    'may be %j',
    (value) => {
      expect(acceptQueryFault(value)).toBeNull();
    },
  );

  it.each([
    ['json', 'which is no list of media types'],
    ['application/json, json', 'which is no list of media types'],
    ['application/json, 5', 'which is no list of media types'],
    ['5, application/json', 'which is no list of media types'],
    ['application/json/x', 'which is no list of media types'],
    ['"a b/c"', 'which is no list of media types'],
    ['"b/c d"', 'which is no list of media types'],
    ['"', 'which is no structured field'],
  ])('may not be %s', (value, fault) => {
    expect(acceptQueryFault(value)).toBe(`"${value}", ${fault}`);
  });
});

it('the first member of Content-Language that is no tag is told', () => {
  expect(contentLanguageFault('de, x_y, a_b')).toBe('"x_y", which is no language tag');
});
