import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { conformHere } from '../fixtures/in-process.ts';
import { terminalOf } from '../process.ts';

/** A short run of search, into a folder of its own. */
async function searched(options: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const reports = join(temporaryFolder(), 'reports');
  const said = await conformHere(['run', 'search', '--reports', reports, ...options], env);
  return { ...said, reports };
}

const ONE = ['--check', 'status.sample'];

describe('conform run', () => {
  it('--reporter writes only these reports, and results.json', async () => {
    const { code, stdout, reports } = await searched([...ONE, '--reporter', 'junit']);
    expect(code).toBe(0);
    expect(readdirSync(join(reports, 'selection')).toSorted()).toEqual([
      'journal.ndjson',
      'junit',
      'junit.xml',
      'results.json',
    ]);
    expect(stdout).toMatch(/Report: \S*selection$/m);
  });

  it('--reporter with a name that no report has is a usage error', async () => {
    const { code, stderr } = await searched(['--reporter', 'html,junitt']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('no report format is called "junitt"\n  remedy: did you mean junit?'),
    });
  });

  it('--json prints the results instead of the verdict', async () => {
    const { stdout, reports } = await searched([...ONE, '--json']);
    expect(JSON.parse(stdout)).toEqual(
      JSON.parse(readFileSync(join(reports, 'selection/results.json'), 'utf8')),
    );
  });

  it('--timeout takes the place of the configured wait', async () => {
    const { code, stderr } = await searched([...ONE, '--timeout', '10']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('timeouts.response: has the wrong form'),
    });
    expect((await searched([...ONE, '--timeout', '10s'])).code).toBe(0);
  });

  it('--http2 asks in HTTP/2', async () => {
    const { code, stdout } = await searched([...ONE, '--http2']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('answered in HTTP/2') });
  });

  it('reads each option from the environment; the command line comes first', async () => {
    const set = { CONFORM_CHECK: 'status.sample', CONFORM_QUIET: '1', CONFORM_STRICT: 'false' };
    const { stdout, reports } = await searched([], set);
    expect(stdout).not.toContain('1 passed');
    const { run, services } = JSON.parse(readFileSync(join(reports, 'selection/results.json'), 'utf8'));
    expect({ strict: run.strict, checks: services[0].checks.length }).toEqual({ strict: false, checks: 1 });
    const other = await searched(['--check', 'json.syntax', '--json'], set);
    expect(other.stdout).not.toContain('"status.sample"');
  });

  it('shows the first options alone, and all of them when asked', async () => {
    const { stdout } = await conformHere(['run', '--help']);
    expect(stdout.split('\n').length).toBeLessThan(55);
    expect(stdout).not.toContain('--shard');
    expect((await conformHere(['help', 'run', '--all'])).stdout).toContain('--shard');
  });
});

describe('colour', () => {
  it.for([
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0', NO_COLOR: '' }, true, false],
    [{ FORCE_COLOR: '', NO_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '', NO_COLOR: '', TERM: 'xterm' }, true, true],
    [{ FORCE_COLOR: '', NO_COLOR: '', TERM: 'xterm' }, false, false],
  ] as const)('with %j, at a terminal: %s', ([env, isTTY, color]) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    expect(terminalOf({ isTTY }).color).toBe(color);
  });
});
