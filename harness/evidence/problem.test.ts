import { describe, expect, it } from 'vitest';
import { problemFaults } from './problem.ts';

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
    [null, 'a problem that is null'],
    [[], 'a problem that is an array'],
    ['Not Found', 'a problem that is "Not Found"'],
    [{ type: 7 }, 'type is 7, not a URI reference'],
    [{ type: 'not a uri' }, 'type is "not a uri"'],
    [{ instance: 'http://[bad' }, 'instance is "http://[bad"'],
    [{ instance: '/a%zz' }, 'instance is'],
    [{ title: null }, 'title is null, not a string'],
    [{ detail: { en: 'x' } }, 'detail is {"en":"x"}'],
    [{ status: '404' }, 'status is "404", not a status code as a number'],
    [{ status: 404.5 }, 'status is 404.5'],
    [{ status: 400 }, 'status is 400, but the response has 404'],
  ])('says what is wrong with %j', (value, fault) => {
    const faults = problemFaults(value, 404);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });
});
