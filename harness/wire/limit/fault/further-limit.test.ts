import { describe, expect, it } from 'vitest';
import { group } from '../fixtures/observed.ts';
import { freshAfterMs, howKept, isAbove } from './longer-limit.ts';

const LIMIT = { requests: 8, windowMs: 1_000 };
const MET = { quietMs: freshAfterMs(LIMIT), isMet: true };

const [second, third] = [group(1_200, 8), group(2_400, 4)];

describe('a further limit', () => {
  it('is kept where as many as documented are served at once', () => {
    expect(howKept([group(0, 8), second, third], LIMIT, MET)).toEqual({ kind: 'kept' });
  });

  it('is broken where a fresh one refuses earlier, and the next one as well', () => {
    const groups = [group(0, 7), group(1_200, 7), group(2_400, 6)];
    expect(howKept(groups, LIMIT, MET)).toEqual({ kind: 'broken', got: 'request 8' });
  });

  it('is not called broken where the first requests were not of a fresh one, or others may have spent it', () => {
    const groups = [group(0, 5), group(1_200, 7), third];
    expect(howKept(groups, LIMIT, { ...MET, quietMs: 300 }).kind).toBe('kept');
    expect(howKept([group(0, 5), second, third], LIMIT, MET).kind).toBe('kept');
  });

  it('is to be counted once more where more are served than it allows', () => {
    const much = group(0, 12);
    expect(howKept([much], LIMIT, { ...MET, isMet: false })).toEqual({ kind: 'above', group: much });
  });

  it('is not met by slow requests', () => {
    expect(howKept([group(0, 20, 1_000, 200)], LIMIT, { ...MET, isMet: false }).kind).toBe('unmet');
  });

  it('lets flow back what a bucket of its size gets meanwhile', () => {
    expect(isAbove(group(0, 11, 1_000, 50), LIMIT)).toBe(false);
    expect(isAbove(group(0, 15, 1_000, 50), LIMIT)).toBe(true);
  });
});
