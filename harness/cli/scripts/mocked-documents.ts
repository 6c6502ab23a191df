import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../base/exit.ts';
import { startMock } from '../../reference/mock/mock.ts';
import { isExercised } from '../../report/results/operation-coverage.ts';
import type { Results } from '../../report/results/results.ts';
import { documentedService, MOCK } from '../unconfigured/documented-service.ts';

/**
 * Runs `conform` against mocks of public OpenAPI documents and prints a table of the result.
 * `node harness/cli/scripts/mocked-documents.ts FOLDER [DOCUMENT…]`: FOLDER has a checkout of each repository of
 * `documents.txt`, as OWNER/NAME; without a document the whole list is run. Sends to the loopback interface alone.
 */

const LIST = new URL('documents.txt', import.meta.url);
const PROGRAM = process.env.CONFORM_PROGRAM ?? fileURLToPath(new URL('../main.ts', import.meta.url));

/** The results of a run against a mock of the document. */
async function resultsOf(path: string): Promise<Results> {
  const { config, configDir, env, close } = await documentedService(path);
  const mock = await startMock({ config });
  const reports = mkdtempSync(join(tmpdir(), 'conform-mocked-'));
  try {
    const args = ['run', MOCK, '--config', configDir, '--url', mock.url, '--allow', 'writes,leftovers'];
    const child = spawn(process.execPath, [PROGRAM, ...args, '--reports', reports], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    await once(child, 'exit');
    for (const fault of mock.faults) process.stderr.write(`${path}: ${String(fault)}\n`);
    const run = readdirSync(reports).find((name) => /^\d/.test(name)) ?? '';
    return JSON.parse(readFileSync(join(reports, run, 'results.json'), 'utf8'));
  } finally {
    await mock.stop();
    rmSync(reports, { recursive: true });
    close();
  }
}

function rowOf(name: string, { services }: Results): string {
  const [service] = services;
  const { operationCoverage = [], documentRemarks = [], checks = [] } = service ?? {};
  const part = (all: typeof operationCoverage) => `${all.filter(isExercised).length} of ${all.length}`;
  const failed = checks.filter(({ outcome }) => outcome === 'fail' || outcome === 'error');
  const cells = [
    name,
    part(operationCoverage.filter(({ operation }) => operation.startsWith('GET '))),
    part(operationCoverage),
    documentRemarks.length,
    failed.map(({ id }) => id).join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}

const [folder = '.', ...named] = process.argv.slice(2);
const listed = readFileSync(LIST, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
if (named.length === 0)
  process.stdout.write(
    '| document | GET called | called | remarks | failed |\n| --- | --- | --- | --- | --- |\n',
  );
for (const line of named.length > 0 ? named : listed) {
  const [repository = '', path = ''] = line.split(' ');
  try {
    process.stdout.write(`${rowOf(line, await resultsOf(join(folder, repository, path)))}\n`);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stdout.write(`| ${line} | refused: ${error.message.split('\n')[0]} | | | |\n`);
  }
}
