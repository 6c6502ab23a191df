import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { listDefects, listVariants } from '../provider/reference/catalogue.ts';
import { loadSuites, SUITES_URL } from './catalogue.ts';
import { type ProvenCase, proofConfigs, prove } from './proof.ts';
import { proofCases } from './proof-cases.ts';
import { caseName, gapsIn } from './proof-gaps.ts';
import { matrixText } from './proof-matrix.ts';

/** The whole proof, once: every check against every defect and every conforming variant. */
const suites = await loadSuites(SUITES_URL);
const configs = await proofConfigs();
const cases = proofCases(suites, configs);
let proven: readonly ProvenCase[] = [];

beforeAll(async () => {
  proven = await prove(suites, cases, configs);
}, 15 * 60_000);

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
  const FUNCTIONAL = ['authentication', 'status-codes', 'json', 'versioning'];
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

/** What depends on the order in which requests sent together arrive. */
const TOGETHER = /^limit-(?:race|per-process|of-concurrency)$/;

/** Without what is never twice the same: ports, times, and where this checkout lies. */
function steady(defect: string, message: string): string {
  const text = message
    .replaceAll(fileURLToPath(new URL('../../', import.meta.url)), '')
    .replace(/127\.0\.0\.1:\d+/g, 'HOST')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\b\d+(?:\.\d+)? (m?s)\b/g, 'N $1')
    .replace(/"\d+\.\d+"/g, '"N.N"')
    .replace(/\b\d+ refused attempts\b/, 'N refused attempts');
  return TOGETHER.test(defect) ? text.replace(/\bgot (request )?\d+/, 'got $1N') : text;
}

describe('what a failure says', () => {
  it.each(cases.filter(({ kind }) => kind === 'defect').map(({ name }) => name))('of %s', (defect) => {
    const each = proven.find(({ kind, name }) => kind === 'defect' && name === defect);
    const said = each?.tripped.map(
      ({ id, outcome, message }) => `${outcome} ${id}: ${steady(defect, message)}`,
    );
    expect(said?.join('\n')).toMatchSnapshot();
  });
});
