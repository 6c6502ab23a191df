import { Writable } from 'node:stream';
import type { WorkerMessage } from './channel.ts';

export interface LaneWatchOptions {
  /** A worker that gives no sign of life for so long is ended, in ms. */
  readonly stallMs: number;
  readonly onMessage: (message: WorkerMessage) => void;
  /** A worker is gone before its checks were done. */
  readonly onCrash: (service: string, reason: string) => void;
  /** Once the run is cancelled, that workers end is no crash. */
  readonly signal: AbortSignal;
}

interface Lane {
  readonly pid: number;
  silentMs: number;
  finished: boolean;
  /** It is ended on purpose: by the engine, or because it hangs. */
  ending: 'stopped' | 'stalled' | null;
}

/** Keeps what is known of each service's worker, and ends one that hangs. */
export class LaneWatch {
  /** Services whose worker ended before its checks were done, with the cause. */
  readonly crashed = new Map<string, string>();
  readonly #options: LaneWatchOptions;
  readonly #lanes = new Map<string, Lane>();

  constructor(options: LaneWatchOptions) {
    this.#options = options;
  }

  heard(message: WorkerMessage): void {
    if (message.type === 'hello') {
      this.#lanes.set(message.service, { pid: message.pid, silentMs: 0, finished: false, ending: null });
    }
    const lane = this.#lanes.get(message.service);
    if (lane) {
      lane.silentMs = 0;
      lane.finished ||= message.type === 'finished';
    }
    this.#options.onMessage(message);
  }

  /** The engine ends the worker: whatever it had to do is done or will not be. */
  stopping(service: string): void {
    const lane = this.#lanes.get(service);
    if (lane) lane.ending ??= 'stopped';
  }

  /** @param fatal what the worker last said of its own end, where it said anything. */
  exited(service: string, code: unknown, signal: unknown, fatal: string | null): void {
    const lane = this.#lanes.get(service);
    this.#lanes.delete(service);
    if (lane?.finished || lane?.ending === 'stopped' || this.#options.signal.aborted) return;
    const how = typeof signal === 'string' ? `by ${signal}` : `with exit code ${String(code)}`;
    const why = fatal === null ? '' : `: ${fatal}`;
    const reason =
      lane?.ending === 'stalled'
        ? `its worker gave no sign of life for ${this.#options.stallMs} ms and was ended`
        : `its worker ended ${how} before the checks were done${why}`;
    this.crashed.set(service, reason);
    this.#options.onCrash(service, reason);
  }

  /**
   * Counts silence in ticks of our own rather than by the clock: while this process was stopped (Ctrl-Z, a laptop
   * asleep), what the workers said is still unread, and they are not to blame.
   */
  watch(): () => void {
    const everyMs = Math.max(1, Math.min(1_000, this.#options.stallMs / 4));
    const timer = setInterval(() => {
      for (const lane of this.#lanes.values()) {
        if (lane.finished || lane.ending !== null) continue;
        lane.silentMs += everyMs;
        if (lane.silentMs <= this.#options.stallMs) continue;
        lane.ending = 'stalled';
        kill(lane.pid);
      }
    }, everyMs);
    return () => clearInterval(timer);
  }

  endAll(): void {
    for (const lane of this.#lanes.values()) if (!lane.finished) kill(lane.pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Octets of the end of the output that are kept. */
const KEPT = 64 * 1024;
/** How V8 begins the line in which it says why it gives up. */
const FATAL = /^FATAL ERROR: (.+)$/gm;

/**
 * Takes what the workers and the engine write past all channels, so that it neither mixes with the verdict on
 * stdout nor shows what nobody has redacted. Only the end is kept: it tells why a worker died.
 */
export class WorkerOutput extends Writable {
  #end = Buffer.alloc(0);

  override _write(octets: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#end = Buffer.concat([this.#end, octets]).subarray(-KEPT);
    done();
  }

  /** The last fatal error that V8 told of (out of memory, for one); null when it told of none. */
  fatalError(): string | null {
    return [...this.#end.toString('latin1').matchAll(FATAL)].at(-1)?.[1] ?? null;
  }
}
