import { describe, expect, it } from 'vitest';
import { findingIn } from '../results/read-results.ts';
import { formOf, likeness, partsOf, signatureBefore, signatureOf, withoutOperation } from './form.ts';

const found = (message: string) => findingIn(message, 'search', null);

function alike(one: string, other: string): number {
  const [first = [''], second = ['']] = [partsOf(found(one))[0], partsOf(found(other))[0]] as const;
  return likeness(formOf(first), formOf(second));
}

describe('a signature', () => {
  it('that was cut out of a message is made as it was', () => {
    const finding = found('expected a, got status 200 for GET with null for a key; none for HEAD [x]');
    expect(signatureOf(finding)).toEqual(['status 200 for GET with null for a key', 'none for HEAD']);
    expect(signatureBefore(finding)).toEqual([
      'status 200 for GET with null',
      'status 200 for a key',
      'none for HEAD',
    ]);
  });

  const message =
    'expected status 200, got a link to /a/b?c for POST /v1/a a second time; status 500 for GET /v1/resources/{id} as documented and for 3 more [x]';

  it('names operations, and no other path', () => {
    expect(signatureOf(found(message))).toEqual([
      'a link to PATH?c for POST /v1/a a second time',
      'status 500 for GET /v1/resources/{id} as documented',
      'status 500 for *',
    ]);
  });

  it('is told without them as well', () => {
    expect(signatureOf(found(message)).map(withoutOperation)).toEqual([
      'a link to PATH?c for POST PATH a second time',
      'status 500 for GET PATH as documented',
      'status 500 for *',
    ]);
  });
});

describe('what a message says', () => {
  it.each([
    [
      'without its ground and its values',
      'expected status 401, got status 200 for GET /v1/resources/{id} without a credential [auth.scheme: a.yaml:3:1]',
      [['status 2xx', 'METHOD PATH without a credential']],
    ],
    [
      'in its parts',
      'expected a JSON body, got status 404 without content for GET with a key; "a; b" at octet 17 for HEAD [x]',
      [
        ['status 4xx without content', 'METHOD with a key'],
        ['VALUE at octet N', 'HEAD'],
      ],
    ],
    [
      'with the parameters of a media type, which are no part',
      'expected JSON, got Content-Type text/html; charset=utf-8 for GET as documented [x]',
      [['Content-Type MEDIA', 'METHOD as documented']],
    ],
    [
      'without a digest, whatever its octets look like',
      'expected the accept value, got t5x+/v1/zoe9bB7+1/AbCdEfGhI= for a WebSocket as configured [x]',
      [['VALUE', 'a WebSocket as configured']],
    ],
    [
      'whole, where it expects nothing',
      'status: expected 200 but was 404',
      [['status: expected N but was N']],
    ],
  ])('%s', (_, message, parts) => {
    expect(partsOf(found(message))).toEqual(parts);
  });

  it.each([
    ['request 20', 'request <one less>'],
    ['request 22', 'request <one more>'],
    ['request 11', 'request <half>'],
    ['request 4', 'request <less>'],
    ['request 99', 'request <more>'],
  ])('tells by the place of the first refused request what is wrong: %s', (got, part) => {
    expect(partsOf(found(`expected request 21 within 60 s to be the first refused, got ${got} [x]`))).toEqual(
      [[part]],
    );
  });

  it('is bounded, however long it is', () => {
    expect(partsOf(found(`expected a, got ${'x; '.repeat(1_000_000)}`)).length).toBeLessThan(10);
  });
});

describe('two messages', () => {
  it.each([
    ['with another status of the same class', 'got status 201 for GET with a wrong key', 1],
    ['with another method', 'got status 200 for POST with a wrong key', 1],
    ['with a status of another class', 'got status 500 for GET with a wrong key', 0],
    ['about something else that was sent', 'got status 200 for GET with an empty key', 0],
    ['of which one says nothing of what was sent', 'got status 200', 1],
    ['of which one leaves out what else was sent', 'got status 200 for GET in capitals and for 6 more', 1],
    ['with other words', 'got nothing at all for GET with a wrong key', 0],
  ])('%s', (_, other, expected) => {
    expect(alike('expected a, got status 200 for GET with a wrong key [x]', `expected a, ${other} [x]`)).toBe(
      expected,
    );
  });
});
