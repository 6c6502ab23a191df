import { describe, expect, it } from 'vitest';
import {
  type Deviation,
  deviationText,
  filledIn,
  findingText,
  firstGot,
  gotText,
  headlineOf,
  redactedFinding,
  sharedSide,
} from './finding.ts';

const got = (text: string, ...sent: readonly string[]) => ({ text, stimuli: sent.map((to) => ({ to })) });

describe('what a finding says', () => {
  it.each<[said: string, Deviation]>([
    [
      'expected status 401 or 403, got status 200 for GET with a wrong key',
      { expected: 'status 401 or 403', got: [got('status 200', 'GET with a wrong key')] },
    ],
    [
      'expected JSON, got HTML for GET and for HEAD; none for PUT and for 3 more',
      { expected: 'JSON', got: [got('HTML', 'GET', 'HEAD'), got('none', 'PUT')], more: 3 },
    ],
    ['expected service, got refusals for 60 s', { expected: 'service', got: [got('refusals for 60 s')] }],
    [
      'no such field; another one; and 2 more (as a draft)',
      { expected: null, got: [got('no such field'), got('another one')], more: 2, remark: 'as a draft' },
    ],
  ])('%s', (said, deviation) => {
    expect(deviationText(deviation)).toBe(said);
  });

  it('ends with its ground', () => {
    const finding = { expected: 'a', got: [got('b')], subject: 'search', evidence: 'e1' };
    expect(findingText({ ...finding, silentSince: true, ground: { ref: 'RFC 9110 §1' } })).toBe(
      'expected a, got b, and nothing has been served since [RFC 9110 §1]',
    );
    expect(findingText({ ...finding, ground: { ref: 'auth.scheme', place: 'a.yaml:3' } })).toBe(
      'expected a, got b [auth.scheme: a.yaml:3]',
    );
  });
});

describe('a sentence with values', () => {
  it.each([
    ['A key gets {got}', got('status 200', 'GET'), 'A key gets status 200'],
    ['A key gets {got}', null, 'A key gets something else'],
    ['A key is answered {status:200}', got('status 204', 'GET'), 'A key is answered 204'],
    ['A key is answered {status:200}', got('no answer', 'GET'), 'A key is answered 200'],
    ['A key gets {answer}', got('no whole response (reset)', 'GET'), 'A key gets no whole response (reset)'],
    ['No place', got('c'), 'No place'],
  ])('%s, %s', (sentence, came, filled) => {
    const deviation = came === null ? undefined : { expected: 'b', got: [came] };
    expect(filledIn(sentence, deviation)).toBe(filled);
  });

  it('says that no response came where it is about one', () => {
    const silence = { expected: 'a Date field', got: [got('no whole response (reset)', 'GET')] };
    expect(headlineOf('A response has no Date header', silence)).toBe(
      'The service gives no whole response (reset)',
    );
    expect(headlineOf('A key gets {answer}', silence)).toBe('A key gets no whole response (reset)');
  });

  it.each([
    [
      `one in which the whole must have required property 'data' (required), and nothing else is said`,
      `Wrong: it must have required property 'data' (required), and nothing else is said`,
    ],
    ['one in which "/orders/0/total" must be integer', 'Wrong: "/orders/0/total" must be integer'],
    [
      'the 96th of 250 requests within 60 s refused, though the plan of that key admits one hundred',
      'Wrong: the 96th of 250 requests within 60 s refused, though the plan of that key admits one hundred',
    ],
  ])('loses no word of %s', (came, filled) => {
    expect(filledIn('Wrong: {got}', { expected: 'b', got: [got(came, 'GET')] })).toBe(filled);
  });

  it('shortens a long value in its middle', () => {
    expect(filledIn('It says {got}', { expected: 'b', got: [got(`"${'k'.repeat(9_000)}"`, 'GET')] })).toMatch(
      /^It says "k{20,40}…[\d,]+ characters…k{10,20}"$/,
    );
  });
});

it.each([
  ['A body has {media type:text/html}', 'Content-Type text/plain', 'A body has text/plain'],
  ['A body has {media type:text/html}', 'Content-Type none', 'A body has text/html'],
  ['It is {status:200}', 'status 20', 'It is 200'],
  ['It is {status:200}', 'status 2044', 'It is 200'],
  ['{status:200} and {got}', 'status 500', '500 and status 500'],
])('%s, got %s: %s', (sentence, came, filled) => {
  expect(filledIn(sentence, { expected: 'b', got: [got(came)] })).toBe(filled);
});

it('a result in the words of another tool is in no sentence', () => {
  const foreign = { expected: null, got: [got('no whole response')] };
  expect(filledIn('It gets {got}', foreign)).toBe('It gets something else');
  expect(headlineOf('It gets nothing', foreign)).toBe('It gets nothing');
  expect(firstGot({ expected: 'a', got: [] })).toBe('');
});

it('further deviations are counted behind the last result', () => {
  expect(gotText({ expected: 'a', got: [got('b', 'GET'), got('c', 'PUT')], more: 1 })).toBe(
    'b for GET; c for PUT and for 1 more',
  );
  expect(gotText({ expected: 'a', got: [got('b')], more: 2 })).toBe('b for 2 more');
  expect(gotText({ expected: 'a', got: [got('b')], more: 0 })).toBe('b');
  expect(deviationText({ expected: null, got: [got('b')], more: 0 })).toBe('b');
});

it.each([
  [['document', 'service'], 'service'],
  [['config', 'document'], 'document'],
  [['config'], 'config'],
  [[], 'service'],
] as const)('the side of %j is the %s', (sides, side) => {
  expect(sharedSide(sides)).toBe(side);
});

it('a finding is redacted in each of its texts', () => {
  const finding = {
    subject: 'search',
    evidence: 'e1',
    expected: 'secret',
    got: [got('a secret', 'GET secret')],
    remark: 'the secret',
    ground: { ref: 'auth.scheme', place: 'secret.yaml' },
  };
  const redact = (text: string) => text.replaceAll('secret', '***');
  expect(redactedFinding(finding, redact)).toEqual({
    subject: 'search',
    evidence: 'e1',
    expected: '***',
    got: [got('a ***', 'GET ***')],
    remark: 'the ***',
    ground: { ref: 'auth.scheme', place: '***.yaml' },
  });
  const { remark: _, ground: __, ...bare } = finding;
  expect(redactedFinding({ ...bare, expected: null }, redact)).toEqual({
    subject: 'search',
    evidence: 'e1',
    expected: null,
    got: [got('a ***', 'GET ***')],
  });
  expect(redactedFinding({ ...bare, ground: { ref: 'RFC 9110 §1' } }, redact).ground).toEqual({
    ref: 'RFC 9110 §1',
  });
});
