import { codeOf } from '../../base/thrown.ts';
import type { ServiceMessage, WorkerMessage } from './channel.ts';

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
