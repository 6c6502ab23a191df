import { availableParallelism } from 'node:os';

/** Number of services and workers at the same time. */
export interface Capacity {
  readonly services: number;
  readonly workers: number;
  /** Workers with one service each. */
  readonly alone: number;
}

export interface Machine {
  readonly cores: number;
  /** Octets that may be used. */
  readonly freeOctets: number;
  /** Files and sockets that a process may open. */
  readonly openFiles: number;
}

const MIB = 1024 * 1024;

/** The environment of a process with simulated time: a single thread compresses, so that work is done in its order. */
export const SIMULATION_ENVIRONMENT: Readonly<Record<string, string>> = { UV_THREADPOOL_SIZE: '1' };

/**
 * Measured with 40 and 200 services (`npm run benchmark -- many`) in two workers on a busy machine: a worker had 405
 * MiB with 20 of them and 881 with 100; the main process 100 with one and 385 with 200, after the workers ended. Pact
 * takes 30 MiB more for each service with pacts, which `SHARE` leaves room for.
 */
const COST = {
  mainOctets: 200 * MIB,
  workerOctets: 250 * MIB,
  /** Of a worker and the main process together: evidence stays until the end. */
  serviceOctets: 8 * MIB,
  /** Needed by the process itself. */
  files: 100,
  /** The most that one service has open: kept connections, WebSockets, and the provider's sides of both. */
  serviceFiles: 100,
} as const;
/** Share of the free memory to use: others need some, and the size of responses is unknown. */
const SHARE = 0.6;
/** Windows mostly wait, but a late response of a busy harness shows nothing about a service. */
const SERVICES_A_CORE = 100;

/**
 * The number of services at the same time: as many as memory and file handles allow, so that their windows overlap.
 * @param asked by the user; null for none.
 */
export function capacityOf(services: number, asked: number | null, machine?: Machine): Capacity {
  // Reading the limit of open files takes a while.
  if (services === 1) return { services: 1, workers: 1, alone: 1 };
  const { cores, freeOctets, openFiles } = machine ?? thisMachine();
  const octets = freeOctets * SHARE - COST.mainOctets;
  const workersFit = atLeastOne(octets / (COST.workerOctets + COST.serviceOctets));
  const most = Math.min(services, asked ?? Number.POSITIVE_INFINITY);
  const workers = Math.max(1, Math.min(most, Math.max(2, cores), workersFit));
  const byMemory = (octets - workers * COST.workerOctets) / COST.serviceOctets;
  const byFiles = (openFiles - COST.files) / COST.serviceFiles;
  const byMachine = atLeastOne(Math.min(byMemory, byFiles, cores * SERVICES_A_CORE));
  const atOnce = Math.max(1, Math.min(services, asked ?? byMachine));
  return { services: atOnce, workers, alone: Math.min(atOnce, workersFit) };
}

function atLeastOne(count: number): number {
  return Math.max(1, Math.floor(count));
}

function thisMachine(): Machine {
  return {
    cores: availableParallelism(),
    freeOctets: process.availableMemory(),
    openFiles: openFilesLimit(),
  };
}

/** Node raises it as far as permitted at its start. */
function openFilesLimit(): number {
  // Otherwise the report resolves the names of all connected addresses.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

/** Milliseconds between two looks. */
const LOOK_MS = 50;
/** Share of busy time from which a process has none to spare. */
const BUSY_SHARE = 0.8;
/** Milliseconds after which the next one begins, however busy the process is. */
const LONGEST_MS = 30_000;

/**
 * Begins tasks one after the other, each when this process has time to spare. Many tasks that wait run at the same
 * time, but few that compute, so that none is late.
 */
export class SpareTime {
  readonly #busyShare: () => number;
  readonly #waiting: (() => void)[] = [];
  #looking: NodeJS.Timeout | null = null;
  #lastMs: number | null = null;

  /** @param busyShare from 0 to 1, since the last call. */
  constructor(busyShare: () => number = busyShareOfLoop()) {
    this.#busyShare = busyShare;
  }

  /** Resolves when the caller may begin: the first one at once, the others in order. */
  turn(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    if (this.#lastMs === null) this.#next();
    else this.#looking ??= setInterval(() => this.#look(), LOOK_MS);
    return promise;
  }

  #look(): void {
    const isBusy = this.#busyShare() >= BUSY_SHARE;
    if (!isBusy || performance.now() - (this.#lastMs ?? 0) >= LONGEST_MS) this.#next();
  }

  #next(): void {
    this.#lastMs = performance.now();
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0 || this.#looking === null) return;
    clearInterval(this.#looking);
    this.#looking = null;
  }
}

function busyShareOfLoop(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}
