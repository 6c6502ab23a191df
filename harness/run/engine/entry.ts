import { afterAll, describe, inject, test } from 'vitest';
import { openWorker } from './worker.ts';

/**
 * The one test file of every project: a service's suites, in order, in this worker, over one session. A check
 * that does not conform fails its test and one that gave no verdict skips it, so that vitest's own view agrees
 * with the journal, which is what the results are made of. What may upset the service comes at the very end, or
 * before the suite that uses up the quota.
 */
const worker = await openWorker(inject('conform'));

for (const suite of worker.suites) {
  describe(suite.name, () => {
    for (const check of suite.checks) {
      test(check.id, { timeout: 0 }, async (context) => {
        const judgment = await worker.judge(suite, check, context.signal);
        if (judgment === null) return context.skip('put off');
        const { outcome, message } = judgment;
        if (outcome === 'fail' || outcome === 'error') throw new Error(message);
        if (outcome === 'skipped' || outcome === 'blocked') context.skip(message);
      });
    }
  });
}

test('what was put off', { timeout: 0 }, ({ signal }) => worker.judgeRest(signal));

afterAll(() => worker.finish(), 0);
