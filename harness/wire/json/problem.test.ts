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
