import { describe, expect, it } from 'vitest';
import { deviationIn, filledIn, headlineOf } from './sentence.ts';

const LONG = `"${'k'.repeat(9_000)}" for GET`;

describe('what a violation says', () => {
  it.each([
    [
      'expected status 401 or 403, got status 200 for GET with a wrong key [auth.scheme: a.yaml:3]',
      'status 401 or 403',
      'status 200 for GET with a wrong key',
      'status 200',
    ],
    [
      'expected JSON, got Content-Type text/html; charset=utf-8 for GET, for HEAD and for 3 more; none for PUT [x]',
      'JSON',
      'Content-Type text/html; charset=utf-8 for GET, for HEAD and for 3 more; none for PUT',
      'Content-Type text/html; charset=utf-8',
    ],
    ['expected a, got [1], got [2] [x]', 'a', '[1], got [2]', '[1], got [2]'],
    ['expected service, got refusals for 60 s', 'service', 'refusals for 60 s', 'refusals for 60 s'],
  ])('is taken apart: %s', (message, expected, got, value) => {
    expect(deviationIn(message)).toEqual({ expected, got, value });
  });

  it.each(['', 'status: expected 200 but was 404', 'expected nothing else', 'a, got b'])(
    'is something else: %j',
    (message) => expect(deviationIn(message)).toBeNull(),
  );

  it('is taken apart at once, however long it is', () => {
    expect(deviationIn(`expected a, got ${' ['.repeat(2_000_000)}]`)?.got).toHaveLength(3_999_998);
  });
});

describe('a sentence with values', () => {
  it.each([
    ['A key gets {got}', 'expected b, got status 200 for GET', 'A key gets status 200'],
    ['A key gets {got}', 'Mismatch', 'A key gets something else'],
    ['A key is answered {status:200}', 'expected b, got status 204 for GET', 'A key is answered 204'],
    ['A key is answered {status:200}', 'expected b, got no answer for GET', 'A key is answered 200'],
    [
      'A key gets {answer}',
      'expected b, got no whole response (reset) for GET',
      'A key gets no whole response (reset)',
    ],
    ['No place', 'expected b, got c', 'No place'],
  ])('%s, %s', (sentence, message, filled) => {
    expect(filledIn(sentence, message)).toBe(filled);
  });

  it('says that no response came where it is about one', () => {
    const message = 'expected a Date field, got no whole response (reset) for GET [x]';
    expect(headlineOf('A response has no Date header', message)).toBe(
      'The service gives no whole response (reset)',
    );
    expect(headlineOf('A key gets {answer}', message)).toBe('A key gets no whole response (reset)');
  });

  it('shortens a long value in its middle', () => {
    expect(filledIn('It says {got}', `expected b, got ${LONG}`)).toMatch(
      /^It says "k{20,40}…[\d,]+ characters…k{10,20}"$/,
    );
  });
});
