import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';

/** The tarball as `npm pack` makes it, unpacked beside the dependencies that are installed here. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MEBIBYTE = 1024 * 1024;
const KEY = 'example-key-not-secret';
const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'conform-package-'));
const unpacked = join(folder, 'package');
const tarball = inject('tarball');

beforeAll(async () => {
  await execute('tar', ['xzf', tarball, '-C', folder]);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const conform = (...args: readonly string[]) =>
  execute(process.execPath, [join(unpacked, 'harness/cli/conform.js'), ...args], { cwd: folder });

describe('the package', () => {
  it('is at most 1.3 MiB of built JavaScript with types and docs, and no test', () => {
    expect(statSync(tarball).size).toBeLessThan(1.3 * MEBIBYTE);
    const files = globSync('**/*', { cwd: unpacked });
    expect(files).toContain('dist/harness/index.d.ts');
    expect(files.filter((name) => /\.test\.|fixtures|__snapshots__/.test(name))).toEqual([]);
    expect(files.filter((name) => /\.ts$/.test(name) && !/\.d\.ts$/.test(name))).toEqual([]);
  });

  it('names no source that is not there', () => {
    const scripts = globSync('dist/**/*.js', { cwd: unpacked });
    const naming = scripts.filter((name) =>
      /(?:from|import\(|new URL\()\s*['"`][^'"`\n]*\.ts['"`]/.test(
        readFileSync(join(unpacked, name), 'utf8'),
      ),
    );
    expect(naming).toEqual([]);
  });

  it('does to no process what a worker does to its own', () => {
    const changing = globSync('dist/**/*.js', { cwd: unpacked }).filter((name) =>
      /^process\.exit = /m.test(readFileSync(join(unpacked, name), 'utf8')),
    );
    expect(changing).toEqual(['dist/harness/engine/worker/entry.js']);
  });

  it('finds its version, its contracts and its reference providers', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect((await conform('--version')).stdout).toBe(`${version}\n`);
    const config = join(unpacked, 'dist/config');
    const { stdout } = await conform('run', 'search', '--suite', 'json', '--config', config, '--quiet');
    expect(stdout).toContain('nothing failed');
    const explained = await conform('explain', 'auth.challenge', '--config', config);
    expect(explained.stdout).toContain('conform serve search');
  });

  it('loads Pact, testcontainers and the tools of development only for what uses them, and no file of what it has inside', async () => {
    const watch = join(folder, 'watch.mjs');
    const log = join(folder, 'loaded.txt');
    writeFileSync(log, '');
    writeFileSync(
      watch,
      `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    const [name] = /node_modules\\/(?:@pact-foundation|commander|testcontainers|undici|vitest|vite|ws|yaml)\\//.exec(url) ?? [];
    if (name) appendFileSync(${JSON.stringify(log)}, name + '\\n');
    return next(url, context);
  },
});`,
    );
    const config = join(unpacked, 'dist/config');
    await execute(
      process.execPath,
      [join(unpacked, 'harness/cli/conform.js'), 'run', 'search', '--suite', 'json', '--config', config],
      { cwd: folder, env: { ...process.env, NODE_OPTIONS: `--import=${pathToFileURL(watch)}` } },
    );
    expect(readFileSync(log, 'utf8')).toBe('');
    const licences = readFileSync(join(unpacked, 'dist/LICENSES.txt'), 'utf8');
    for (const inside of ['commander', 'ws', 'yaml'])
      expect(licences).toMatch(new RegExp(`^${inside} \\d`, 'm'));
  });

  it('gives programs what its types declare', async () => {
    const { exports } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
    for (const named of Object.values<string | { types: string; default: string }>(exports)) {
      for (const path of typeof named === 'string' ? [named] : Object.values(named)) {
        expect(globSync(path, { cwd: unpacked })).toHaveLength(1);
      }
    }
    const surface = await import(join(unpacked, exports['.'].default));
    const asked = surface.conform(['config', 'nobody', '--config', join(unpacked, 'dist/config')]);
    await expect(asked).rejects.toBeInstanceOf(surface.UsageError);
  });
});

describe('the tests of a user', () => {
  it('hold the checks and the operations of a service, beside tests of their own', async () => {
    const user = join(folder, 'user');
    cpSync(unpacked, join(user, 'node_modules', 'conform-api'), { recursive: true });
    cpSync(join(ROOT, 'harness/cli/package/fixtures/orders/openapi.yaml'), join(user, 'openapi.yaml'));
    const server = spawn(
      process.execPath,
      [join(ROOT, 'harness/cli/package/fixtures/orders/service.ts'), KEY, 'wrong-type'],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    onTestFinished(() => {
      server.kill();
    });
    const [address] = await once(server.stdout, 'data');
    writeFileSync(
      join(user, 'orders.test.js'),
      `import { expect, it } from 'vitest';
import { conformance } from 'conform-api/vitest';
it('is our own', () => expect(1).toBe(1));
await conformance({
  services: ['./openapi.yaml'],
  url: ${JSON.stringify(String(address).trim())},
  header: ['Authorization: Bearer ${KEY}'],
  suite: ['operations', 'json'],
});`,
    );
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const report = join(user, 'report.json');
    const args = [vitest, 'run', '--root', user, '--reporter=json', `--outputFile=${report}`];
    // It ends with 1, since tests fail.
    await execute(process.execPath, args, { cwd: user }).catch(() => undefined);
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const tests: readonly { fullName: string; status: string; failureMessages: readonly string[] }[] =
      testResults[0].assertionResults;
    const named = (part: string) => tests.filter(({ fullName }) => fullName.includes(part));
    expect(named('is our own')).toMatchObject([{ status: 'passed' }]);
    expect(named('json.syntax').flatMap(({ failureMessages }) => failureMessages)).toEqual([]);
    const red = tests.filter(({ status }) => status === 'failed');
    expect(red.map(({ fullName }) => fullName)).toContainEqual(
      expect.stringMatching(/^orders operations\.schema: /),
    );
    expect(red[0]?.failureMessages.join('\n')).toMatch(/total.*\nchange: .*\nrepeat: curl /s);
  });
});

describe("a user's folder", () => {
  it('runs two tests of its own, our checks and a check of its own under vitest, each as a test', async () => {
    const user = join(folder, 'own');
    cpSync(unpacked, join(user, 'node_modules', 'conform-api'), { recursive: true });
    const config = join(user, 'conformance');
    mkdirSync(join(config, 'services'), { recursive: true });
    writeFileSync(
      join(config, 'services/search.yaml'),
      `service: search
contract: search
provider: { reference: search }
credentials: { scheme: bearer, key: ${KEY} }
checks: [../house.ts]
`,
    );
    const page = readFileSync(join(unpacked, 'docs/own-checks.md'), 'utf8');
    writeFileSync(join(config, 'house.ts'), /```ts\n(.*?)```/s.exec(page)?.[1] ?? '');
    const program = join(user, 'node_modules/conform-api/harness/cli/conform.js');
    const proof = await execute(process.execPath, [program, 'prove', '--config', config], { cwd: user });
    expect(proof.stdout).toContain('2 of 2 proven');
    writeFileSync(
      join(user, 'search.test.ts'),
      `import { expect, it } from 'vitest';
import { conformance } from 'conform-api/vitest';
it('is our first', () => expect(1).toBe(1));
it('is our second', () => expect(2).toBe(2));
await conformance({ services: ['search'], config: 'conformance', suite: ['json', 'house'] });`,
    );
    const report = join(user, 'report.json');
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', '--root', user, '--reporter=json', `--outputFile=${report}`];
    // It ends with 1, since a test fails.
    await execute(process.execPath, args, { cwd: user }).catch(() => undefined);
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const tests: readonly { fullName: string; status: string; failureMessages: readonly string[] }[] =
      testResults[0].assertionResults;
    const statusOf = (part: string) => tests.find(({ fullName }) => fullName.includes(part))?.status;
    const named = ['is our first', 'is our second', 'json.syntax', 'house.health', 'house.trace-id'];
    expect(named.map(statusOf)).toEqual(['passed', 'passed', 'passed', 'passed', 'failed']);
    const failed = tests.filter(({ status }) => status === 'failed');
    expect(failed[0]?.failureMessages.join('\n')).toMatch(
      /no X-Trace-Id.*\nchange: Set X-Trace-Id in the middleware/s,
    );
  });

  it('gives the same tests to node:test', async () => {
    const user = join(folder, 'node-test');
    cpSync(unpacked, join(user, 'node_modules', 'conform-api'), { recursive: true });
    writeFileSync(
      join(user, 'search.test.mjs'),
      `import { test } from 'node:test';
import { conformanceTests } from 'conform-api';
const config = new URL('./node_modules/conform-api/dist/config', import.meta.url).pathname;
for (const { service, name, run } of await conformanceTests({ services: ['search'], config, suite: ['json'] }))
  test(\`\${service}: \${name}\`, run);`,
    );
    const args = ['--test', '--test-reporter=tap', 'search.test.mjs'];
    const env = { PATH: process.env.PATH };
    const { stdout } = await execute(process.execPath, args, { cwd: user, env });
    expect(stdout).toMatch(/^ok \d+ - search: json\.syntax: /m);
    expect(stdout).toMatch(/^# fail 0$/m);
  });
});

describe('what the package depends on', () => {
  it('runs no install script that is not named, and off', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const { allowScripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const scripted = Object.entries<{ readonly dev?: true; readonly hasInstallScript?: true }>(packages)
      .filter(([, { dev, hasInstallScript }]) => hasInstallScript && !dev)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(scripted.filter((name) => allowScripts[name] !== false)).toEqual([]);
  });
});
