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
