import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import type { CheckResult } from '../../report/results/check-result.ts';
import { readResults } from '../../report/results/read-results.ts';
import type { Results } from '../../report/results/results.ts';
import { conformHere } from '../fixtures/in-process.ts';

/** `conform judge` over a run of the built-in service with a fault. What it says of whole nights: `memory/fortnight.test.ts`. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const WITHOUT_SOCKETS = fileURLToPath(
  new URL('../../engine/judging/fixtures/without-sockets.js', import.meta.url),
);
const KEY = 'example-search-key-not-secret';
const config = temporaryFolder({
  'services/search.yaml': `service: search
rules: all
contract: search
provider: { reference: search, defects: [date-twice] }
credentials: { scheme: bearer, key: ${KEY} }
`,
});
const reports = join(temporaryFolder(), 'reports');
const latest = join(reports, 'selection');

beforeAll(async () => {
  const selection = ['--suite', 'auth', 'headers', 'framing', 'json'];
  const { code } = await conformHere(['run', '--config', config, '--reports', reports, ...selection]);
  expect(code).toBe(1);
});

async function judged(evidence: string, ...options: readonly string[]) {
  const into = join(temporaryFolder(), 'judged');
  const { code } = await conformHere(['judge', evidence, '--config', config, '--reports', into, ...options]);
  return { code, results: readResults(join(into, 'selection', 'results.json')) };
}

const ofRun = () => readResults(join(latest, 'results.json'));
const checksOf = ({ services }: Results): readonly CheckResult[] => services.flatMap(({ checks }) => checks);
const messagesOf = (results: Results, wanted?: string) =>
  checksOf(results).flatMap(({ outcome, message }) => (outcome === (wanted ?? outcome) ? [message] : []));
const outcomesOf = (results: Results) => checksOf(results).map(({ outcome }) => outcome);
const verdicts = (results: Results) =>
  checksOf(results).map(({ durationMs: _, waitedMs: __, ...verdict }) => verdict);
const remarksOf = ({ services }: Results) => services.flatMap(({ remarks = [] }) => remarks);

/** The run with each line of its journal changed; null drops it. */
function altered(change: (line: string) => string | null): string {
  const folder = temporaryFolder();
  const lines = readFileSync(join(latest, 'journal.ndjson'), 'utf8').split('\n');
  const path = join(folder, 'journal.ndjson');
  writeFileSync(path, lines.flatMap((line) => change(line) ?? []).join('\n'));
  return path;
}

const isSample = (line: string) => line.includes('"probe":"sample"');

