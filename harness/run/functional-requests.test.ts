import { beforeAll, describe, expect, it } from 'vitest';
import type { Suite } from '../check/check.ts';
import { proofCases } from '../proof/cases.ts';
import { caseName } from '../proof/gaps.ts';
import { proofConfigs, prove } from '../proof/proof.ts';
import { loadSuites, SUITES_URL } from './selection.ts';

/** What every functional check of one REST service together asks for, in each way of calling it. */
const FUNCTIONAL = ['auth', 'status', 'headers', 'framing', 'json', 'caching', 'negotiation', 'versioning'];

let suites: readonly Suite[] = [];

beforeAll(async () => {
  suites = (await loadSuites(SUITES_URL)).filter(({ name }) => FUNCTIONAL.includes(name));
});

describe('the functional checks of a REST service', () => {
  it.each([
    ['with limits of size found out', true, 70],
    ['as they are against a service at a URL', false, 60],
  ])('%s', async (_, findSizeLimits, most) => {
    const configs = new Map(
      [...(await proofConfigs())].map(([name, config]) => [
        name,
        { ...config, safety: { ...config.safety, findSizeLimits } },
      ]),
    );
    const cases = proofCases().filter(({ kind, service }) => kind === 'conforming' && service === 'search');
    const proven = await prove(suites, cases, configs);
    const spent = proven.map((each): [string, number] => [
      caseName(each),
      Object.values(each.requests).reduce((sum, count) => sum + count, 0),
    ]);
    expect(spent.length).toBeGreaterThan(3);
    expect(spent.filter(([, requests]) => requests > most || requests < 20)).toEqual([]);
  });
});
