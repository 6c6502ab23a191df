import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { PLAIN_IMPORTS, SHORT_SEARCH } from './harness/base/fixtures/plain-imports.ts';
import { ProcessorTimeReporter } from './harness/base/fixtures/processor-time/reporter.ts';
import { SIMULATION_ENVIRONMENT } from './harness/engine/worker/capacity.ts';
import { compiledCodeEnvironment } from './harness/engine/worker/compiled-code.ts';

/**
 * What decides about a release beyond `npm test`: containers, a browser, the packed program, every command of the
 * README, other runtimes, and limiters of proxies. A container runtime is given to them, or those that need one are skipped.
 */
const RELEASE = [
  'harness/cli/commands/{fresh-provider,release}.test.ts',
  'harness/cli/package/{package,bare-container}.test.ts',
  'harness/cli/package/executable/executable.test.ts',
  'harness/cli/readme.test.ts',
  'harness/providers/container/container.test.ts',
  'harness/providers/process/reaper.test.ts',
  'harness/report/html/page-in-browser.test.ts',
  'suites/tests/event-source.test.ts',
  'suites/tests/faultless-programs.test.ts',
  'suites/tests/limits/proxy-limiters.test.ts',
  'suites/tests/websocket/other-runtimes.test.ts',
];

/**
 * The tests of what starts nothing that outlasts them and changes nothing of its process: in a process that they share,
 * since most of what each of them would take in one of its own is the start.
 */
const TOGETHER = [
  'harness/{base,wire,config,proof}/**/*.test.ts',
  'harness/cli/{contributing,ci/{log-commands,seven-nights}}.test.ts',
  'harness/providers/pact/pact-process.test.ts',
  'harness/providers/{log-capture,start,unix-socket}.test.ts',
  'harness/reference/**/*.test.ts',
  'harness/report/**/*.test.ts',
  'harness/engine/{check,session,provider,selection,turns}/**/*.test.ts',
  'harness/engine/{ending/left-over,worker/capacity,simulation/clock,simulation/sockets}.test.ts',
  'suites/**/*.test.ts',
];

/** What is found of products that this project has nothing to do with: for contributors, and no part of `npm test`. */
const PRODUCTS = 'suites/tests/products/products.test.ts';

/** Records the runs of the archive anew, which `npm test` judges again. */
const ARCHIVE = 'suites/tests/archive/record.test.ts';

/**
 * They begin first within what shares a process and what does not, in this order: so no worker is left alone with one of
 * them at the end, and one that mostly waits, as those of containers do, runs beside others that do not.
 */
const SLOW = [
  'harness/cli/commands/release.test.ts',
  'harness/cli/readme.test.ts',
  'harness/engine/tests/secrets.test.ts',
  'harness/engine/tests/hostile.test.ts',
  'harness/engine/ending/endings.test.ts',
  'harness/cli/commands/honest-verdicts.test.ts',
  'harness/engine/worker/shared-worker.test.ts',
  'harness/cli/repeat.test.ts',
  'suites/tests/limits/schedule.test.ts',
  'suites/tests/websocket/websocket.test.ts',
  'suites/tests/bounds/bounds.test.ts',
  'suites/tests/limits/lawful-limiters.test.ts',
  'suites/tests/third-party.test.ts',
];
const rankOf = ({ moduleId }: TestSpecification) => {
  const rank = SLOW.findIndex((path) => moduleId.endsWith(path));
  return rank === -1 ? SLOW.length : rank;
};
const sharesProcess = ({ project }: TestSpecification) => Number(!project.config.isolate);

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => sharesProcess(a) - sharesProcess(b) || rankOf(a) - rankOf(b));
  }
}

/** `npm run mutate` tries mutants by tests; one that throws when its test is over ends none of the others. */
const RUNNER =
  process.env.CONFORM_MUTANTS === undefined
    ? {}
    : { runner: 'harness/proof/fixtures/mutation/mutant-runner.ts', dangerouslyIgnoreUnhandledErrors: true };

/** Clears up after the tests. */
const TEMPORARY_FILES = 'harness/base/fixtures/temporary-files.ts';

/** What tests start as a process of its own. */
const PROGRAM = 'harness/cli/package/fixtures/built-program.ts';

/** What users install. */
const PACKAGE = 'harness/cli/package/fixtures/packed-package.ts';

/** The harness's own tests. The suites run through `harness/engine/worker/engine.ts`, never through this file. */
export default defineConfig({
  test: {
    pool: 'forks',
    // One more than the smallest machine that they run on has cores: one of them mostly waits.
    maxWorkers: 3,
    // So late that only what hangs meets it, on a machine that is busy with other things as well.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // What a test waits for may take as long as the test.
    expect: { poll: { timeout: 170_000 } },
    cache: false,
    ...RUNNER,
    setupFiles: 'harness/base/fixtures/processor-time/record.ts',
    reporters: ['default', new ProcessorTimeReporter()],
    sequence: { sequencer: SlowFirst },
    // Who watches needs to know of imports.
    execArgv: process.argv.includes('run') ? [SHORT_SEARCH, PLAIN_IMPORTS] : [],
    env: { ...compiledCodeEnvironment(), ...SIMULATION_ENVIRONMENT, NODE_OPTIONS: SHORT_SEARCH },
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      {
        extends: true,
        test: {
          name: 'release',
          include: RELEASE,
          globalSetup: [TEMPORARY_FILES, PROGRAM, PACKAGE, 'harness/providers/fixtures/container-runtime.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: TOGETHER,
          exclude: [...RELEASE, PRODUCTS, ARCHIVE],
          isolate: false,
          globalSetup: TEMPORARY_FILES,
        },
      },
      {
        extends: true,
        test: {
          name: 'others',
          globalSetup: [TEMPORARY_FILES, PROGRAM],
          include: ['{harness,suites}/**/*.test.ts'],
          exclude: [...RELEASE, ...TOGETHER, PRODUCTS, ARCHIVE],
        },
      },
      { extends: true, test: { name: 'products', include: [PRODUCTS] } },
      { extends: true, test: { name: 'archive', include: [ARCHIVE] } },
    ],
  },
});
