import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { findDefect, listDefects, listVariants } from '../provider/reference/catalogue.ts';
import { loadSuites, SUITES_URL } from '../run/selection.ts';
import { proofCases } from './cases.ts';
import { caseName, complains, gapsIn } from './gaps.ts';
import { matrixText } from './matrix.ts';
import { type ProvenCase, proofConfigs, prove } from './proof.ts';

/** The whole proof, once: every check against every defect and every conforming variant. */
const suites = await loadSuites(SUITES_URL);
const configs = await proofConfigs();
const cases = proofCases();
/** Longer than any machine takes for it. */
const HUNG_MS = 30 * 60_000;
let proven: readonly ProvenCase[] = [];

beforeAll(async () => {
  proven = await prove(suites, cases, configs);
}, HUNG_MS);

describe('the proof', () => {
  it('leaves no gap and raises no false alarm', () => {
    expect(gapsIn(proven, suites)).toEqual([]);
  });

  it('shows every defect, and every variant alone', () => {
    const names = new Set(cases.map(({ name }) => name));
    expect([...listDefects(), ...listVariants()].filter(({ name }) => !names.has(name))).toEqual([]);
  });

  it('holds more than twenty conforming services against all checks', () => {
    const conforming = proven.filter(({ kind }) => kind !== 'defect');
    expect(conforming.length).toBeGreaterThan(20);
    expect(conforming.some(({ name }) => name.includes('+'))).toBe(true);
  });

  it('says in its matrix what proves each check', () => {
    const text = matrixText(proven, suites);
    expect(text).toMatch(/^ {2}accepts-missing-key +auth\.missing-credential /m);
    expect(text).toMatch(/^ {2}auth\.missing-credential +accepts-missing-key refusal-is-404$/m);
    expect(text).toMatch(/^ {2}search plain-json-errors +nothing$/m);
  });
});

describe('a REST service', () => {
  const FUNCTIONAL = ['auth', 'status', 'headers', 'framing', 'json', 'caching', 'negotiation', 'versioning'];
  /** What every functional check of it together may ask for. */
  const MOST_REQUESTS = 70;

  it('is judged by all functional checks from few requests', () => {
    const spent = proven
      .filter(({ kind, service }) => kind !== 'defect' && service === 'search')
      .map((each): [string, number] => [
        caseName(each),
        FUNCTIONAL.reduce((sum, suite) => sum + (each.requests[suite] ?? 0), 0),
      ]);
    expect(spent.filter(([, requests]) => requests > MOST_REQUESTS || requests === 0)).toEqual([]);
  });
});

/** Without what is never twice the same, and without what other changes move: lines of configs, this checkout. */
function steady(message: string): string {
  return (
    message
      .replaceAll(fileURLToPath(new URL('../../', import.meta.url)), '')
      .replace(/127\.0\.0\.1:\d+/g, 'HOST')
      .replace(/\.yaml:\d+:\d+/g, '.yaml:LINE')
      .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      // But for the window of the proof, which is always the same.
      .replace(/\b(?!60 s)\d+(?:\.\d+)? s\b/g, 'N s')
      .replace(/\b\d+ ms\b/g, 'N ms')
      .replace(/"\d+\.\d+"/g, '"N.N"')
      .replace(/(?<![\w+/])[\w+/]{27}=/g, 'ACCEPT')
  );
}

/** A defect, what it spoils, and what the checks say of that. */
function section({ name, service, setting, findings }: ProvenCase): string {
  const { breaks } = findDefect(name, service);
  return [
    `${name} (${service}${setting === 'bearer' ? '' : `, ${setting}`}): ${breaks}`,
    ...findings
      .filter(complains)
      .map(({ id, outcome, message }) => `  ${outcome} ${id}: ${steady(message)}\n`),
  ].join('\n');
}

describe('what a failure says', () => {
  const said = () => proven.filter(({ kind }) => kind === 'defect');

  // To be read as a whole: the wording is reviewed there. `vitest run harness/proof/proof.test.ts -u` writes it anew.
  it('has been read', async () => {
    await expect(said().map(section).join('\n')).toMatchFileSnapshot('__snapshots__/messages-of-defects.txt');
  });

  it('is one line that tells what was expected and what came, and on which ground', () => {
    const messages = said().flatMap(({ name, findings }) =>
      findings.filter(complains).map(({ id, message }) => ({ name, id, message })),
    );
    // What Pact says of an interaction is in its words.
    const ours = messages.filter(({ id }) => !id.startsWith('pact.'));
    expect(ours.filter(({ message }) => !/^expected .+, got .+ \[.+\]$/.test(message))).toEqual([]);
    expect(messages.filter(({ message }) => !/^[^\n]{1,600} \[.+\]$/.test(message))).toEqual([]);
  });
});
