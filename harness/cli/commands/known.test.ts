import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeInto } from '../../base/fixtures/folder.ts';
import { conform, conformOver, unbroken } from '../../engine/fixtures/conform-process.ts';
import { start } from '../../reference/fixtures/http-client.ts';
import { conformHere, saying } from '../fixtures/in-process.ts';

/** Nights with a failure that nobody mends at once. */

const SERVICE = `service: search
contract: search
provider: { url: 'http://127.0.0.1:9' }
credentials: { scheme: bearer, key: '\${env:SEARCH_API_KEY}' }
`;

describe('a failure that is known', () => {
  it('lets the nights be green until it is mended, and then asks for the list to be tidied', async () => {
    const folder = temporaryFolder({ 'services/search.yaml': SERVICE });
    const list = join(folder, 'known', 'search.yaml');
    const places = ['--config', folder, '--reports', join(folder, 'reports')];
    const night = async (...defects: readonly string[]) => {
      const provider = await start('search', { defects });
      const args = ['run', 'search', '--check', 'status.unknown-method', 'status.sample', ...places];
      return conform([...args, '--url', provider.url]).ended.finally(() => provider.stop());
    };

    expect(saying(await night('unknown-method-500'))).toMatch(/^0: .*1 warning/s);
    const add = ['known', 'add', 'search', '--check', 'status.*', ...places];
    expect(saying(await conformHere(add))).toMatch(/^2: .*--reason is needed without a terminal/);
    const told = ['--reason', 'mended in 3.2', '--owner', 'search-team', '--until', '2999-12-31'];
    expect(saying(await conformHere([...add, ...told]))).toBe(`0: ${list}: status.unknown-method\n`);
    expect(saying(await night('unknown-method-500'))).toMatch(/^0: .*1 known/s);
    // In another way.
    expect(unbroken(saying(await night('unknown-method-served')))).toMatch(
      /^0: .*1 warning.*in another way now: status 200/,
    );
    expect(unbroken(saying(await night()))).toMatch(
      /^1: .*list of known failures is out of date.*search\.yaml:3: status\.unknown-method is stale/i,
    );
    const prune = ['known', 'prune', ...places];
    expect(saying(await conformHere(prune))).toBe(`0: ${list}: 1 entry removed\n`);
    expect(readFileSync(list, 'utf8')).toMatch(/^# yaml-language-server.*\nknown: \[\]\n$/);
    expect(saying(await night())).toMatch(/^0: .*2 passed/s);
  });

  it('is not looked for in a list that cannot be read: nothing is sent', async () => {
    const folder = temporaryFolder({
      'services/search.yaml': SERVICE,
      'known/search.yaml': 'known:\n  - check: 1\n',
    });
    const places = ['--config', folder, '--reports', join(folder, 'reports')];
    const run = () => conformHere(['run', 'search', ...places]);
    expect(saying(await run())).toMatch(/^2: .*known\/search\.yaml:2/s);
    writeInto(folder, { 'known/search.yaml': '<<<<<<< HEAD\nknown: []\n' });
    expect(saying(await run())).toMatch(/^2: .*a merge conflict stands here/s);
  });
});

describe('a secret that somebody has written into a list', () => {
  it('is in nothing that a run writes', async () => {
    const key = 'example-key-in-a-list-9f3b';
    const files = {
      'services/search.yaml': SERVICE,
      'known/search.yaml': `known:\n  - { check: headers.date, got: ["${key}"], reason: "${key}", owner: "${key}", until: 2999-12-31 }\n`,
      'accepted/search.yaml': `accepted:\n  - { key: auth.refusal, value: { missing: "${key}" } }\n`,
    };
    const { report } = await conformOver(files, ['--check', 'auth.refusal-status'], { SEARCH_API_KEY: key });
    expect(report('journal.ndjson')).toContain('"type":"accepted"');
    expect(report('journal.ndjson')).toContain('"type":"known-failures"');
    for (const file of ['journal.ndjson', 'results.json', 'index.html'])
      expect(report(file)).not.toContain(key);
  });
});
