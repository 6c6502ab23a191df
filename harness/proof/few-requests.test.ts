import { expect, it } from 'vitest';
import { functional } from '../../suites/catalogue.ts';
import { proofCases } from './cases/cases.ts';
import { proofConfigs } from './cases/configs.ts';
import { caseName } from './gaps.ts';
import { prove } from './proof.ts';

/** The proof itself counts the requests of a service whose limits of size may be found out: at most 142. */
it('every functional check of a REST service at a URL asks for 130 requests at most, six more where the key is a token, and one for each key that must be refused', async () => {
  const configs = await proofConfigs();
  const shipped = new Map(
    [...configs.shipped].map(([name, config]) => [
      name,
      { ...config, safety: { ...config.safety, findSizeLimits: false } },
    ]),
  );
  const cases = proofCases()
    .filter(({ kind, service }) => kind === 'conforming' && service === 'search')
    .map((each) => ({ ...each, described: false }));
  const spent = (await prove(functional, cases, { ...configs, shipped })).map((each): [string, number] => [
    caseName(each),
    Object.values(each.requests).reduce((sum, count) => sum + count, 0),
  ]);
  expect(spent.length).toBeGreaterThan(3);
  const most = (name: string) =>
    130 +
    (/\((?:oauth2|token|foreign token)\)/.test(name) ? 6 : 0) +
    (/\((?:revoked keys|foreign token)\)/.test(name) ? 1 : 0);
  expect(spent.filter(([name, requests]) => requests > most(name) || requests < 20)).toEqual([]);
});
