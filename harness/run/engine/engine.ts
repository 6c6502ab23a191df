import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {} from 'vitest/config'; // what `test` means in the config below
import type { PoolOptions, Reporter, TestModule, WorkerRequest } from 'vitest/node';
import { HarnessError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { nameElsewhere } from '../../evidence/redaction/marker.ts';
import { isWorkerMessage, type MainMessage, type Renewed, type WorkerInput } from './channel.ts';
import { compiledCodeEnvironment } from './compiled-code.ts';
import { LaneWatch, type LaneWatchOptions, WorkerOutput } from './lane-watch.ts';

/**
 * Everything about vitest, but for what `entry.ts` and `worker-input.ts` say to it. One instance; a project per
 * service; every project runs the same single entry file, which imports the suites in order into that project's one
 * worker. `maxWorkers` belongs to the whole group of projects, so this is the one shape in which services run in
 * parallel while a service's suites share memory. Vitest is pinned exactly: pool classes and the native runner are
 * experimental.
 */
export interface EngineOptions extends LaneWatchOptions {
  readonly jobs: readonly WorkerInput[];
  /** How many services run at the same time. */
  readonly concurrency: number;
  /** A suite printed something. */
  readonly onPrint: (text: string) => void;
  /** A folder of ours that may be written to while the engine starts. */
  readonly scratchDir: string;
  /** A worker wants its provider started anew. Never rejects. */
  readonly renew: (service: string) => Promise<Renewed>;
  /** Aborting it cancels what runs. */
  readonly signal: AbortSignal;
}

export interface EngineReport {
  /** Services whose worker ended before its checks were done, with what is known of the cause. */
  readonly crashed: ReadonlyMap<string, string>;
  /** What could not be loaded, so that checks could not even begin. */
  readonly faults: readonly string[];
  /** Errors that belong to no check, such as an unhandled rejection: nobody knows what they spoiled. */
  readonly strays: readonly string[];
}

const ENTRY = fileURLToPath(new URL('./entry.ts', import.meta.url));
const REFUSED: ReadonlySet<string | symbol> = new Set(['SIGINT', 'SIGTERM', 'unhandledRejection']);
/**
 * Ctrl-C and a closed terminal reach the whole process group: the workers leave it to the main process to wind
 * down. SIGTERM is what vitest ends them with, so they must not ignore it.
 */
const LEAVE_SIGNALS = `--import=data:text/javascript,${encodeURIComponent(
  'for (const name of ["SIGINT", "SIGHUP"]) process.on(name, () => {});',
)}`;
/** Vitest finishes the running test on a first cancel and ends the workers on a second one. */
const SECOND_CANCEL_MS = 1_500;
/** After which a cancelled engine is given up, whatever it still does. */
const GIVE_UP_MS = 6_000;
/** How long the engine may take to put its things away. */
const CLOSE_MS = 2_000;

/** Judges the jobs, each in a worker of its own. Ends whatever the workers do; what they got wrong is in the report. */
export function runEngine(options: EngineOptions): Promise<EngineReport> {
  return keepingSignals(() => runIn(options));
}

async function runIn(options: EngineOptions): Promise<EngineReport> {
  const { createVitest, ForksPoolWorker } = await import('vitest/node');
  const lanes = new LaneWatch(options);
  const output = new WorkerOutput();
  const found: Findings = { faults: [], strays: [] };

  const running = new Set<Lane>();

  /** A fork worker that lets our own messages through beside vitest's. */
  class Lane extends ForksPoolWorker {
    readonly #service: string;

    constructor(pool: PoolOptions) {
      super(pool);
      this.#service = pool.project.name;
    }

    override on(event: string, callback: (...args: unknown[]) => void): void {
      super.on(event, event === 'message' ? withoutOurs(callback) : callback);
    }

    override async start(): Promise<void> {
      await super.start();
      running.add(this);
      super.on('message', (message: unknown) => {
        if (!isWorkerMessage(message)) return;
        lanes.heard(message);
        if (message.type === 'renew')
          void options.renew(message.service).then((renewed) => this.tell({ conform: 1, renewed }));
        if (message.type === 'secret') {
          const secretName = nameElsewhere(message.name, message.service);
          const secret = { secretName, secretValue: message.value, secretPlace: secretName };
          for (const other of running) {
            if (other !== this) other.tell({ conform: 1, secret });
          }
        }
      });
      super.on('exit', (code: unknown, signal: unknown) => {
        running.delete(this);
        lanes.exited(this.#service, code, signal, output.fatalError());
      });
    }

    tell(message: MainMessage): void {
      try {
        // Vitest leaves alone what is none of its own requests.
        super.send(message as unknown as WorkerRequest);
      } catch {
        // The worker is gone, which the lanes know already.
      }
    }

    override async stop(): Promise<void> {
      lanes.stopping(this.#service);
      await super.stop();
    }
  }

  const vitest = await withDataHome(options.scratchDir, () =>
    createVitest(
      { config: false, watch: false, root: dirname(ENTRY) },
      {
        test: {
          reporters: [reporter(found, options.onPrint)],
          cache: false,
          isolate: false,
          maxWorkers: Math.max(1, Math.min(options.concurrency, options.jobs.length)),
          pool: { name: 'service', createPoolWorker: (pool) => new Lane(pool) },
          include: [basename(ENTRY)],
          exclude: [],
          passWithNoTests: true,
          testTimeout: 0,
          hookTimeout: 0,
          experimental: { viteModuleRunner: false, nodeLoader: false },
          execArgv: [LEAVE_SIGNALS],
          env: { ...compiledCodeEnvironment() },
          projects: options.jobs.map((job) => ({ test: { name: job.service, provide: { conform: job } } })),
        },
      },
      { stdout: output, stderr: output },
    ),
  );

  const stopWatching = lanes.watch();
  const cancelled = cancelOn(options.signal, (reason) => vitest.cancelCurrentRun(reason));
  try {
    // A cancel that comes before the start would be forgotten by it.
    if (!options.signal.aborted) await Promise.race([vitest.start(), cancelled.givenUp]);
  } catch (error) {
    if (!options.signal.aborted)
      throw new HarnessError(`the test engine failed: ${describe(error)}`, { cause: error });
  } finally {
    cancelled.release();
    stopWatching();
    lanes.endAll();
    await Promise.race([vitest.close().catch(() => {}), after(CLOSE_MS)]);
    // vitest sets it to 1 on failed tests; exit codes are decided from the results alone.
    process.exitCode = undefined;
  }
  // The engine has its own words for a crashed or cancelled worker; what the lanes saw says it better.
  const known = lanes.crashed.size > 0 || options.signal.aborted;
  return {
    crashed: lanes.crashed,
    faults: found.faults,
    strays: found.strays.filter((error) => !(known && /^(?:\[vitest-pool\]|Cancelled$)/.test(error))),
  };
}

/**
 * Vitest writes a token below XDG_DATA_HOME when it is made, and refuses to be made where it cannot: give it a
 * folder of ours for as long as that takes, so that a read-only home is no hindrance.
 */
async function withDataHome<T>(scratchDir: string, make: () => Promise<T>): Promise<T> {
  const before = process.env.XDG_DATA_HOME;
  const folder = join(scratchDir, '.engine');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.env.XDG_DATA_HOME = folder;
  process.on('exit', remove);
  try {
    return await make();
  } finally {
    if (before === undefined) delete process.env.XDG_DATA_HOME;
    else process.env.XDG_DATA_HOME = before;
    process.off('exit', remove);
    remove();
  }
}

/**
 * Vitest's own handlers would exit within a millisecond, before any report. Those that it installs are taken away
 * again before the next signal can be heard.
 */
async function keepingSignals<T>(act: () => Promise<T>): Promise<T> {
  const refuse = (name: string | symbol, listener: (...args: unknown[]) => void) => {
    if (REFUSED.has(name)) queueMicrotask(() => process.removeListener(name, listener));
  };
  process.on('newListener', refuse);
  try {
    return await act();
  } finally {
    process.off('newListener', refuse);
  }
}

function withoutOurs(callback: (...args: unknown[]) => void): (...args: unknown[]) => void {
  return (...args) => {
    if (!isWorkerMessage(args[0])) callback(...args);
  };
}

interface Findings {
  readonly faults: string[];
  readonly strays: string[];
}

/** Collects what failed outside of checks: they never throw past `judge`, so anything here is a fault of ours. */
function reporter({ faults, strays }: Findings, onPrint: (text: string) => void): Reporter {
  return {
    onUserConsoleLog: ({ content }) => onPrint(content),
    onTestRunEnd(modules, unhandled) {
      for (const error of unhandled) strays.push(describe(error));
      for (const module of modules) for (const error of errorsOf(module)) faults.push(describe(error));
    },
  };
}

function errorsOf(module: TestModule): readonly unknown[] {
  const suites = [...module.children.allSuites()];
  return [...module.errors(), ...suites.flatMap((suite) => suite.errors())];
}

function describe(error: unknown): string {
  if (isJsonObject(error) && 'message' in error) return String(error.message);
  return String(error);
}

function cancelOn(signal: AbortSignal, cancel: (reason: 'keyboard-input') => Promise<void>) {
  const timers: NodeJS.Timeout[] = [];
  const giveUp = Promise.withResolvers<void>();
  // One that fails changes nothing: the next step does without it.
  const attempt = () => void cancel('keyboard-input').catch(() => {});
  const onAbort = () => {
    attempt();
    timers.push(setTimeout(attempt, SECOND_CANCEL_MS));
    timers.push(setTimeout(() => giveUp.resolve(), GIVE_UP_MS));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    givenUp: giveUp.promise,
    release() {
      signal.removeEventListener('abort', onAbort);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
