import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeInto } from '../../../base/fixtures/folder.ts';
import { start } from '../../../provider/reference/fixtures/http-client.ts';
import { conform } from '../../../run/fixtures/conform-process.ts';
import { conformHere } from '../../fixtures/in-process.ts';

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
      return conform([...args, '--provider-url', provider.url]).ended.finally(() => provider.stop());
    };

    expect(await night('unknown-method-500')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 warning'),
    });
    const add = ['known', 'add', 'search', '--check', 'status.*', ...places];
    expect(await conformHere(add)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--reason is needed where nobody can be asked/),
    });
    const told = ['--reason', 'mended in 3.2', '--owner', 'search-team', '--until', '2999-12-31'];
    expect(await conformHere([...add, ...told])).toMatchObject({
      code: 0,
      stdout: `${list}: status.unknown-method\n`,
    });
    expect(await night('unknown-method-500')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 known'),
    });
    // In another way.
    expect(await night('unknown-method-served')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/1 warning[\s\S]*in another\s+way\s+now:\s+status\s+200/),
    });
    expect(await night()).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /list of known failures is out of date[\s\S]*search\.yaml:3:\s+status\.unknown-method\s+is\s+stale/i,
      ),
    });
    expect(await conformHere(['known', 'prune', ...places])).toMatchObject({
      code: 0,
      stdout: `${list}: 1 entry removed\n`,
    });
    expect(readFileSync(list, 'utf8')).toMatch(/^# yaml-language-server.*\nknown: \[\]\n$/);
    expect(await night()).toMatchObject({ code: 0, stdout: expect.stringContaining('2 passed') });
  });

  it('is not looked for in a list that cannot be read: nothing is sent', async () => {
    const folder = temporaryFolder({
      'services/search.yaml': SERVICE,
      'known/search.yaml': 'known:\n  - check: 1\n',
    });
    const places = ['--config', folder, '--reports', join(folder, 'reports')];
    const run = () => conformHere(['run', 'search', ...places]);
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringMatching(/known\/search\.yaml:2/) });
    writeInto(folder, { 'known/search.yaml': '<<<<<<< HEAD\nknown: []\n' });
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/a merge conflict stands here/),
    });
  });
});

describe('a secret that somebody has written into a list', () => {
  it('is in nothing that a run writes', async () => {
    const key = 'example-key-in-a-list-9f3b';
    const folder = temporaryFolder({
      'services/search.yaml': SERVICE,
      'known/search.yaml': `known:\n  - { check: headers.date, got: ["${key}"], reason: "${key}", owner: "${key}", until: 2999-12-31 }\n`,
      'accepted/search.yaml': `accepted:\n  - { key: auth.refusal, value: { missing: "${key}" } }\n`,
    });
    const places = ['--config', folder, '--reports', join(folder, 'reports')];
    await conform(['run', 'search', '--check', 'auth.refusal-status', ...places], { SEARCH_API_KEY: key })
      .ended;
    const written = readFileSync(join(folder, 'reports', 'selection', 'journal.ndjson'), 'utf8');
    expect(written).toContain('"type":"accepted"');
    expect(written).toContain('"type":"known-failures"');
    for (const file of ['journal.ndjson', 'results.json', 'index.html'])
      expect(readFileSync(join(folder, 'reports', 'selection', file), 'utf8')).not.toContain(key);
  });
});
