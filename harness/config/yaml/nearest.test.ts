import { describe, expect, it } from 'vitest';
import { didYouMean, nearestNames } from './nearest.ts';

const KNOWN = ['auth.missing-credential', 'search', 'messaging', 'realtime', 'rate-limit', 'url'];

describe('the nearest names', () => {
  it.each([
    ['serch', ['search']],
    ['SEARCH', ['search']],
    ['ulr', ['url']],
    ['rate', ['rate-limit']],
    ['mesaging', ['messaging']],
    ['zzz', []],
    ['', []],
  ])('of %j', (wanted, near) => {
    expect(nearestNames(wanted, KNOWN)).toEqual(near);
  });

  it('are three at most, best first', () => {
    expect(nearestNames('aaaa', ['aaab', 'aaaa', 'aaac', 'aaad'])).toEqual(['aaaa', 'aaab', 'aaac']);
  });
});

describe('the remedy for an unknown name', () => {
  it('names the near one and the list', () => {
    expect(didYouMean('serch', ['search', 'realtime'])).toBe(
      'did you mean search? It is one of: search, realtime',
    );
  });
  it('names the list where nothing is near', () => {
    expect(didYouMean('zzz', ['search'])).toBe('use one of: search');
  });
  it('says so where there is nothing', () => {
    expect(didYouMean('zzz', [])).toBe('there is none to choose from');
  });
});
