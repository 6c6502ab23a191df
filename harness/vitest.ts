import { describe, it } from 'vitest';
import { type ConformanceOptions, conformanceTests } from './cli/conformance-tests.ts';

export type { ConformanceOptions } from './cli/conformance-tests.ts';

/**
 * Runs the services once and gives each check, and each operation that one has judged, as a test, with the finding as
 * the message of a failure. At the top of a test file: `await conformance({ services: ['orders'] });`
 */
export async function conformance(options: ConformanceOptions = {}): Promise<void> {
  const tests = await conformanceTests(options);
  for (const service of new Set(tests.map((each) => each.service))) {
    describe(service, () => {
      for (const { name, warning, run } of tests.filter((each) => each.service === service)) {
        it(name, async ({ annotate }) => {
          run();
          if (warning !== null) await annotate(warning, 'warning');
        });
      }
    });
  }
}
