import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import type { Writable } from 'node:stream';
import type { Outcome } from '../../base/verdict.ts';
import { counted } from '../results/tally.ts';
import { cut, plainLine } from '../results/words/plain.ts';
import { type Ink, inkOf } from './layout.ts';
import { clearOpening } from './opening.ts';

/** Progress for stderr: a redrawn block on a terminal, a few lines elsewhere, nothing when quiet. */
export interface Progress {
  /** What happens before a service is started. */
  preparing(text: string): void;
  /** Its provider is there, or never will be. */
  serviceStarted(service: string, planned: number): void;
  /** It is about to be asked, at this cost; null if it is unknown. */
  estimated(service: string, cost: string | null): void;
  /** `request`: `GET /v1/orders`. */
  asking(service: string, request: string): void;
  outcome(service: string, suite: string, outcome: Outcome): void;
  /** `untilMs` is Unix time. */
  waiting(service: string, reason: string, untilMs: number): void;
  outage(service: string, reason: string): void;
  serviceFinished(service: string): void;
  /** A line that stays, above the block. */
  say(line: string): void;
  /** Clears the block. Safe to call twice; afterwards nothing more is written. */
  stop(): void;
}

export interface ProgressOptions {
  readonly stream: Writable & { readonly columns?: number };
  readonly isTTY: boolean;
  readonly color: boolean;
  readonly quiet: boolean;
  /** Unix time in ms. */
  readonly now?: () => number;
  /** Calls back about every `ms` until the returned function is called. */
  readonly every?: (ms: number, callback: () => void) => () => void;
}

interface ServiceProgress {
  readonly planned: number;
  done: number;
  bad: number;
  suite: string;
  request: string | null;
  wait: { readonly reason: string; readonly untilMs: number } | null;
  outage: string | null;
  finished: boolean;
}

const TICK_MS = 250;
const BAR_CELLS = 16;
/** Off a terminal a wait is worth a line only if it is a long one. */
const QUIET_WAIT_MS = 3_000;
/** Off a terminal there is at most one line in this time, except if something begins, breaks or ends. */
const SPARSE_MS = 10_000;
const BAD: readonly Outcome[] = ['fail', 'error'];

export function createProgress(options: ProgressOptions): Progress {
  const lanes = new Map<string, ServiceProgress>();
  const now = options.now ?? Date.now;
  const isDrawn = options.isTTY && !options.quiet;
  const screen = isDrawn ? new RedrawnBlock(options, lanes, now) : new SparseLines(options, lanes, now);
  // Quiet, it is over before it begins.
  let stopped = options.quiet;
  const change = (service: string, apply: (lane: ServiceProgress) => void) => {
    const lane = lanes.get(service);
    if (!lane || stopped) return;
    // Drawn at the next tick: outcomes may fall by the hundred.
    apply(lane);
  };
  return {
    preparing(text) {
      if (!stopped) screen.preparing(plainLine(text, 200));
    },
    serviceStarted(service, planned) {
      if (stopped) return;
      lanes.set(service, {
        planned,
        done: 0,
        bad: 0,
        suite: '',
        request: null,
        wait: null,
        outage: null,
        finished: false,
      });
      screen.began();
    },
    estimated(service, cost) {
      change(service, ({ planned }) => {
        const checks = counted(planned, 'check');
        screen.note('started', service, cost === null ? checks : `${checks}, ${cost}`);
      });
    },
    asking(service, request) {
      change(service, (lane) => {
        lane.request = request;
        lane.wait = null;
      });
    },
    outcome(service, suite, outcome) {
      change(service, (lane) => {
        lane.done += 1;
        lane.bad += BAD.includes(outcome) ? 1 : 0;
        if (lane.suite !== suite) lane.request = null;
        lane.suite = suite;
        lane.wait = null;
      });
    },
    waiting(service, reason, untilMs) {
      change(service, (lane) => {
        lane.wait = { reason, untilMs };
        if (untilMs - now() >= QUIET_WAIT_MS) {
          screen.note('waiting', service, `${secondsUntil(untilMs, now())} s: ${reason}`);
        }
      });
    },
    outage(service, reason) {
      change(service, (lane) => {
        lane.outage = reason;
        lane.wait = null;
        screen.note('trouble', service, reason);
      });
    },
    serviceFinished(service) {
      change(service, (lane) => {
        lane.finished = true;
        lane.wait = null;
        const failed = lane.bad > 0 ? `, ${lane.bad} failed` : '';
        screen.note('finished', service, `${lane.done} of ${lane.planned}${failed}`);
      });
    },
    say(line) {
      if (!stopped) screen.say(line);
    },
    stop() {
      if (stopped) return;
      stopped = true;
      screen.stop();
    },
  };
}

type Note = 'started' | 'waiting' | 'trouble' | 'finished';

interface Screen {
  preparing(text: string): void;
  note(kind: Note, service: string, text: string): void;
  began(): void;
  say(line: string): void;
  stop(): void;
}

/** For logs: few lines, none of them rewritten. */
class SparseLines implements Screen {
  readonly #stream: Writable;
  readonly #ink: Ink;
  readonly #lanes: ReadonlyMap<string, ServiceProgress>;
  readonly #now: () => number;
  readonly #stopTicking: () => void;
  #saidMs: number;
  #waitMs = Number.NEGATIVE_INFINITY;
  #preparing = '';

