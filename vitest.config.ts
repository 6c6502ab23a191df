import { defineConfig } from 'vitest/config';

/** The harness's own tests. The suites run through `harness/run/engine.ts`, never through this file. */
export default defineConfig({
  test: {
    include: ['harness/**/*.test.ts', 'suites/**/*.test.ts'],
    pool: 'forks',
    // So late that only what hangs meets it, on a machine that is busy with other things as well.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    cache: false,
    experimental: { viteModuleRunner: false },
  },
});
