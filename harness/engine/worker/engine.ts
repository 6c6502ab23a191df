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

export interface EngineOptions extends LaneWatchOptions {
  readonly run: RunInput;
  readonly services: readonly ServiceInput[];
  readonly capacity: Capacity;
  /** Creates a worker without work. */
  readonly newWorker: () => WorkerProcess;
  /** A worker ended early; its services get another one. */
  readonly onAgain: (services: readonly string[], reason: string) => void;
  /** The state of these services in the journal. */
  readonly leftOf: (services: readonly string[], endedMs: number) => ReadonlyMap<string, LeftOver>;
  /** For a line that a worker could not write to the journal. */
  readonly onUnwritten: (unwritten: Unwritten) => void;
  readonly onPrint: (text: string) => void;
  /** Restarts the provider of a service. Never rejects. */
  readonly renew: (service: string) => Promise<Renewed>;
  /** Waits for the quota of a service. Never rejects. */
  readonly turn: (service: string) => Promise<QuotaTurn>;
  /** The worker of a service is gone, and with it the wait for a turn. */
  readonly turnOver: (service: string) => void;
}

export interface EngineReport {
  /** Services that crashed a worker of their own, each with the cause. */
  readonly crashed: ReadonlyMap<string, string>;
  /** Errors that kept checks from beginning. */
  readonly faults: readonly string[];
  /** Errors of no check, such as an unhandled rejection, with unknown effects. */
  readonly strays: readonly string[];
}

/** Milliseconds for a cancelled worker to end. */
const CANCEL_MS = 1_500;

/**
 * Judges the services, several in a worker. If a worker ends early, its current service gets a worker of its own and
 * the rest another one; if that ends early too, each gets one of its own. So no service suffers for another, and one
 * that crashes a worker of its own is to blame. Never rejects for a worker; the report has its faults.
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

interface Group {
  readonly services: readonly ServiceInput[];
  /** Number of workers lost. */
  readonly lost: number;
}

/** Simulated time cannot leap next to services in real time. */
function dealt(services: readonly ServiceInput[], { workers }: Capacity): readonly Group[] {
  const kinds = Map.groupBy(services, isSimulated);
  return [...kinds.values()].flatMap((kind) =>
    Array.from({ length: Math.min(workers, kind.length) }, (_, worker) => ({
      services: kind.filter((_, at) => at % workers === worker),
      lost: 0,
    })),
  );
}

/** The groups that continue after a dead worker. */
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

/** One worker for each group. @returns those that ended early. */
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

/** The reply to a question of a worker. */
async function answer(
  { service, type }: ServiceMessage & { readonly type: 'renew' | 'turn' },
  { renew, turn }: EngineOptions,
): Promise<MainMessage> {
  return type === 'renew'
    ? { conform: 1, service, renewed: await renew(service) }
    : { conform: 1, service, turn: await turn(service) };
}

export interface LaneWatchOptions {
  /** Milliseconds of silence after which a worker is ended. */
  readonly stallMs: number;
  readonly onMessage: (message: ServiceMessage) => void;
  /** After an abort the end of a worker is no crash. */
  readonly signal: AbortSignal;
}

/** A worker that ended before its `services` were done. */
export interface DeadWorker {
  readonly services: readonly string[];
  /** The service of its last message, probably the cause. */
  readonly suspect: string | null;
  readonly reason: string;
  /** Unix time in ms. */
  readonly endedMs: number;
}

interface Lane {
  pid: number | null;
  silentMs: number;
  readonly left: Set<string>;
  suspect: string | null;
  /** Ended by the engine, or for its silence. */
  ending: 'stopped' | 'stalled' | null;
}

/** The state of each worker; ends one that hangs. */
export class LaneWatch {
  readonly dead = new Map<string, DeadWorker>();
  readonly #options: LaneWatchOptions;
  readonly #lanes: ReadonlyMap<string, Lane>;

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

  stopping(worker: string): void {
    const lane = this.#lanes.get(worker);
    if (lane) lane.ending ??= 'stopped';
  }

  /** @param fatal the worker's last fatal error; null for none. */
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
   * Counts silence in ticks instead of by the clock: after a pause of this process (Ctrl-Z, sleep) the messages of
   * the workers are still unread.
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
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

interface Findings {
  readonly faults: string[];
  readonly strays: string[];
}
