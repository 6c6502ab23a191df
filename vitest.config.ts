import { defineConfig } from 'vitest/config';

/** The harness's own tests. The suites run through `harness/run/engine.ts`, never through this file. */
export default defineConfig({
  test: {
    include: ['harness/**/*.test.ts', 'suites/**/*.test.ts'],
    // Minutes long and bound to real rate-limit windows: run by itself, on a quiet machine.
    exclude: ['harness/run/proof.test.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    cache: false,
    experimental: { viteModuleRunner: false },
  },
});
