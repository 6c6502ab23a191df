import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import type { Results } from '../../report/results/results.ts';
import { conform, resultsIn } from '../fixtures/conform-process.ts';

const WINDOW_S = 3;
/** What they find does not depend on how busy the machine is, in real time either. */
const TIMELESS = ['auth', 'status', 'versioning'];
const SERVICE = `service: search
contract: search
provider: { reference: search, defects: [limit-off-by-one-low] }
credentials: { scheme: bearer, key: "\${env:SEARCH_API_KEY}" }
plan: { requests: 20, window: ${WINDOW_S}s }
`;

async function ran(suites: readonly string[], ...args: readonly string[]) {
  const folder = temporaryFolder({ 'config/services/search.yaml': SERVICE });
  const { stdout } = await conform(['run', 'search', '--suite', ...suites, ...args], {}, folder).ended;
  return { stdout, of: resultsIn(join(folder, 'reports')) };
}

describe('a run over a built-in provider', () => {
  it('comes to the same verdict in simulated time as in real time, and says which of them it was', async () => {
    const [simulated, real] = await Promise.all([ran([...TIMELESS, 'limits']), ran(TIMELESS, '--real-time')]);
    const judged = ({ services }: Results) =>
      services.flatMap(({ checks }) => checks.map(({ id, outcome }) => `${id} ${outcome}`));
    const isTimeless = (line: string) => !line.startsWith('limits.');
    expect(judged(simulated.of).filter(isTimeless)).toEqual(judged(real.of));
    expect(judged(simulated.of)).toContain('limits.exact fail');

    const [there, here] = [simulated.of.services[0], real.of.services[0]];
    expect(there).toMatchObject({ simulatedTime: true, provider: { kind: 'reference', url: '' } });
    expect(there?.durationMs).toBeGreaterThan(WINDOW_S * 1_000);
    expect(simulated.stdout).toMatch(/ s of simulated time/);
    expect(here).not.toHaveProperty('simulatedTime');
    expect(real.stdout).not.toContain('simulated');
  });
});