describe('the verdict on a recorded run', () => {
  it('is that of the run, its evidence the same, and no report of the run is touched', async () => {
    const before = readFileSync(join(latest, 'results.json'), 'utf8');
    const { code, results } = await judged(latest);
    const run = ofRun();
    expect(code).toBe(1);
    expect(verdicts(results)).toEqual(verdicts(run));
    expect(results.services[0]?.observations).toEqual(run.services[0]?.observations);
    expect(results.services[0]?.evidence).toEqual(run.services[0]?.evidence);
    expect(readFileSync(join(latest, 'results.json'), 'utf8')).toBe(before);
  });

  it('comes from a process that has no code to send anything, in reports/judged', () => {
    const folder = temporaryFolder();
    cpSync(latest, join(folder, 'night'), { recursive: true });
    const main = join(ROOT, 'harness/cli/main.ts');
    const args = ['--import', WITHOUT_SOCKETS, main, 'judge', 'night', '--config', config];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(stdout).toMatch(/^✕ search +1 failed/);
    expect(existsSync(join(folder, 'reports/judged/selection/index.html'))).toBe(true);
    expect(existsSync(join(folder, 'reports/selection'))).toBe(false);
  });

  it('is the same from a journal that does not name the probes, which is said', async () => {
    const { results } = await judged(altered((line) => line.replace(/"probe":"[^"]*",/, '')));
    const run = ofRun();
    const others = (all: Results) => verdicts(all).filter(({ id }) => id !== 'framing.one-response');
    expect(others(results)).toEqual(others(run));
    expect(remarksOf(results).join()).toMatch(/does not say for which probe/);
  });

  it('is the same from results.json, but for what is only in the journal', async () => {
    const { code, results } = await judged(join(latest, 'results.json'));
    expect(code).toBe(1);
    const reason = 'the record does not tell what came without being asked for';
    expect(messagesOf(results, 'blocked')).toEqual([reason]);
  });
});

describe('what a record does not hold is blocked', () => {
  it.for([
    ['what was not sent', (line: string) => (isSample(line) ? null : line)],
    [
      'what was sent otherwise',
      (line: string) => (isSample(line) ? line.replaceAll('/v1/resources', '/v1/others') : line),
    ],
  ] as const)('%s', async ([, change]) => {
    const { code, results } = await judged(altered(change), '--check', 'json.*');
    expect(code).toBe(3);
    expect(messagesOf(results, 'blocked')).toContain('not in the record: GET as documented (sample)');
  });

  it('what was asked of another suite', async () => {
    const { results } = await judged(latest, '--suite', 'status');
    expect(messagesOf(results)).toContainEqual(expect.stringMatching(/^not in the record: /));
    expect(outcomesOf(results)).not.toContain('fail');
  });

  it('the rest of a body that was cut in storing', async () => {
    const cut = (line: string) => {
      if (!isSample(line)) return line;
      const event = JSON.parse(line);
      const { body } = event.value.response;
      body.text = body.text.slice(0, 10);
      body.omitted = body.received - 10;
      return JSON.stringify(event);
    };
    const { results } = await judged(altered(cut), '--check', 'json.*');
    expect(outcomesOf(results)).toContain('blocked');
    expect(outcomesOf(results)).not.toContain('fail');
    expect(messagesOf(results)).toContainEqual(expect.stringMatching(/its body goes on after 10 octets/));
  });

  it('what came after the record was cut short', async () => {
    let lines = 0;
    const { code, results } = await judged(altered((line) => (++lines > 30 ? null : line)));
    expect(code).toBe(results.run.exitCode);
    expect(results.run.interruption).toMatch(/^the record was cut short/);
  });
});

const archive = () => JSON.parse(readFileSync(join(latest, 'har/search.har'), 'utf8'));

function harFile(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return join(temporaryFolder({ 'a.har': text }), 'a.har');
}

/** As another program would have recorded the run, with the key in it. */
function byOthers(): string {
  const { log } = archive();
  const entries = log.entries.map(({ _conform: _, comment: __, ...entry }: Record<string, unknown>) => entry);
  const text = JSON.stringify({ log: { ...log, creator: { name: 'proxy', version: '1' }, entries } });
  return text.replaceAll(/\[redacted:SEARCH_KEY\]|\[redacted:[A-Z_]*KEY\]/g, KEY);
}

describe('a HAR file', () => {
  it('of conform is judged as the run was, but for what needs octets as they came', async () => {
    const of = ['--service', 'search', '--suite', 'auth', 'headers'];
    const { code, results } = await judged(harFile(archive()), ...of);
    expect(code).toBe(1);
    const before = new Map(checksOf(ofRun()).map((each) => [each.id, each]));
    for (const { id, outcome, message } of checksOf(results)) {
      if (outcome !== 'blocked')
        expect([id, outcome, message]).toEqual([id, before.get(id)?.outcome, before.get(id)?.message]);
    }
    expect(checksOf(results).filter(({ outcome }) => outcome === 'pass').length).toBeGreaterThan(10);
    expect(remarksOf(results).join()).toMatch(/a HAR file holds neither/);
  });

  it('of others answers where a request is the very one, the rest is counted, and the key is taken out', async () => {
    const file = byOthers();
    expect(file).toContain(KEY);
    const { results } = await judged(harFile(file), '--service', 'search', '--check', 'auth.*');
    expect(outcomesOf(results)).toContain('pass');
    expect(outcomesOf(results)).not.toContain('fail');
    expect(remarksOf(results).join()).toMatch(
      /\d+ pieces of evidence in the record answered no check of today/,
    );
    expect(JSON.stringify(results)).not.toContain(KEY);
  });

  it.for([
    ['without a service', archive, [], /does not say which service it is of/],
    ['without entries', () => ({ log: { entries: [] } }), ['search'], /it has no entries/],
    ['of the wrong type', () => ({ log: { entries: 'none' } }), ['search'], /no list of entries/],
    [
      'with entries that are none',
      () => ({ log: { entries: [null, 1, { request: [] }] } }),
      ['search'],
      /no entry has/,
    ],
    ['nested without end', () => `{"log": ${'['.repeat(200_000)}`, ['search'], /it is not JSON/],
  ] as const)('%s is a usage error', async ([, value, service, said]) => {
    const named = service.flatMap((name) => ['--service', name]);
    const { code, stderr } = await conformHere(['judge', harFile(value()), '--config', config, ...named]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(said) });
  });

  it('with entries that cannot be read beside others says how many', async () => {
    const { log } = archive();
    const odd = { request: { method: 'GET', url: 'no URL' }, response: { status: 200 } };
    const file = harFile({ log: { ...log, entries: [...log.entries, null, odd] } });
    const { results } = await judged(file, '--service', 'search', '--check', 'auth.*');
    expect(remarksOf(results).join()).toMatch(/2 of \d+ entries of the HAR file could not be read/);
  });
});

describe('what is no record is a usage error', () => {
  it.for([
    ['nothing', () => join(latest, 'no-such-file'), /no such file or folder/],
    ['a folder of something else', () => temporaryFolder(), /neither journal\.ndjson nor results\.json/],
    ['no JSON', () => join(temporaryFolder({ 'a.json': '{"log": ' }), 'a.json'), /it is not JSON/],
    ['other JSON', () => join(temporaryFolder({ 'a.json': '[]' }), 'a.json'), /no journal, no results\.json/],
    ['an empty journal', () => join(temporaryFolder({ 'a.ndjson': '' }), 'a.ndjson'), /which run it is of/],
  ] as const)('%s', async ([, evidence, said]) => {
    const { code, stderr } = await conformHere(['judge', evidence(), '--config', config]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(said) });
  });

  it('a service that is not in the record, or not in the config', async () => {
    const { code, stderr } = await conformHere(['judge', latest, '--config', config, '--service', 'other']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/other/) });
  });
});
