import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findingText } from '../../base/finding.ts';
import { MESSAGES } from '../../proof/messages.ts';
import { sampleCheck } from '../fixtures/sample-results.ts';
import { findingIn, withFinding } from './read-results.ts';

const sent = (...all: readonly string[]) => all.map((to) => ({ to }));

describe('a message of results that have no findings', () => {
  it.each([
    [
      'expected status 401 or 403, got status 200 for GET with a wrong key [auth.scheme: a.yaml:3]',
      {
        expected: 'status 401 or 403',
        got: [{ text: 'status 200', stimuli: sent('GET with a wrong key') }],
        ground: { ref: 'auth.scheme', place: 'a.yaml:3' },
      },
    ],
    [
      'expected JSON, got Content-Type text/html; charset=utf-8 for GET and for HEAD; none for PUT and for 3 more [x]',
      {
        expected: 'JSON',
        got: [
          { text: 'Content-Type text/html; charset=utf-8', stimuli: sent('GET', 'HEAD') },
          { text: 'none', stimuli: sent('PUT') },
        ],
        more: 3,
        ground: { ref: 'x' },
      },
    ],
    [
      'expected a, got [1], got [2], and nothing has been served since [x]',
      {
        expected: 'a',
        got: [{ text: '[1], got [2]', stimuli: [] }],
        silentSince: true,
        ground: { ref: 'x' },
      },
    ],
    [
      'known until 2027-01-31 (a): b; expected service, got refusals for 60 s',
      { expected: 'service', got: [{ text: 'refusals for 60 s', stimuli: [] }] },
    ],
    ['status: expected 200', { expected: null, got: [{ text: 'status: expected 200', stimuli: [] }] }],
  ])('is taken apart: %s', (message, finding) => {
    expect(findingIn(message, 'search', 'e1')).toEqual({ ...finding, subject: 'search', evidence: 'e1' });
  });

  it('is that which the finding says', () => {
    for (const line of readFileSync(MESSAGES, 'utf8').trim().split('\n')) {
      const [, message = ''] = /^\S+ \S+ \w+: (.*)$/.exec(line) ?? [];
      expect(findingText(findingIn(message, 'search', null))).toBe(message);
    }
  });

  it('is taken apart at once, however long it is', () => {
    expect(findingIn(`expected a, got ${' ['.repeat(2_000_000)}]`, 'search', null).got).toHaveLength(1);
  });
});

it('what the violation of another check explains was said by its message', () => {
  const message = 'auth.wrong-credential fails, which explains this: nothing more can be said';
  expect(withFinding(sampleCheck('blocked', { message }), 'search').explainedBy).toBe(
    'auth.wrong-credential',
  );
  expect(withFinding(sampleCheck('blocked'), 'search')).not.toHaveProperty('explainedBy');
});
