import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

/** The shell step of the GitHub action, run as a runner does it. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ACTION = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8'));

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function run(inputs: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'conform-action-'));
  folders.push(folder);
  cpSync(join(ROOT, 'config'), join(folder, 'config'), { recursive: true });
  const step = ACTION.runs.steps.find(({ id }: { readonly id?: string }) => id === 'conform');
  const given = (expression: string) => {
    const [, name = ''] = /^\$\{\{ inputs\.(.+) \}\}$/.exec(expression) ?? [];
    return inputs[name] ?? ACTION.inputs[name].default;
  };
  const env = Object.fromEntries(
    Object.entries<string>(step.env).map(([name, value]) => [name, given(value)]),
  );
  const { status, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...env,
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      GITHUB_ACTION_PATH: ROOT,
      GITHUB_OUTPUT: join(folder, 'output'),
      GITHUB_STEP_SUMMARY: join(folder, 'summary'),
    },
  });
  const text = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';
  return {
    status,
    stderr,
    output: text('output'),
    summary: text('summary'),
    has: (path: string) => existsSync(join(folder, path)),
  };
}

describe('the GitHub action', { timeout: 60_000 }, () => {
  it('runs the services that are named, and gives the verdict to the page of the job', () => {
    const { status, stderr, output, summary, has } = run({
      services: 'search messaging',
      arguments: '--suite=json\n--check=json.*',
      strict: 'true',
      reports: 'out of/the way',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(output).toBe('exit-code=0\n');
    expect(summary).toMatch(/^## ✅ Conforms/);
    expect(has('out of/the way/latest/junit.xml')).toBe(true);
  });

  it('fails with the exit code of the run', () => {
    const { status, output, summary } = run({ services: 'search', environment: 'stagign' });
    expect([status, output, summary]).toEqual([2, 'exit-code=2\n', '']);
  });

  it('takes nothing of its inputs for a command', () => {
    const { status, has } = run({
      services: 'search;touch injected',
      environment: '$(touch injected)',
      arguments: '`touch injected`',
    });
    expect([status, has('injected')]).toEqual([2, false]);
  });

  it('has the inputs that the README gives it', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const [, given = ''] = /uses: your-org\/conform@.*\n\s+with: (\{.*\})/.exec(readme) ?? [];
    expect(Object.keys(parse(given)).filter((name) => !(name in ACTION.inputs))).toEqual([]);
    expect(given).toContain('environment: release');
  });

  it('passes every input on by a variable', () => {
    const steps: readonly { readonly run?: string }[] = ACTION.runs.steps;
    for (const { run: script = '' } of steps) expect(script).not.toContain('${{');
  });
});
