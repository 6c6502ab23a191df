import { describe, expect, it } from 'vitest';
import { namesPolicies, problemFaults, reportedError, violatedPoliciesFault } from './problem.ts';

describe('problemFaults', () => {
  it.each([
    [{}],
    [{ type: 'about:blank', title: 'Not Found', status: 404 }],
    [
      {
        type: 'https://api.example/problems#quota',
        detail: '',
        instance: '/v1/resources/1?x=%41',
        balance: 30,
      },
    ],
    [{ type: '', instance: '../a' }],
  ])('finds nothing wrong with %j', (value) => {
    expect(problemFaults(value, 404)).toEqual([]);
  });

  it.each([
    [null, 'null, not an object'],
    [[], 'an array, not an object'],
    ['Not Found', '"Not Found", not an object'],
    [{ type: 7 }, '"type": 7, not a URI reference'],
    [{ type: 'not a uri' }, '"type": "not a uri"'],
    [{ instance: 'http://[bad' }, '"instance": "http://[bad"'],
    [{ instance: '/a%zz' }, '"instance": '],
    [{ title: null }, '"title": null, not a string'],
    [{ detail: { en: 'x' } }, '"detail": {"en":"x"}'],
    [{ status: '404' }, '"status": "404", not a status code as a number'],
    [{ status: 404.5 }, '"status": 404.5'],
    [{ status: 400 }, '"status": 400 in a response with 404'],
  ])('says what is wrong with %j', (value, fault) => {
    const faults = problemFaults(value, 404);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });
});

describe('a status in a problem', () => {
  it.each([
    [100, true],
    [599, true],
    [99, false],
    [600, false],
  ])('%i is a status code: %s', (status, isOne) => {
    const expected = isOne ? [] : [`"status": ${status}, not a status code as a number`];
    expect(problemFaults({ status }, status)).toEqual(expected);
  });

  it.each([
    ['/a b', false],
    ['/a%4', false],
    ['/ä', false],
    ['/a%41', true],
    ['#a', true],
  ])('%s is a URI reference: %s', (instance, isOne) => {
    expect(problemFaults({ instance }, 404)).toHaveLength(isOne ? 0 : 1);
  });

  it('is no array, nor a text', () => {
    expect(problemFaults([], 404)).toEqual(['an array, not an object']);
    expect(problemFaults(undefined, 404)).toEqual(['no JSON, not an object']);
    expect(problemFaults('x'.repeat(50), 404)).toEqual([`"${'x'.repeat(39)}…, not an object`]);
  });

  it.each([
    [56, `"detail": ["${'x'.repeat(56)}"], not a string`],
    [57, `"detail": ["${'x'.repeat(57)}"…, not a string`],
  ])('shows 60 characters of a value: %d in a list', (length, fault) => {
    expect(problemFaults({ detail: ['x'.repeat(length)] }, 404)).toEqual([fault]);
  });

  it('has the faults of all its members', () => {
    expect(problemFaults({ type: 1, title: 2, status: 3, detail: 4, instance: 5 }, 404)).toHaveLength(5);
  });
});

describe('an error that a body tells of', () => {
  it.each([
    [{ error: 'no' }, '"error": "no"'],
    [{ error: { code: 1 } }, '"error": {"code":1}'],
    [{ errors: [0] }, '"errors": [0]'],
    [{ success: false }, '"success": false'],
    [{ ok: false }, '"ok": false'],
    [{ status: 'error' }, '"status": "error"'],
    [{ status: 'fail' }, '"status": "fail"'],
    [{ error: null, ok: false }, '"ok": false'],
    [{ error: null }, null],
    [{ error: '' }, null],
    [{ error: 0 }, null],
    [{ error: false }, null],
    [{ errors: [] }, null],
    [{ errors: {} }, null],
    [{ success: true, ok: true }, null],
    [{ success: null, ok: 0 }, null],
    [{ status: 'ok' }, null],
    [{ data: { error: 'no' } }, null],
    [null, null],
    ['error', null],
    [Object.create({ error: 'inherited' }), null],
  ])('%j: %j', (body, told) => {
    expect(reportedError(body)).toBe(told);
  });

  it.each([
    [58, `"error": "${'x'.repeat(58)}"`],
    [59, `"error": "${'x'.repeat(59)}…`],
  ])('is shown by 60 characters: a text of %d', (length, told) => {
    expect(reportedError({ error: 'x'.repeat(length) })).toBe(told);
  });
});

describe('a problem of a quota', () => {
  const at = 'iana.org/assignments/http-problem-types#';

  it.each([
    [`https://${at}quota-exceeded`, true],
    [`http://www.${at}temporary-reduced-capacity`, true],
    [`https://${at}abnormal-usage-detected`, true],
    [`https://${at}quota-exceeded2`, false],
    [`see https://${at}quota-exceeded`, false],
    ['about:blank', false],
    [7, false],
  ])('has the type %s: %s', (type, isOne) => {
    expect(namesPolicies({ type, 'violated-policies': [] })).toBe(isOne);
    expect(namesPolicies({ type })).toBe(false);
  });

  it.each<readonly [unknown, readonly string[], string | null]>([
    [['a', 'b'], ['b', 'a'], null],
    [['a', 'x', 'y'], ['a'], '"x", which RateLimit-Policy does not have'],
    [['a'], [], null],
    [[], ['a'], null],
    [['a', 1], ['a'], '["a",1], which is no list of names'],
    [[1, 2], ['a'], '[1,2], which is no list of names'],
    ['a', ['a'], '"a", which is no list of names'],
    [undefined, [], ', which is no list of names'],
  ])('names the policies %j of %j: %j', (named, announced, fault) => {
    expect(violatedPoliciesFault({ 'violated-policies': named }, announced)).toBe(fault);
  });

  it.each([
    [{ named: 'x'.repeat(58) }, `"${'x'.repeat(58)}", which is no list of names`],
    [{ named: 'x'.repeat(59) }, `"${'x'.repeat(59)}…, which is no list of names`],
    [{ named: ['x'.repeat(60)] }, `"${'x'.repeat(60)}", which RateLimit-Policy does not have`],
    [{ named: ['x'.repeat(61)] }, `"${'x'.repeat(60)}…", which RateLimit-Policy does not have`],
  ])('is shown by 60 characters: %j', ({ named }, fault) => {
    expect(violatedPoliciesFault({ 'violated-policies': named }, ['a'])).toBe(fault);
  });

  it('is an object', () => {
    expect(namesPolicies(null)).toBe(false);
    expect(namesPolicies([])).toBe(false);
  });
});