  constructor(options: ProgressOptions, lanes: ReadonlyMap<string, ServiceProgress>, now: () => number) {
    this.#stream = options.stream;
    this.#ink = inkOf(options.color);
    this.#lanes = lanes;
    this.#now = now;
    this.#saidMs = now();
    this.#stopTicking = options.quiet ? () => {} : (options.every ?? interval)(1_000, () => this.#tick());
  }

  note(kind: Note, service: string, text: string): void {
    if (kind === 'waiting') {
      // Waits that follow each other closely, as under a request budget, share one line.
      if (this.#now() - this.#waitMs < SPARSE_MS) return;
      this.#waitMs = this.#now();
    }
    this.say(`${plainLine(service, 60)}: ${kind} ${this.#ink.dim(plainLine(text, 300))}`);
  }

  preparing(text: string): void {
    this.#preparing = text;
  }

  began(): void {}

  say(line: string): void {
    this.#saidMs = this.#now();
    this.#stream.write(`${line}\n`);
  }

  stop(): void {
    this.#stopTicking();
  }

  /** The service of which fewest checks are judged stands for all. */
  #tick(): void {
    if (this.#now() - this.#saidMs < SPARSE_MS) return;
    const open = [...this.#lanes].filter(([, { finished }]) => !finished);
    const [slowest] = open.toSorted(([, a], [, b]) => a.done / a.planned - b.done / b.planned);
    if (slowest === undefined) {
      if (this.#preparing !== '' && this.#lanes.size === 0) this.say(`conform: ${this.#preparing}`);
      return;
    }
    const [service, lane] = slowest;
    const failed = lane.bad > 0 ? `, ${lane.bad} failed` : '';
    const others = open.length > 1 ? `; ${counted(open.length - 1, 'service')} besides` : '';
    const doing = doingOf(lane, this.#now());
    const text = `${lane.done} of ${lane.planned}${failed}${doing === '' ? '' : `, ${doing}`}${others}`;
    this.say(`${plainLine(service, 60)}: judged ${this.#ink.dim(plainLine(text, 300))}`);
  }
}

function doingOf(lane: ServiceProgress, nowMs: number): string {
  if (lane.outage !== null) return plainLine(lane.outage, 200);
  if (lane.finished) return 'done';
  if (lane.wait !== null)
    return `${secondsUntil(lane.wait.untilMs, nowMs)} s  ${plainLine(lane.wait.reason, 200)}`;
  return [lane.suite, lane.request ?? '']
    .filter((part) => part !== '')
    .map((part) => plainLine(part, 80))
    .join('  ');
}

/** Neither hides the cursor nor handles signals: any end of the process leaves the terminal fine. */
class RedrawnBlock implements Screen {
  readonly #options: ProgressOptions;
  readonly #lanes: ReadonlyMap<string, ServiceProgress>;
  readonly #now: () => number;
  readonly #ink: Ink;
  readonly #stopTicking: () => void;
  #drawn = 0;
  #preparing = 'Reading the config';

  constructor(options: ProgressOptions, lanes: ReadonlyMap<string, ServiceProgress>, now: () => number) {
    this.#options = options;
    this.#lanes = lanes;
    this.#now = now;
    this.#ink = inkOf(options.color);
    this.#stopTicking = (options.every ?? interval)(TICK_MS, () => this.#draw());
    clearOpening(options.stream);
    this.#draw();
  }

  preparing(text: string): void {
    this.#preparing = text;
    this.#draw();
  }

  note(): void {
    this.#draw();
  }

  began(): void {
    this.#draw();
  }

  say(line: string): void {
    this.#clear();
    this.#options.stream.write(`${line}\n`);
    this.#draw();
  }

  stop(): void {
    this.#stopTicking();
    this.#clear();
  }

  #clear(): void {
    if (this.#drawn === 0) return;
    const { stream } = this.#options;
    cursorTo(stream, 0);
    moveCursor(stream, 0, -this.#drawn);
    clearScreenDown(stream);
    this.#drawn = 0;
  }

  #draw(): void {
    this.#clear();
    const { stream } = this.#options;
    const width = Math.max(20, stream.columns || 80) - 1;
    const widest = Math.max(0, ...[...this.#lanes.keys()].map((service) => plainLine(service, 24).length));
    const lines = [...this.#lanes].map(([service, lane]) => this.#line(service, lane, widest, width));
    if (lines.length === 0) lines.push(this.#ink.dim(cut(this.#preparing, width)));
    stream.write(`${lines.join('\n')}\n`);
    this.#drawn = lines.length;
  }

  #line(service: string, lane: ServiceProgress, widest: number, width: number): string {
    const ink = this.#ink;
    const { done, planned } = lane;
    const filled = planned === 0 ? 0 : Math.min(BAR_CELLS, Math.floor((done / planned) * BAR_CELLS));
    const name = plainLine(service, 24).padEnd(widest);
    const count = `${String(done).padStart(String(planned).length)}/${planned}`;
    const bad = lane.bad > 0 ? `${lane.bad} failed` : '';
    const used = name.length + BAR_CELLS + count.length + bad.length + 8;
    const now = cut(doingOf(lane, this.#now()), Math.max(0, width - used));
    const bar = `${'━'.repeat(filled)}${ink.dim('·'.repeat(BAR_CELLS - filled))}`;
    const tail = [count, bad && ink.outcome('fail', bad), ink.dim(now)].filter((part) => part !== '');
    return `${ink.bold(name)}  ${bar}  ${tail.join('  ')}`;
  }
}

function secondsUntil(untilMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((untilMs - nowMs) / 1_000));
}

function interval(ms: number, callback: () => void): () => void {
  const timer = setInterval(callback, ms);
  timer.unref();
  return () => clearInterval(timer);
}
