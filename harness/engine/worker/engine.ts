import pLimit from 'p-limit';
import { codeOf } from '../../base/thrown.ts';
import type { QuotaTurn } from '../turns/turns.ts';
import type { Capacity } from './capacity.ts';
import {
  isSimulated,
  isWorkerMessage,
  type LeftOver,
  learnedElsewhere,
  type MainMessage,
  type Renewed,
  type RunInput,
  type ServiceInput,
  type ServiceMessage,
  type Unwritten,
  type WorkerMessage,
} from './channel.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface EngineOptions {
  readonly run: RunInput;
  readonly services: readonly ServiceInput[];
  readonly capacity: Capacity;
  /** Gives one that has no work yet. */
  readonly newWorker: () => WorkerProcess;
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
  /** A service wants its provider started anew. Never rejects. */
  readonly renew: (service: string) => Promise<Renewed>;
  /** A service wants its quota to itself. Never rejects. */
  readonly turn: (service: string) => Promise<QuotaTurn>;
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

/** A cancelled worker that has not ended by then is ended, in ms. */
const CANCEL_MS = 1_500;

/**
 * Judges the services, several in a worker. What a worker leaves that ends before its time is given to others: the
 * service that it was last heard of to a worker of its own, the rest to another one; of those that lose that one too,
 * each gets one of its own. So nobody suffers for a neighbour, and who brings down a worker of its own has itself to
 * blame. Ends whatever the workers do; what they got wrong is in the report.
 */
export async function runEngine(options: EngineOptions): Promise<EngineReport> {
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
}

/** The services of one worker. */
interface Group {
  readonly services: readonly ServiceInput[];
  /** How many workers they have lost. */
  readonly lost: number;
}

