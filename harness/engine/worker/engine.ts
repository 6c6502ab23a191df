import pLimit from 'p-limit';
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
} from './channel.ts';
import { type DeadWorker, LaneWatch } from './lane-watch.ts';
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
