import { describe, expect, it } from 'vitest';
import { conformHere } from '../fixtures/in-process.ts';

describe('conform clauses', () => {
  it('names every clause with its meaning and how many checks rest on it', async () => {
    const { stdout } = await conformHere(['clauses']);
    expect(stdout).toMatch(/^limits\.rate +how many requests .* {2}\(3 checks\)$/m);
    expect(stdout).toMatch(/^service\.purpose +what the service does$/m);
  });

  it('tells the form of a value, an example and the checks of one clause', async () => {
    const { stdout } = await conformHere(['clauses', 'limits.rate']);
    expect(stdout).toContain('window: a duration such as 60s');
    expect(stdout).toContain('variesBy: text (may be left out)');
    expect(stdout).toContain('- key: limits.rate\n    standing: stated\n    value:\n      requests: 100');
    expect(stdout).toMatch(/^ {2}limits\.exact {2}admits exactly/m);
  });

  it('knows which one was meant', async () => {
    const { code, stderr } = await conformHere(['clauses', 'limit.rate']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/did you mean limits\.rate\?/),
    });
  });
});
