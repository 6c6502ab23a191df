import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { UsageError } from '../../base/exit.ts';
import { MOCK_DEVIATIONS } from '../../reference/mock/deviations.ts';
import { startMock } from '../../reference/mock/mock.ts';
import { isExercised } from '../../report/results/operation-coverage.ts';
import type { OperationCoverage, Results } from '../../report/results/results.ts';
import { documentedService, MOCK } from '../unconfigured/documented-service.ts';

/**
 * Runs `conform` against mocks of public OpenAPI documents and prints a table of the result.
 * `node harness/cli/scripts/mocked-documents.ts FOLDER [DOCUMENT…]`: FOLDER has a checkout of each repository of
 * `documents.txt`, as OWNER/NAME; without a document the whole list is run. `--suite NAME` runs one suite, `--reasons` adds
 * why operations were not called, `--deviations` runs each document with one deviation at a time. Sends to the loopback
 * interface alone.
 */

const LIST = new URL('documents.txt', import.meta.url);
const PROGRAM = process.env.CONFORM_PROGRAM ?? fileURLToPath(new URL('../main.ts', import.meta.url));

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    suite: { type: 'string' },
    reasons: { type: 'boolean', default: false },
    deviations: { type: 'boolean', default: false },
  },
});

/** A mock has no limit: nothing is waited for, and every operation has its call. */
function withoutLimits(configDir: string, operations: number): void {
  const path = join(configDir, 'services', `${MOCK}.yaml`);
  const text = readFileSync(path, 'utf8');
  const safety = `safety:\n  operationRequests: ${2 * operations + 400}`;
  const plan = 'plan: { requests: 100000, window: 60s }';
  writeFileSync(path, `${text.replace(/^safety:$/m, safety)}\n${plan}\n`);
}

interface Mocked {
  readonly results: Results;
  /** Number of answers that the deviation has made different. */
  readonly deviated: number;
}

/** Runs `conform` against a mock of the document. */
async function runOf(path: string, deviation: string | null): Promise<Mocked> {
  const { config, configDir, env, close } = await documentedService(path);
  withoutLimits(configDir, config.operations.length);
  const mock = await startMock({ config, deviation });
  const reports = mkdtempSync(join(tmpdir(), 'conform-mocked-'));
  try {
    const args = ['run', MOCK, '--config', configDir, '--url', mock.url, '--allow', 'writes,leftovers'];
    const suite = flags.suite === undefined ? [] : ['--suite', flags.suite];
    const child = spawn(
      process.execPath,
      [PROGRAM, ...args, ...suite, '--reporter', 'junit', '--reports', reports],
      { env: { ...process.env, ...env }, stdio: 'ignore' },
    );
    await once(child, 'exit');
    for (const fault of mock.faults) process.stderr.write(`${path}: ${String(fault)}\n`);
    const run = readdirSync(reports).find((name) => /^\d/.test(name)) ?? '';
    const results = JSON.parse(readFileSync(join(reports, run, 'results.json'), 'utf8'));
    return { results, deviated: mock.deviated() };
  } finally {
    await mock.stop();
    rmSync(reports, { recursive: true });
    close();
  }
}

function failedIn({ services }: Results): readonly string[] {
  const checks = services.flatMap((service) => service.checks);
  return checks.filter(({ outcome }) => outcome === 'fail' || outcome === 'error').map(({ id }) => id);
}

function rowOf(name: string, results: Results): string {
  const [service] = results.services;
  const { operationCoverage = [], documentRemarks = [] } = service ?? {};
  const part = (all: typeof operationCoverage) => `${all.filter(isExercised).length} of ${all.length}`;
  const cells = [
    name,
    part(operationCoverage.filter(({ operation }) => operation.startsWith('GET '))),
    part(operationCoverage),
    documentRemarks.length,
    failedIn(results).join(', '),
  ];
  return `| ${cells.join(' | ')} |\n${flags.reasons ? reasonsOf(operationCoverage) : ''}`;
}

/** Reasons without the names in them, the most frequent first, each with an operation. */
function reasonsOf(coverage: readonly OperationCoverage[]): string {
  const left = coverage.filter((each) => !isExercised(each));
  const byReason = Map.groupBy(left, ({ notExercised }) =>
    `${notExercised?.reason}`.replaceAll(/"[^"]*"/g, '"…"'),
  );
  return [...byReason]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([reason, each]) => `    ${each.length}: ${reason} (${each[0]?.operation})\n`)
    .join('');
}

/** The document has nothing that the deviation could change. */
const NOTHING = '–';

async function deviationRow(name: string, path: string): Promise<string> {
  const cells: string[] = [];
  for (const deviation of MOCK_DEVIATIONS) {
    const { results, deviated } = await runOf(path, deviation.name);
    const [failed, ...more] = failedIn(results);
    const unseen = deviated === 0 ? NOTHING : 'none';
    cells.push(
      failed === undefined ? unseen : `${failed}${more.length > 0 ? ` and ${more.length} more` : ''}`,
    );
  }
  return `| ${[name, ...cells].join(' | ')} |\n`;
}

const [folder = '.', ...named] = positionals;
const listed = readFileSync(LIST, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const columns = flags.deviations
  ? MOCK_DEVIATIONS.map(({ name }) => name)
  : ['GET called', 'called', 'remarks', 'failed'];
process.stdout.write(
  `| document | ${columns.join(' | ')} |\n| --- |${columns.map(() => ' --- |').join('')}\n`,
);
for (const line of named.length > 0 ? named : listed) {
  const [repository = '', file = ''] = line.split(' ');
  const path = join(folder, repository, file);
  try {
    process.stdout.write(
      flags.deviations ? await deviationRow(line, path) : rowOf(line, (await runOf(path, null)).results),
    );
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stdout.write(`| ${line} | refused: ${error.message.split('\n')[0]} | | | |\n`);
  }
}
