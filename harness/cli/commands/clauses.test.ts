import { describe, expect, it } from 'vitest';
import { suites } from '../../../suites/catalogue.ts';
import { VOCABULARY } from '../../base/vocabulary.ts';
import { conformHere, saying } from '../fixtures/in-process.ts';

describe('conform clauses', () => {
  it('names every clause with its meaning and how many checks rest on it', async () => {
    const { stdout } = await conformHere(['clauses']);
    expect(stdout).toMatch(/^limits\.rate +how many requests .* {2}\(10 checks\)$/m);
    expect(stdout).toMatch(/^service\.purpose +what the service does$/m);
  });

  it('tells the form of a value, an example and the checks of one clause', async () => {
    const { stdout } = await conformHere(['clauses', 'limits.rate']);
    expect(stdout).toContain('window: a duration such as 60s');
    expect(stdout).toContain('variesBy: text (may be left out)');
    expect(stdout).toContain('- key: limits.rate\n    standing: stated\n    value:\n      requests: 100');
    expect(stdout).toMatch(/^ {2}limits\.exact {2}\w+/m);
  });

  it('knows which one was meant', async () => {
    const said = saying(await conformHere(['clauses', 'limit.rate']));
    expect(said).toMatch(/^2: .*did you mean limits\.rate\?/s);
  });
});

const PAGE = `# What a contract can say

Each clause of \`contracts/NAME.yaml\`, or below \`clauses:\` in \`conform.yaml\`, has one of these keys. \`conform init\` writes all of
them into a contract, as comments with an example. Take away the \`#\`, write what your documents say, and it is judged from then on.
\`conform clauses KEY\` shows the form of a value and the checks that rest on it. A key with nothing in the last column tells
readers more about the service; no check rests on it.

| key | what it says | example | judged by |
| --- | --- | --- | --- |
`;

it('is a page of the docs as well', async () => {
  const rows = Object.entries(VOCABULARY).map(([key, { meaning, example }]) => {
    const judging = suites.filter(({ checks }) =>
      checks.some(({ grounds }) => grounds.some((ground) => ground.kind === 'clause' && ground.key === key)),
    );
    const value = typeof example === 'string' ? example : JSON.stringify(example);
    return `| \`${key}\` | ${meaning} | \`${value}\` | ${judging.map(({ name }) => name).join(', ')} |\n`;
  });
  await expect(PAGE + rows.join('')).toMatchFileSnapshot('../../../docs/clauses.md');
});
