import { defineConfig } from 'vitest/config';
import { compiledCodeEnvironment } from './harness/run/engine/compiled-code.ts';

/** The harness's own tests. The suites run through `harness/run/engine.ts`, never through this file. */
export default defineConfig({
  test: {
    include: ['harness/**/*.test.ts', 'suites/**/*.test.ts'],
    pool: 'forks',
    // As many as the smallest machine that they run on has cores: the tests of time leave little to spare.
    maxWorkers: 2,
    // So late that only what hangs meets it, on a machine that is busy with other things as well.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    cache: false,
    env: { ...compiledCodeEnvironment() },
    experimental: { viteModuleRunner: false },
  },
});
