import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { exampleCredentials } from '../../reference/how-to-call.ts';
import { startReference } from '../../reference/reference.ts';
import type { Results } from '../../report/results/results.ts';
import { conformHere } from '../fixtures/in-process.ts';
import { runAgain } from './last-failed.ts';

const CREDENTIALS = exampleCredentials('search');
const DEFECTS = ['accepts-empty-key', 'accepts-key-with-suffix'];

/** `conform run search OPTIONS` against a service with these defects. */
async function against(defects: readonly string[], reports: string, options: readonly string[]) {
  const provider = await startReference({ service: 'search', credentials: CREDENTIALS, defects, plan: null });
  onTestFinished(() => provider.stop());
  const args = ['run', 'search', '--url', provider.url, '--reports', reports, ...options];
  return conformHere(args, { SEARCH_API_KEY: CREDENTIALS.secret?.reveal() ?? '' });
}

/** As far as a run that is repeated is read. */
const runWith = (outcomes: Readonly<Record<string, string>>) => ({
  results: {
    run: { exitCode: 0 },
    services: [
      { service: 'orders', checks: Object.entries(outcomes).map(([id, outcome]) => ({ id, outcome })) },
    ],
  } as unknown as Results,
  signalled: false,
});

describe('--last-failed', () => {
  it('runs what failed last, and says what is mended; it never says that the service conforms', async () => {
    const reports = join(temporaryFolder(), 'reports');
    expect((await against(DEFECTS, reports, ['--suite', 'auth'])).code).toBe(1);
    const same = await against(DEFECTS, reports, ['--last-failed']);
    expect(same.code).toBe(1);
    expect(same.stdout).toMatch(/\n0 of 2 mended, 2 still\.\n {2}✕ auth\.\S+ \(search\)\n/);
    const half = await against(DEFECTS.slice(1), reports, ['--last-failed', '--repeat', '2']);
    expect(half.code).toBe(1);
    expect(half.stdout).toContain('\n1 of 2 mended, 1 still.\n');
    const none = await against([], reports, ['--last-failed']);
    expect(none).toMatchObject({ code: 0, stdout: expect.stringContaining('\n1 of 1 mended.\n') });
    expect(none.stdout).not.toContain('conforms');
    expect(await against([], reports, ['--last-failed'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing failed in the last run'),
    });
  });

  it('tells a flaky check with its rate, and one that was not judged', async () => {
    const runs = [
      runWith({ a: 'pass', b: 'fail', c: 'blocked' }),
      runWith({ a: 'pass', b: 'pass', c: 'pass' }),
      runWith({ a: 'pass', b: 'fail', c: 'pass' }),
    ];
    const said: string[] = [];
    const write = process.stdout.write;
    process.stdout.write = (text) => said.push(String(text)) > 0;
    const failures = ['a', 'b', 'c'].map((check) => ({ service: 'orders', check }));
    const code = await runAgain(failures, 3, async () => runs.shift() ?? runWith({})).finally(() => {
      process.stdout.write = write;
    });
    expect({ code, said: said.join('') }).toEqual({
      code: 1,
      said: '\n1 of 3 mended, 1 flaky, 1 not judged.\n  ≈ b (orders)  failed 2 of 3 times\n  ⊘ c (orders)  blocked\n  ✓ a (orders)\n',
    });
  });

  it('needs a run before it, and --repeat needs it', async () => {
    const reports = join(temporaryFolder(), 'reports');
    expect(await conformHere(['run', 'search', '--last-failed', '--reports', reports])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no run to repeat'),
    });
    expect((await conformHere(['run', 'search', '--repeat', '2'])).code).toBe(2);
  });
});
