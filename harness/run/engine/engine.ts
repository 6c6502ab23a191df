import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {} from 'vitest/config'; // what `test` means in the config below
import type { PoolOptions, Reporter, TestModule, WorkerRequest } from 'vitest/node';
import { HarnessError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import type { Turn } from '../turns/turns.ts';
import type { Capacity } from './capacity.ts';
import {
  isWorkerMessage,
  type LeftOver,
  learnedElsewhere,
  type MainMessage,
  type Renewed,
  type RunInput,
  type ServiceInput,
  type ServiceMessage,
  type Unwritten,
  type WorkerInput,
} from './channel.ts';
import { compiledCodeEnvironment } from './compiled-code.ts';
import { type DeadWorker, LaneWatch, WorkerOutput } from './lane-watch.ts';
import { PLAIN_IMPORTS } from './plain-imports.ts';

/**
 * Everything about vitest, but for what `entry.ts` and `worker.ts` say to it. One instance; a project per worker; every
 * project runs the same single entry file, which judges the worker's services side by side. `maxWorkers` belongs to the
 * whole group of projects, so this is the one shape in which workers run in parallel while the services of one share
 * memory. Vitest is pinned exactly: pool classes and the native runner are experimental.
 */
export interface EngineOptions {
  readonly run: RunInput;
  readonly services: readonly ServiceInput[];
  readonly capacity: Capacity;
  /** A worker that gives no sign of life for so long is ended, in ms. */
  readonly stallMs: number;
  readonly onMessage: (message: ServiceMessage) => void;
  /** A worker ended before these services were done; they get another one. */
  readonly onAgain: (services: readonly string[], reason: string) => void;
  /** What an earlier worker has left of these services. */
  readonly leftOf: (services: readonly string[], endedMs: number) => ReadonlyMap<string, LeftOver>;
  /** What a worker could not write to the journal. */
  readonly onUnwritten: (unwritten: Unwritten) => void;
  /** A suite printed something. */
  readonly onPrint: (text: string) => void;
  /** A folder of ours that may be written to while the engine starts. */
  readonly scratchDir: string;
  /** A service wants its provider started anew. Never rejects. */
  readonly renew: (service: string) => Promise<Renewed>;
  /** A service wants its quota to itself. Never rejects. */
  readonly turn: (service: string) => Promise<Turn>;
  /** The worker of a service is gone: whoever waits for its turn need not. */
  readonly turnOver: (service: string) => void;
  /** Aborting it cancels what runs. */
  readonly signal: AbortSignal;
}

export interface EngineReport {
  /** Services that brought down a worker of their own, with what is known of the cause. */
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

/**
 * Judges the services, several in a worker. What a worker leaves that ends before its time is given to others: the
 * service that it was last heard of to a worker of its own, the rest to another one; of those that lose that one too,
 * each gets one of its own. So nobody suffers for a neighbour, and who brings down a worker of its own has itself to
 * blame. Ends whatever the workers do; what they got wrong is in the report.
 */
export function runEngine(options: EngineOptions): Promise<EngineReport> {
  return keepingSignals(async () => {
    const found: Findings = { faults: [], strays: [] };
    const crashed = new Map<string, string>();
    let groups = dealt(options.services, options.capacity);
    while (groups.length > 0 && !options.signal.aborted) {
      const next: Group[] = [];
      for (const [group, dead] of await runRound(groups, options, found)) {
        const { services } = group;
        if (services.length > 1) next.push(...regrouped(group, dead, options));
        else for (const { service } of services) crashed.set(service, dead.reason);
      }
      groups = next;
    }
    return { crashed, ...found };
  });
}

/** The services of one worker. */
interface Group {
  readonly services: readonly ServiceInput[];
  /** How many workers they have lost. */
  readonly lost: number;
}

const NOBODY: Group = { services: [], lost: 0 };

/** Services whose time is simulated want a process that does nothing else, so they are not mixed with others. */
function dealt(services: readonly ServiceInput[], { workers }: Capacity): readonly Group[] {
  const kinds = Map.groupBy(services, ({ providerUrl }) => providerUrl === null);
  return [...kinds.values()].flatMap((kind) =>
    Array.from({ length: Math.min(workers, kind.length) }, (_, worker) => ({
      services: kind.filter((_, at) => at % workers === worker),
      lost: 0,
    })),
  );
}

/** Who goes on with what a worker has left. */
function regrouped(
  { services, lost }: Group,
  dead: DeadWorker,
  { leftOf, onAgain }: EngineOptions,
): readonly Group[] {
  onAgain(dead.services, dead.reason);
  const left = leftOf(dead.services, dead.endedMs);
  const again = services
    .filter(({ service }) => dead.services.includes(service))
    .map((each) => ({ ...each, left: left.get(each.service) ?? null }));
  const isSuspect = ({ service }: ServiceInput) => lost > 0 || service === dead.suspect;
  const alone = again.filter(isSuspect).map((each) => [each]);
  const rest = again.filter((each) => !isSuspect(each));
  return [...alone, rest]
    .filter((group) => group.length > 0)
    .map((group) => ({ services: group, lost: lost + 1 }));
}

/** One worker for each group. @returns those that ended before their time. */
async function runRound(
  groups: readonly Group[],
  options: EngineOptions,
  found: Findings,
): Promise<ReadonlyMap<Group, DeadWorker>> {
  const { createVitest, ForksPoolWorker } = await import('vitest/node');
  const workers = new Map(groups.map((group, at) => [`worker ${at + 1}`, group]));
  const names = (group: Group) => group.services.map(({ service }) => service);
  const lanes = new LaneWatch(new Map([...workers].map(([name, group]) => [name, names(group)])), options);
  const output = new WorkerOutput();
  const round: Findings = { faults: [], strays: [] };

  const running = new Set<Lane>();

  /** A fork worker that lets our own messages through beside vitest's. */
  class Lane extends ForksPoolWorker {
    readonly #worker: string;

    constructor(pool: PoolOptions) {
      super(pool);
      this.#worker = pool.project.name;
    }

    override on(event: string, callback: (...args: unknown[]) => void): void {
      super.on(event, event === 'message' ? withoutOurs(callback) : callback);
    }

    override async start(): Promise<void> {
      await super.start();
      running.add(this);
      super.on('message', (message: unknown) => {
        if (!isWorkerMessage(message)) return;
        lanes.heard(this.#worker, message);
        if (message.type === 'renew') {
          const { service } = message;
          void options.renew(service).then((renewed) => this.tell({ conform: 1, service, renewed }));
        }
        if (message.type === 'turn') {
          const { service } = message;
          void options.turn(service).then((turn) => this.tell({ conform: 1, service, turn }));
        }
        if (message.type === 'unwritten') options.onUnwritten(message);
        if (message.type === 'secret') {
          for (const other of running) {
            if (other !== this) other.tell({ conform: 1, secret: learnedElsewhere(message) });
          }
        }
      });
      super.on('exit', (code: unknown, signal: unknown) => {
        running.delete(this);
        for (const service of names(workers.get(this.#worker) ?? NOBODY)) options.turnOver(service);
        lanes.exited(this.#worker, code, signal, output.fatalError());
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
      lanes.stopping(this.#worker);
      await super.stop();
    }
  }

  const vitest = await withDataHome(options.scratchDir, () =>
    createVitest(
      { config: false, watch: false, root: dirname(ENTRY) },
      {
        test: {
          reporters: [reporter(round, options)],
          cache: false,
          isolate: false,
          maxWorkers: Math.min(groups.length, Math.max(options.capacity.workers, options.capacity.alone)),
          maxConcurrency: Math.ceil(options.capacity.services / options.capacity.workers),
          pool: { name: 'services', createPoolWorker: (pool) => new Lane(pool) },
          include: [basename(ENTRY)],
          exclude: [],
          passWithNoTests: true,
          testTimeout: 0,
          hookTimeout: 0,
          experimental: { viteModuleRunner: false, nodeLoader: false },
          execArgv: [LEAVE_SIGNALS, PLAIN_IMPORTS],
          env: { ...compiledCodeEnvironment() },
          projects: [...workers].map(([name, { services }]) => {
            const conform: WorkerInput = { run: options.run, services };
            return { test: { name, provide: { conform } } };
          }),
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
  const known = lanes.dead.size > 0 || options.signal.aborted;
  found.faults.push(...round.faults);
  found.strays.push(
    ...round.strays.filter((error) => !(known && /^(?:\[vitest-pool\]|Cancelled$)/.test(error))),
  );
  return new Map(
    [...workers].flatMap(([name, group]) => {
      const dead = lanes.dead.get(name);
      return dead === undefined ? [] : [[group, dead] as const];
    }),
  );
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

/** Collects what failed: checks never throw past their service's test, so anything here is a fault of ours. */
function reporter(
  { faults, strays }: Findings,
  { onPrint, signal }: Pick<EngineOptions, 'onPrint' | 'signal'>,
): Reporter {
  return {
    onUserConsoleLog: ({ content }) => onPrint(content),
    onTestRunEnd(modules, unhandled) {
      for (const error of unhandled) strays.push(describe(error));
      for (const module of modules) {
        for (const error of errorsOf(module, signal.aborted)) faults.push(describe(error));
      }
    },
  };
}

/** A cancelled test fails for that alone. */
function errorsOf(module: TestModule, isCancelled: boolean): readonly unknown[] {
  const tests = isCancelled ? [] : [...module.children.allTests()];
  return [...module.errors(), ...tests.flatMap((test) => test.result().errors ?? [])];
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
