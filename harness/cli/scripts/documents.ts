import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { UsageError } from '../../base/exit.ts';
import type { SecurityScheme } from '../../config/credential/scheme.ts';
import { loadServices } from '../../config/load.ts';
import { firstFacts } from '../../config/operation/openapi/first-facts.ts';
import type { ServiceConfig } from '../../config/service.ts';
import { documentValues } from './document-values.ts';

/**
 * Reads public OpenAPI documents and prints a table of the result. `node harness/cli/scripts/documents.ts FOLDER`: FOLDER
 * has a checkout of each repository of the list, as OWNER/NAME. Sends nothing. With `--values` it makes values of the schemas
 * instead, and holds them to the reading.
 */

const LIST = new URL('documents.txt', import.meta.url);
const MOST_REASONS = 1;

async function configOf(path: string): Promise<ServiceConfig> {
  const facts = await firstFacts(path, path, '/');
  if ('fault' in facts) throw new UsageError(facts.fault.problem);
  const configDir = mkdtempSync(join(tmpdir(), 'conform-documents-'));
  await mkdir(join(configDir, 'services'));
  const lines = [
    'service: public',
    'contract: search',
    'provider: { url: "http://127.0.0.1:1" }',
    `credentials: ${credentialsFor(facts.demand)}`,
    `openapi: ${JSON.stringify(resolve(path))}`,
    'safety: { unsafeMethods: true }',
  ];
  writeFileSync(join(configDir, 'services', 'public.yaml'), lines.join('\n'));
  try {
    const env = { KEY: 'a-key-of-this-table', USERNAME: 'a-user-of-this-table' };
    const { services } = await loadServices({ configDir, services: ['public'], env });
    const [service] = services;
    if (service === undefined) throw new UsageError('is not loaded');
    return service.config;
  } finally {
    rmSync(configDir, { recursive: true });
  }
}

/** The scheme of the first operation, as `conform init` takes it. */
function credentialsFor(demand: SecurityScheme | null): string {
  const key = `"\${env:KEY}"`;
  if (demand?.type === 'apiKey' && (demand.in === 'header' || demand.in === 'query'))
    return `{ scheme: ${demand.in}, name: ${JSON.stringify(demand.name)}, key: ${key} }`;
  if (demand?.scheme === 'basic') return `{ scheme: basic, username: "\${env:USERNAME}", password: ${key} }`;
  return demand === null ? '{ scheme: none }' : `{ scheme: bearer, key: ${key} }`;
}

function rowOf(name: string, config: ServiceConfig, ms: number): string {
  const { operations, documentRemarks = [] } = config;
  const isReading = ({ method }: (typeof operations)[number]) => method === 'GET' || method === 'HEAD';
  const withValues = operations.filter(({ uncallable }) => uncallable === null);
  const bySearch = operations.filter(({ awaits }) => awaits.length > 0);
  const left = operations.filter(({ uncallable, awaits }) => uncallable !== null && awaits.length === 0);
  const reasons = [...Map.groupBy(left, ({ uncallable }) => uncallable ?? '')]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, MOST_REASONS)
    .map(([reason, each]) => `${each.length}: ${reason.slice(0, 90)}`);
  const cells = [
    name,
    operations.length,
    `${withValues.length} (${withValues.filter(isReading).length})`,
    `${bySearch.length} (${bySearch.filter(isReading).length})`,
    left.length,
    documentRemarks.length,
    Math.round(ms),
    reasons.join('; ').replaceAll('|', '\\|'),
  ];
  return `| ${cells.join(' | ')} |`;
}

const [folder = '.', ...flags] = process.argv.slice(2);
const listed = readFileSync(LIST, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const isOfValues = flags.includes('--values');
process.stdout.write(
  isOfValues
    ? '| document | schemas | values judged | not made | refused by the reading |\n| --- | --- | --- | --- | --- |\n'
    : '| document | operations | with values (GET) | by other answers (GET) | left | remarks | ms | most frequent reason |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n',
);
let judged = 0;
let refusals = 0;
for (const line of listed) {
  const [repository = '', path = ''] = line.split(' ');
  const file = join(folder, repository, path);
  const started = performance.now();
  try {
    if (isOfValues) {
      const found = await documentValues(file);
      judged += found.judged;
      refusals += found.refused.length;
      const { schemas, unmade, refused } = found;
      process.stdout.write(`| ${line} | ${schemas} | ${found.judged} | ${unmade} | ${refused.length} |\n`);
      for (const each of refused) process.stderr.write(`${line} ${each}\n`);
    } else {
      process.stdout.write(`${rowOf(line, await configOf(file), performance.now() - started)}\n`);
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stdout.write(`| ${line} | refused: ${error.message.split('\n')[0]} | | | | | | |\n`);
  }
}
if (isOfValues) process.stdout.write(`\n${judged} values judged, ${refusals} refused by the reading\n`);
