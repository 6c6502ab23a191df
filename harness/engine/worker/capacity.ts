import { availableParallelism } from 'node:os';

/** How much runs at the same time. */
export interface Capacity {
  /** Services. */
  readonly services: number;
  /** Workers that these are dealt to. */
  readonly workers: number;
  /** Workers that have one service each, where it comes to that. */
  readonly alone: number;
}

/** What of a machine decides it. */
export interface Machine {
  readonly cores: number;
  /** Octets that may still be taken. */
  readonly freeOctets: number;
  /** Files and sockets that a process may have open. */
  readonly openFiles: number;
}

const MIB = 1024 * 1024;

/**
 * What a run takes, measured with 40 and with 200 services of `npm run benchmark -- many` in two workers, on a machine
 * that was busy otherwise: a worker had up to 405 MiB with 20 of them and 881 with 100; the main process 100 with one,
 * 385 with 200. When the reports are written the workers are gone. Beside them Pact takes 30 MiB for each service whose
 * pacts are being verified; that, and what the two numbers of services do not agree on, is left to `SHARE`.
 */
const COST = {
  mainOctets: 200 * MIB,
  workerOctets: 250 * MIB,
  /** Of a worker and of the main process together: its evidence stays until the end. */
  serviceOctets: 8 * MIB,
  /** Those that the process itself needs. */
  files: 100,
  /** The most that one service has open at once: connections that are held, WebSockets, its provider's ends of them. */
  serviceFiles: 100,
} as const;
/** Of the memory that is free, so much is taken: others want some, and nobody knows how large answers are. */
const SHARE = 0.6;
/** A window is mostly waited for, but what comes late because everybody is busy tells nothing of a service. */
const SERVICES_A_CORE = 100;

/**
 * How many services run at the same time: as many as memory and file handles allow, so that their windows pass together.
 *
 * @param asked what the user has said; null where it is left to the machine.
 */
export function capacityOf(services: number, asked: number | null, machine?: Machine): Capacity {
  // To ask how many files may be open takes a while, and tells nothing here.
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

/** The limit that Node tells of; Node raises it as far as it may when it starts. */
function openFilesLimit(): number {
  // Otherwise it asks for the names of all addresses that are connected.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

/** How often it is looked whether there is time to spare, in ms. */
const LOOK_MS = 50;
/** Of the time between two looks: a process that works for longer has none to spare. */
const BUSY_SHARE = 0.8;
/** However busy it is, the next one begins after so long, in ms: who works without end must not keep others waiting. */
const LONGEST_MS = 30_000;

/**
 * Lets many begin one after the other, each as soon as this process has time for it. Those that wait for answers or for
 * windows are many at once; those that work are few, so that none is late because all others work as well.
 */
export class SpareTime {
  readonly #busyShare: () => number;
  readonly #waiting: (() => void)[] = [];
  #looking: NodeJS.Timeout | null = null;
  #lastMs: number | null = null;

  /** @param busyShare of the time since it was asked last, from 0 to 1. */
  constructor(busyShare: () => number = busyShareOfLoop()) {
    this.#busyShare = busyShare;
  }

  /** Resolves when whoever asks may begin: the first one at once, the others in the order of asking. */
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
