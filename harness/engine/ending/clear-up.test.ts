import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { storeOfThings } from '../../../suites/operations/stimuli/fixtures/store-of-things.ts';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { ORDERS_CONTRACT } from '../../config/fixtures/config-folder.ts';
import { thingsDocument } from '../../config/operation/fixtures/things.ts';
import { BEARER } from '../../config/operation/openapi/fixtures/described.ts';
import {
  type ConformProcess,
  conform,
  conformRun,
  resultsIn,
  runFolders,
} from '../fixtures/conform-process.ts';
import { SUITES_URL } from '../selection/selection.ts';

const KEY = 'example-key-for-tests';

/** A run that has created things, and waits for an answer that never comes. */
async function inMidLife(removalWaitsS: number | null = null) {
  const met = Promise.withResolvers<void>();
  const waits: (number | null)[] = [];
  const refuses = ({ method }: IncomingMessage) => (method === 'DELETE' ? (waits.pop() ?? null) : null);
  const interrupted = () => {
    waits.push(removalWaitsS);
    met.resolve();
  };
  const store = await storeOfThings(2, interrupted, refuses);
  onTestFinished(store.stop);
  const config = temporaryFolder({
    'contracts/orders.yaml': ORDERS_CONTRACT,
    'services/orders.yaml': `${BEARER.replace('https://orders.example', store.url)}openapi: ../openapi/api.yaml
plan: { requests: 100, window: 60s }
safety: { unsafeMethods: true }
timeouts: { response: 2m }
`,
    'openapi/api.yaml': JSON.stringify(thingsDocument()),
  });
  const reports = join(temporaryFolder(), 'reports');
  const run = conformRun(reports, {
    services: ['orders'],
    options: { config, suite: ['operations'] },
    setting: { suitesUrl: SUITES_URL },
    env: { KEY },
  });
  await Promise.race([met.promise, run.ended]);
  expect(store.things.size, run.stderr()).toBeGreaterThan(0);
  const remarks = () => resultsIn(reports).services.flatMap((each) => each.remarks ?? []);
  return { store, run, reports, remarks };
}

const TOLD = /^what this run created may still be there: DELETE \/things\/t\d /;

it.for<[how: string, end: (run: ConformProcess) => void, removalWaitsS?: number]>([
  ['it is ended by SIGINT', (run) => run.signalGroup('SIGINT')],
  ['it is ended by SIGTERM', (run) => run.signalGroup('SIGTERM')],
  // Longer than a cancelled worker has.
  ['it is ended by SIGINT with the quota spent', (run) => run.signalGroup('SIGINT'), 2],
  ['its worker is killed', (run) => run.killWorkers()],
])('what a run has created is removed when %s', async ([, end, removalWaitsS]) => {
  const { store, run, remarks } = await inMidLife(removalWaitsS);
  end(run);
  expect(await run.ended).toMatchObject({ code: 3 });
  expect([...store.things.keys()]).toEqual([]);
  expect(remarks()).not.toContainEqual(expect.stringMatching(TOLD));
});

it('is told of with its address where the whole run is killed', async () => {
  const { store, run, reports, remarks } = await inMidLife();
  run.signalGroup('SIGKILL');
  await run.ended;
  expect(store.things.size).toBeGreaterThan(0);
  const [folder = ''] = runFolders(reports);
  await conform(['report', join(folder, 'journal.ndjson')]).ended;
  for (const id of store.things.keys()) {
    expect(remarks()).toContainEqual(expect.stringContaining(`DELETE /things/${id} `));
  }
});
