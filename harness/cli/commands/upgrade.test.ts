import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { conform } from '../../engine/fixtures/conform-process.ts';
import { exampleCredentials } from '../../reference/how-to-call.ts';
import { startReference } from '../../reference/reference.ts';

/** The check that came with the upgrade. */
const NEW = 'auth.challenge';
/** A set of an earlier date, without it. */
const PATCH = `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { readdirSync, readFileSync } = fs;
const isFolder = (path) => String(path).endsWith('/config/rules/');
fs.readdirSync = (path, ...more) => isFolder(path) ? ['2020-01.json', ...readdirSync(path, ...more)] : readdirSync(path, ...more);
fs.readFileSync = (path, ...more) => {
  if (!String(path).endsWith('/config/rules/2020-01.json')) return readFileSync(path, ...more);
  const rules = JSON.parse(readFileSync(new URL('2026-11.json', path), 'utf8'));
  return JSON.stringify({ ...rules, api: rules.api.filter((id) => id !== '${NEW}') });
};
syncBuiltinESMExports();`;

it('a check that comes with an upgrade leaves the exit code under a set with a date alone', async () => {
  const credentials = exampleCredentials('search');
  const provider = await startReference({
    service: 'search',
    credentials,
    defects: ['refusal-without-challenge'],
    plan: null,
  });
  onTestFinished(() => provider.stop());
  const env = {
    SEARCH_API_KEY: credentials.secret?.reveal() ?? '',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PATCH)}`,
  };
  const under = (rules: string) => {
    const reports = join(temporaryFolder(), 'reports');
    const args = [
      'run',
      'search',
      '--url',
      provider.url,
      '--rules',
      rules,
      '--suite',
      'auth',
      '--reports',
      reports,
    ];
    return conform(args, env).ended;
  };
  const [before, after] = await Promise.all([under('api@2020-01'), under('api@2026-11')]);
  expect([before.code, after.code]).toEqual([0, 1]);
  expect(before.stdout).not.toContain(NEW);
  expect(after.stdout).toContain(NEW);
});
