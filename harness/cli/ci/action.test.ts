import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder, writeInto } from '../../base/fixtures/folder.ts';
import { listenTo } from '../../base/fixtures/program.ts';
import { BIN } from '../../engine/fixtures/built-program.ts';
import { pactOf, startStubBroker } from '../../providers/pact/fixtures/stub-broker.ts';

/** The shell step of the GitHub action, run as a runner does it. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ACTION = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8'));

/** `change`: of the config of search. */
async function run(inputs: Readonly<Record<string, string>>, change = (yaml: string) => yaml) {
  // What the step before it has installed.
  const folder = temporaryFolder({ 'runner/conform/bin/README.md': 'the program' });
  cpSync(join(ROOT, 'config'), join(folder, 'config'), { recursive: true });
  const search = 'config/services/search.yaml';
  writeInto(folder, { [search]: change(readFileSync(join(ROOT, search), 'utf8')) });
  symlinkSync(BIN, join(folder, 'runner/conform/bin/conform'));
  const step = ACTION.runs.steps.find(({ id }: { readonly id?: string }) => id === 'conform');
  const given = (expression: string) => {
    const [, name = ''] = /^\$\{\{ inputs\.(.+) \}\}$/.exec(expression) ?? [];
    return inputs[name] ?? ACTION.inputs[name].default;
  };
  const env = Object.fromEntries(
    Object.entries<string>(step.env).map(([name, value]) => [name, given(value)]),
  );
  const shell = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...env,
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      RUNNER_TEMP: join(folder, 'runner'),
      GITHUB_OUTPUT: join(folder, 'output'),
      GITHUB_STEP_SUMMARY: join(folder, 'summary'),
    },
  });
  const { code: status, stderr } = await listenTo(shell).ended;
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

describe('the GitHub action', () => {
  it('runs the services that are named, and gives the verdict to the page of the job', async () => {
    const { status, stderr, output, summary, has } = await run({
      services: 'search messaging',
      arguments: '--partial\n--suite=json\n--check=json.*',
      strict: 'true',
      reports: 'out of/the way',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(output).toBe('exit-code=0\n');
    expect(summary).toMatch(/^## ◐ No verdict/);
    expect(has('out of/the way/selection/junit.xml')).toBe(true);
  });

  it('fails with the exit code of the run', async () => {
    const { status, output, summary } = await run({ services: 'search', environment: 'stagign' });
    expect([status, output, summary]).toEqual([2, 'exit-code=2\n', '']);
  });

  it('takes nothing of its inputs for a command', async () => {
    const { status, has } = await run({
      services: 'search;touch injected',
      environment: '$(touch injected)',
      arguments: '`touch injected`',
      'publish-version': '$(touch injected)',
    });
    expect([status, has('injected')]).toEqual([2, false]);
  });

  it('publishes what it found out about the pacts of a broker, good or bad, when it is given a version', async () => {
    const broker = await startStubBroker({ token: null });
    broker.add(pactOf('web-shop'));
    const brokered = (yaml: string) => `${yaml}\npacts: { broker: { url: "${broker.url}" } }\n`;
    const broken = (yaml: string) =>
      brokered(yaml.replace('{ reference: search }', '{ reference: search, defects: [sample-is-404] }'));
    const inputs = { services: 'search', arguments: '--suite=pact' };
    const publish = { 'publish-version': '1.4.0', 'publish-branch': 'main' };
    const statuses = [
      (await run(inputs, brokered)).status,
      (await run({ ...inputs, ...publish }, brokered)).status,
      (await run({ ...inputs, ...publish, 'publish-version': '1.5.0' }, broken)).status,
    ];
    expect(statuses).toEqual([0, 0, 1]);
    expect(broker.results.map(({ body }) => body)).toMatchObject([
      { success: true, providerApplicationVersion: '1.4.0' },
      { success: false, providerApplicationVersion: '1.5.0' },
    ]);
    expect(broker.branches.get('search 1.4.0')).toBe('main');
  });

  it('fails where there is nobody to publish to', async () => {
    const { status, stderr, summary } = await run({
      services: 'search',
      arguments: '--suite=pact',
      'publish-version': '1.4.0',
    });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/has no broker/)]);
    // The run's own verdict is there all the same.
    expect(summary).toMatch(/No verdict/);
  });

  it('has the inputs that the recipe for releases gives it', () => {
    const recipe = readFileSync(join(ROOT, 'docs/releases.md'), 'utf8');
    const [, given = ''] = /uses: your-org\/conform@.*\n\s+with: (\{.*\})/.exec(recipe) ?? [];
    expect(Object.keys(parse(given)).filter((name) => !(name in ACTION.inputs))).toEqual([]);
    expect(given).toContain('environment: release');
  });

  it('uses actions of others by commit alone', () => {
    const used = ACTION.runs.steps.flatMap(({ uses }: { readonly uses?: string }) => uses ?? []);
    expect(used).toHaveLength(2);
    for (const each of used) expect(each).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40}$/);
  });

  it('passes every input on by a variable', () => {
    const steps: readonly { readonly run?: string }[] = ACTION.runs.steps;
    for (const { run: script = '' } of steps) expect(script).not.toContain('${{');
  });
});
