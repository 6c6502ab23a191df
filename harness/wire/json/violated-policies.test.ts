import { describe, expect, it } from 'vitest';
import { namesPolicies, violatedPoliciesFault } from './problem.ts';

const TYPE = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

describe('the policies that a problem names', () => {
  it.each([
    [{ type: TYPE, 'violated-policies': [] }, true],
    [{ type: TYPE }, false],
    [{ type: 'about:blank', 'violated-policies': ['gold'] }, false],
    [[TYPE], false],
    [null, false],
  ])('are there in %j: %s', (problem, there) => {
    expect(namesPolicies(problem)).toBe(there);
  });

  it.each([
    [['daily'], ['daily', 'burst'], null],
    [['daily', 'burst'], ['daily', 'burst'], null],
    [[], ['daily'], null],
    // Nothing is known of the names where no header has any.
    [['daily'], [], null],
    [['gold'], ['daily'], '"gold", which RateLimit-Policy does not have'],
    ['daily', ['daily'], '"daily", which is no list of names'],
    [[{ name: 'daily' }], ['daily'], '[{"name":"daily"}], which is no list of names'],
    [null, ['daily'], 'null, which is no list of names'],
  ])('%j of %j: %s', (named, announced, fault) => {
    expect(violatedPoliciesFault({ 'violated-policies': named }, announced)).toBe(fault);
  });
});