/** Services whose time is simulated are not mixed with others, who would keep it from leaping. */
function dealt(services: readonly ServiceInput[], { workers }: Capacity): readonly Group[] {
  const kinds = Map.groupBy(services, isSimulated);
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
  const { capacity, signal } = options;
  const workers = new Map(groups.map((group, at) => [`worker ${at + 1}`, group]));
  const names = (group: Group) => group.services.map(({ service }) => service);
  const lanes = new LaneWatch(new Map([...workers].map(([name, group]) => [name, names(group)])), options);
  const running = new Set<WorkerProcess>();

  const runGroup = async (name: string, group: Group): Promise<void> => {
    if (signal.aborted) return;
    const { services } = group;
    const simulated = services.some(isSimulated);
    const sideBySide = simulated ? 1 : Math.ceil(capacity.services / capacity.workers);
    const worker = options.newWorker();
    worker.begin({ run: options.run, services, sideBySide }, (message) => {
      if (!isWorkerMessage(message)) return;
      lanes.heard(name, message);
      switch (message.type) {
        case 'renew':
        case 'turn':
          void answer(message, options).then((reply) => worker.tell(reply));
          return;
        case 'unwritten':
          options.onUnwritten(message);
          return;
        case 'secret':
          for (const other of running) {
            if (other !== worker) other.tell({ conform: 1, secret: learnedElsewhere(message) });
          }
          return;
        case 'printed':
          options.onPrint(message.text);
          return;
        case 'fault':
          found.faults.push(message.error);
          return;
        case 'stray':
          found.strays.push(message.error);
          return;
        case 'done':
          lanes.stopping(name);
          worker.release();
          return;
      }
    });
    running.add(worker);
    const { code, signal: by, fatalError } = await worker.ended;
    running.delete(worker);
    for (const service of names(group)) options.turnOver(service);
    lanes.exited(name, code, by, fatalError);
  };

  const stopWatching = lanes.watch();
  const endAll = () => {
    for (const worker of running) worker.end();
  };
  let late: NodeJS.Timeout | undefined;
  const onAbort = () => {
    for (const worker of running) worker.tell({ conform: 1, cancelled: true });
    late = setTimeout(endAll, CANCEL_MS);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const most = Math.min(groups.length, Math.max(capacity.workers, capacity.alone));
  try {
    await pLimit(most).map([...workers], ([name, group]) => runGroup(name, group));
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearTimeout(late);
    stopWatching();
    endAll();
  }
  return new Map(
    [...workers].flatMap(([name, group]) => {
      const dead = lanes.dead.get(name);
      return dead === undefined ? [] : [[group, dead] as const];
    }),
  );
}

/** What a worker is told that wants something for one of its services. */
async function answer(
  { service, type }: ServiceMessage & { readonly type: 'renew' | 'turn' },
  { renew, turn }: EngineOptions,
): Promise<MainMessage> {
  return type === 'renew'
    ? { conform: 1, service, renewed: await renew(service) }
    : { conform: 1, service, turn: await turn(service) };
}

interface Findings {
  readonly faults: string[];
  readonly strays: string[];
}

export interface LaneWatchOptions {
  /** A worker that gives no sign of life for so long is ended, in ms. */
  readonly stallMs: number;
  readonly onMessage: (message: ServiceMessage) => void;
  /** Once the run is cancelled, that workers end is no crash. */
  readonly signal: AbortSignal;
}

/** A worker that ended before its services were done. */
export interface DeadWorker {
  /** Those that were not done. */
  readonly services: readonly string[];
  /** The one that was last heard of: what a worker comes to grief over is mostly what it judges. */
  readonly suspect: string | null;
  readonly reason: string;
  /** Unix time, in ms. */
  readonly endedMs: number;
}

interface Lane {
  pid: number | null;
  silentMs: number;
  readonly left: Set<string>;
  suspect: string | null;
  /** It is ended on purpose: by the engine, or because it hangs. */
  ending: 'stopped' | 'stalled' | null;
}

/** Keeps what is known of each worker, and ends one that hangs. */
export class LaneWatch {
  /** By name. */
  readonly dead = new Map<string, DeadWorker>();
  readonly #options: LaneWatchOptions;
  readonly #lanes: ReadonlyMap<string, Lane>;

  /** @param workers the services of each, by its name. */
  constructor(workers: ReadonlyMap<string, readonly string[]>, options: LaneWatchOptions) {
    this.#options = options;
    const open = (services: readonly string[]): Lane => {
      return { pid: null, silentMs: 0, left: new Set(services), suspect: null, ending: null };
    };
    this.#lanes = new Map([...workers].map(([worker, services]) => [worker, open(services)]));
  }

  heard(worker: string, message: WorkerMessage): void {
    const lane = this.#lanes.get(worker);
    if (lane) {
      lane.silentMs = 0;
      if (message.type === 'hello') lane.pid = message.pid;
      if ('service' in message) lane.suspect = message.service;
      if (message.type === 'finished') lane.left.delete(message.service);
    }
    if ('service' in message) this.#options.onMessage(message);
  }

  /** The engine ends the worker: whatever it had to do is done or will not be. */
  stopping(worker: string): void {
    const lane = this.#lanes.get(worker);
    if (lane) lane.ending ??= 'stopped';
  }

  /** @param fatal what the worker last said of its own end, where it said anything. */
  exited(worker: string, code: unknown, signal: unknown, fatal: string | null): void {
    const lane = this.#lanes.get(worker);
    if (!lane) return;
    lane.pid = null;
    if (lane.left.size === 0 || lane.ending === 'stopped' || this.#options.signal.aborted) return;
    const how = typeof signal === 'string' ? `by ${signal}` : `with exit code ${String(code)}`;
    const why = fatal === null ? '' : `: ${fatal}`;
    const reason =
      lane.ending === 'stalled'
        ? `its worker gave no sign of life for ${this.#options.stallMs} ms and was ended`
        : `its worker ended ${how} before the checks were done${why}`;
    this.dead.set(worker, { services: [...lane.left], suspect: lane.suspect, reason, endedMs: Date.now() });
  }

  /**
   * Counts silence in ticks of our own rather than by the clock: while this process was stopped (Ctrl-Z, a laptop
   * asleep), what the workers said is still unread, and they are not to blame.
   */
  watch(): () => void {
    const everyMs = Math.max(1, Math.min(1_000, this.#options.stallMs / 4));
    const timer = setInterval(() => {
      for (const lane of this.#lanes.values()) {
        if (lane.pid === null || lane.left.size === 0 || lane.ending !== null) continue;
        lane.silentMs += everyMs;
        if (lane.silentMs <= this.#options.stallMs) continue;
        lane.ending = 'stalled';
        kill(lane.pid);
      }
    }, everyMs);
    return () => clearInterval(timer);
  }

  endAll(): void {
    for (const { pid, left } of this.#lanes.values()) if (pid !== null && left.size > 0) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}
