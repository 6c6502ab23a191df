import { afterAll, inject, test } from 'vitest';
import { openWorker } from './worker.ts';

/**
 * The one test file of every project: some services side by side in this worker, each a test of its own that ends when
 * its last check is judged. What came of the checks is in the journal, which is what the results are made of; a test
 * fails only for what the harness gets wrong.
 */
const worker = await openWorker(inject('conform'));

for (const { service, isSimulated, run } of worker.services) {
  const judged = isSimulated ? test : test.concurrent;
  judged(service, ({ signal }) => run(signal), 0);
}

afterAll(() => worker.finish(), 0);
