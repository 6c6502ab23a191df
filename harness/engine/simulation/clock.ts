import { randomFill } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { compressing } from '../../reference/behavior/handshake.ts';
import { turnOfLoop, type VirtualClock, virtualClock } from '../../wire/pace/virtual-clock.ts';

/** One time for a session and a provider in this process. */
export interface SimulatedClock extends VirtualClock {
  /** Waits for another process, while time passes as usual. */
  outside<T>(work: () => Promise<T>): Promise<T>;
}

/** The default beginning after a full minute, so that windows have a fixed phase. */
const PHASE_MS = 20_000;
const MINUTE_MS = 60_000;
/** Each reading of the clock is later by these milliseconds. */
const INSTANT_MS = 0.001;
/**
 * Turns of the event loop without an event, after which nothing is on its way between sockets. If the sockets cannot
 * tell, also real milliseconds.
 */
const QUIET = { turns: 8, ms: 10 };
/** Threads on which Node compresses. */
const POOL = Number(process.env.UV_THREADPOOL_SIZE) || 4;
/** Real milliseconds in which an idle pool does such work. */
const PROMPT_MS = 5;
/** Real milliseconds between looks at waits while time passes as usual. */
const LOOK_MS = 5;

interface Beginning {
  /** Milliseconds after the full minute. */
  readonly phaseMs?: number | undefined;
  /** Unix time in ms. Default: the next one. */
  readonly minute?: number;
}

function nextMinute(): number {
  return Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
}

/**
 * Time that leaps to the end of the first wait as soon as nothing is on its way between both sides. A window of a
 * minute ends at once, and a deadline passes only if it is missed. Both sides have to live in this process, on its
 * sockets.
 */
export function simulatedClock({
  phaseMs = PHASE_MS,
  minute = nextMinute(),
}: Beginning = {}): SimulatedClock {
  const sockets = watchSockets();
  let works = 0;
  const clock = virtualClock({
    beginAt: new Date(minute + phaseMs),
    instantMs: INSTANT_MS,
    async passage() {
      if (works === 0) return (await nothingIsOnItsWay(sockets)) && works === 0 ? Infinity : 0;
      const beganMs = performance.now();
      await delay(LOOK_MS);
      return performance.now() - beganMs;
    },
  });

  return {
    ...clock,
    async outside(work) {
      const [beganMs, realMs] = [clock.now(), performance.now()];
      works += 1;
      try {
        return await work();
      } finally {
        works -= 1;
        clock.reach(beganMs + performance.now() - realMs);
      }
    },
    stop() {
      clock.stop();
      sockets.stop();
    },
  };
}

async function nothingIsOnItsWay(sockets: Sockets): Promise<boolean> {
  await quiet(sockets);
  // Compression goes in pieces, each handed over after the one before it.
  for (let tookMs = Infinity; tookMs > PROMPT_MS; ) {
    const beganMs = performance.now();
    await Promise.all(Array.from({ length: POOL }, behindOthers));
    tookMs = performance.now() - beganMs;
  }
  return quiet(sockets);
}

/**
 * Waits until nothing has arrived for a while, or the clock is stopped. @returns whether nothing has from the beginning.
 */
async function quiet(sockets: Sockets): Promise<boolean> {
  // Callbacks run before their event is counted.
  await turnOfLoop();
  await turnOfLoop();
  let isFirst = true;
  let seen = eventsSoFar();
  let sinceMs = performance.now();
  const isLongEnough = () => performance.now() - sinceMs >= QUIET.ms || sockets.isStill();
  for (let turns = 0; !sockets.isStopped() && (turns < QUIET.turns || !isLongEnough()); turns++) {
    // Waits without spinning: others need the processor.
    await (turns < QUIET.turns ? turnOfLoop() : delay(1));
    if (eventsSoFar() === seen) continue;
    [isFirst, seen, turns, sinceMs] = [false, eventsSoFar(), 0, performance.now()];
  }
  return isFirst;
}

function eventsSoFar(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
}

/** Work for the threads that compress, which the event loop does not see. */
const behindOthers = () => filled(Buffer.alloc(1));
const filled = promisify(randomFill<Buffer>);

/** The state of the TCP sockets of this process. */
export interface Sockets {
  /**
   * Whether all written octets were read and all endings seen. False if unknown: for sockets to other processes, TLS,
   * compressed messages, and unread octets.
   */
  isStill(): boolean;
  stop(): void;
  isStopped(): boolean;
}

/** A socket and the two ports of its connection, if open. */
interface End {
  readonly socket: Socket;
  connection: string | null;
}

export function watchSockets(): Sockets {
  const [opened, accepted] = [new Set<End>(), new Set<End>()];
  let isStopped = false;
  const onOpened = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    const end: End = { socket, connection: null };
    opened.add(end);
    socket.once('connect', () => {
      end.connection = `${socket.localPort} ${socket.remotePort}`;
    });
  };
  const onAccepted = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    accepted.add({ socket, connection: `${socket.remotePort} ${socket.localPort}` });
  };
  subscribe('net.client.socket', onOpened);
  subscribe('net.server.socket', onAccepted);

  return {
    isStill() {
      const others = new Map([...accepted].map((end) => [end.connection, end]));
      for (const end of opened) {
        const other = end.connection === null ? undefined : others.get(end.connection);
        if (other === undefined) {
          // It was never accepted.
          if (end.connection === null && end.socket.destroyed) opened.delete(end);
          else return false;
        } else {
          others.delete(end.connection);
          if (!isRead(end.socket, other.socket) || !isRead(other.socket, end.socket)) return false;
          if (!end.socket.destroyed || !other.socket.destroyed) continue;
          opened.delete(end);
          accepted.delete(other);
        }
      }
      return others.size === 0;
    },
    isStopped: () => isStopped,
    stop() {
      isStopped = true;
      unsubscribe('net.client.socket', onOpened);
      unsubscribe('net.server.socket', onAccepted);
    },
  };
}

/** Whether all octets and the ending of one side were seen by the other. */
function isRead(from: Socket, to: Socket): boolean {
  if (to.destroyed) return true;
  if ('encrypted' in from || 'encrypted' in to || compressing.has(from)) return false;
  const isEnded = from.destroyed || from.writableEnded;
  return to.bytesRead === from.bytesWritten && (!isEnded || to.readableEnded);
}
