import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clauses } from './clauses.ts';

let printed = '';

beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  printed = '';
});

describe('conform clauses', () => {
  it('names every clause with its meaning and how many checks rest on it', async () => {
    await clauses(null);
    expect(printed).toMatch(/^limits\.rate +how many requests .* {2}\(3 checks\)$/m);
    expect(printed).toMatch(/^service\.purpose +what the service does$/m);
  });

  it('tells the form of a value, an example and the checks of one clause', async () => {
    await clauses('limits.rate');
    expect(printed).toContain('window: a duration such as 60s');
    expect(printed).toContain('variesBy: text (may be left out)');
    expect(printed).toContain('- key: limits.rate\n    standing: stated\n    value:\n      requests: 100');
    expect(printed).toMatch(/^ {2}limits\.exact {2}admits exactly/m);
  });

  it('knows which one was meant', async () => {
    await expect(clauses('limit.rate')).rejects.toThrow(/did you mean limits\.rate\?/);
  });
});
