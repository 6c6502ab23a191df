import { describe, expect, it } from 'vitest';
import {
  Blocked,
  NotApplicable,
  unlessBlocked,
  unlessInapplicable,
  unlessUnjudged,
  Violation,
} from './verdict.ts';

describe('the end of an attempt', () => {
  const [blocked, inapplicable, other] = [new Blocked('a'), new NotApplicable('b'), new Error('c')];

  it.each([
    ['blocked', unlessBlocked, [blocked], [inapplicable, other]],
    ['inapplicable', unlessInapplicable, [inapplicable], [blocked, other]],
    ['unjudged', unlessUnjudged, [blocked, inapplicable], [other]],
  ] as const)('is nothing if it is %s, and thrown otherwise', (_, unless, passed, thrown) => {
    for (const each of passed) expect(unless(each)).toBeNull();
    for (const each of thrown) expect(() => unless(each)).toThrow(each);
  });
});

it('a violation is one of the service, unless it says otherwise', () => {
  const plain = Violation.of({ expected: 'a', got: 'b' }, 'e1');
  expect(plain).toMatchObject({
    message: 'expected a, got b',
    evidence: 'e1',
    places: [],
    got: [],
    fault: 'service',
    change: null,
  });
  expect(plain.deviation).toEqual({ expected: 'a', got: [{ text: 'b', stimuli: [] }] });
  const told = new Violation(plain.deviation, null, {
    places: ['p'],
    got: ['b'],
    fault: 'document',
    change: 'c',
  });
  expect(told).toMatchObject({ evidence: null, places: ['p'], got: ['b'], fault: 'document', change: 'c' });
});
