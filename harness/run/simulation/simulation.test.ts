import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { readResults } from '../../report/results/read-results.ts';
import type { Results } from '../../report/results/results.ts';
import { conform } from '../fixtures/conform-process.ts';

/** Much longer than a busy machine keeps a request waiting: then nothing is lost in real time either. */
const WINDOW_S = 5;
const SERVICE = `service: search
contract: search
provider: { reference: search, defects: [limit-off-by-one-low] }
credentials: { scheme: bearer, key: "\${env:SEARCH_API_KEY}" }
plan: { requests: 20, window: ${WINDOW_S}s }
`;

async function ran(...args: readonly string[]): Promise<{ readonly stdout: string; readonly of: Results }> {
  const folder = temporaryFolder({ 'config/services/search.yaml': SERVICE });
  const suites = ['--suite', 'auth', 'limits', 'status', 'versioning'];
  const { stdout } = await conform(['run', 'search', ...suites, ...args], {}, folder).ended;
  return { stdout, of: readResults(join(folder, 'reports', 'selection', 'results.json')) };
}

describe('a run over a built-in provider', () => {
  it('comes to the same verdict in simulated time as in real time, and says which of them it was', async () => {
    // Side by side, the one would take the time of the other.
    const simulated = await ran();
    const real = await ran('--real-time');
    const judged = ({ services }: Results) =>
      services.flatMap(({ checks }) => checks.map(({ id, outcome }) => `${id} ${outcome}`));
    expect(judged(simulated.of)).toEqual(judged(real.of));
    expect(judged(simulated.of)).toContain('limits.exact fail');

    const [there, here] = [simulated.of.services[0], real.of.services[0]];
    expect(there).toMatchObject({ simulatedTime: true, provider: { kind: 'reference', url: '' } });
    expect(there?.durationMs).toBeGreaterThan(WINDOW_S * 1_000);
    expect(simulated.stdout).toMatch(/ s of simulated time/);
    expect(here).not.toHaveProperty('simulatedTime');
    expect(real.stdout).not.toContain('simulated');
  });
});
