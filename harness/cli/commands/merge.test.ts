import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { conform, resultsIn } from '../../engine/fixtures/conform-process.ts';
import type { Results } from '../../report/results/results.ts';
import { conformHere } from '../fixtures/in-process.ts';

const WHAT = ['--check', 'status.sample', 'auth.missing-credential', 'json.success-media-type'];
const folder = temporaryFolder();
const shard = (index: number) => join(folder, `shard-${index}`);
const run = (reports: string, ...args: readonly string[]) =>
  conform(['run', '--reports', reports, ...WHAT, ...args]).ended;

/** Without what differs from one machine to another. */
function timeless({ run: { exitCode, selection, interrupted }, services, totals }: Results) {
  const of = services.map(({ service, requestsSent, checks }) => ({
    service,
    requestsSent,
    checks: checks.map(({ id, outcome, message }) => ({ id, outcome, message })),
  }));
  return { exitCode, selection, interrupted, of, totals };
}

beforeAll(async () => {
  const one = join(folder, 'one');
  const ended = [await run(one)];
  for (const index of [1, 2, 3])
    ended.push(await run(shard(index), '--shard', `${index}/3`, '--run-id', 'night-7'));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(ended[1]?.stdout.replaceAll(/\s+/g, ' ')).toMatch(
    /Only .*part 1 of 3 of the run was judged; nothing failed\./s,
  );
});

describe('the parts of a run', () => {
  it('make the report that one machine makes, in whatever order they are named', async () => {
    const reports = join(folder, 'all');
    const merged = await conformHere(['merge', ...[3, 1, 2].map(shard), '--reports', reports]);
    expect(merged).toMatchObject({ code: 0, stderr: '' });
    const results = resultsIn(reports);
    expect(timeless(results)).toEqual(timeless(resultsIn(join(folder, 'one'))));
    expect([results.run.id, results.run.shard, results.services.length]).toEqual(['night-7', undefined, 3]);
  });

  it('are judged again as the one run that they are', async () => {
    const reports = join(folder, 'judged');
    const records = [2, 3, 1].map((index) => join(shard(index), 'selection'));
    const judged = await conformHere(['judge', ...records, '--reports', reports]);
    expect(judged).toMatchObject({ code: 0, stderr: '' });
    expect(judged.stdout.match(/^◐ No verdict/gm)).toHaveLength(1);
    const results = resultsIn(reports);
    const verdicts = (all: Results) => timeless(all).of.map(({ service, checks }) => ({ service, checks }));
    expect(verdicts(results)).toEqual(verdicts(resultsIn(join(folder, 'one'))));
    const { id, shard: part, interrupted } = results.run;
    expect([id, part, interrupted]).toEqual(['night-7', undefined, false]);
  });

  it('of which one is missing are judged as a run that is cut short, and none is judged twice', async () => {
    const reports = join(folder, 'judged-in-part');
    const [first = '', second = ''] = [1, 2].map((index) => join(shard(index), 'selection'));
    const judged = await conformHere(['judge', first, second, '--reports', reports]);
    expect(judged).toMatchObject({ code: 3, stdout: expect.stringMatching(/shard 3 of 3 is missing/) });
    expect(resultsIn(reports).services).toHaveLength(2);
    const twice = await conformHere(['judge', first, join(first, 'results.json'), '--reports', reports]);
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringMatching(/is shard 1 of 3, as /) });
  });

  it('of which one was killed make a report that is cut short', async () => {
    const killed = join(folder, 'killed');
    cpSync(join(shard(2), 'selection', 'journal.ndjson'), join(killed, 'journal.ndjson'));
    const lines = readFileSync(join(killed, 'journal.ndjson'), 'utf8').split('\n');
    const until = lines.findIndex((line) => line.includes('"type":"outcome"')) + 1;
    writeFileSync(join(killed, 'journal.ndjson'), `${lines.slice(0, until).join('\n')}\n{"type":"outc`);
    const reports = join(folder, 'with-killed');
    const merged = await conformHere(['merge', shard(1), killed, shard(3), '--reports', reports]);
    expect(merged).toMatchObject({ code: 3, stdout: expect.stringMatching(/cut short: shard 2: /) });
    expect(resultsIn(reports).services).toHaveLength(3);
  });

  it('of which one is missing are told with what nobody knows', async () => {
    const reports = join(folder, 'without-two');
    const [lost] = resultsIn(shard(2)).services;
    const { code, stdout } = await conformHere(['merge', shard(1), shard(3), '--reports', reports]);
    expect(code).toBe(3);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      `cut short: shard 2 of 3 is missing; nothing is known of ${lost?.service}`,
    );
  });

  it.for([
    ['twice', [1, 'copy'], /shard 1 of 3, as .* is/],
    ['with a part of another run', [1, 'foreign'], /is not of the same run as/],
    ['with a whole run', [1, 'one'], /is not the part of a run/],
    ['with a folder that holds none', [1, 'nothing'], /holds neither results\.json nor journal\.ndjson/],
  ] as const)('are not merged %s', async ([_how, named, said]) => {
    const foreign = join(folder, 'foreign', 'selection', 'results.json');
    rmSync(join(folder, 'foreign'), { recursive: true, force: true });
    cpSync(join(shard(2), 'selection', 'results.json'), foreign);
    writeFileSync(foreign, readFileSync(foreign, 'utf8').replace(/"plan": ?"[^"]*"/, '"plan":"another"'));
    cpSync(join(shard(1), 'selection', 'results.json'), join(folder, 'copy', 'results.json'));
    const folders = named.map((each) => (typeof each === 'number' ? shard(each) : join(folder, each)));
    const reports = join(folder, 'refused');
    const refused = await conformHere(['merge', ...folders, '--reports', reports]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(said) });
  });
});
