import { randomFill } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { compressing } from '../../reference/behavior/handshake.ts';
import { turnOfLoop, type VirtualClock, virtualClock } from '../../wire/pace/virtual-clock.ts';

/** One time for a session and a provider that live in this process. */
export interface SimulatedClock extends VirtualClock {
  /** Does what waits for another process. Until it has settled nothing is leapt over: time passes as it does there. */
  outside<T>(work: () => Promise<T>): Promise<T>;
}

/** Where between two full minutes it begins unless told so: always the same phase of the windows of the clock. */
const PHASE_MS = 20_000;
const MINUTE_MS = 60_000;
/** Whoever looks at the clock twice sees a later time; in ms. */
const INSTANT_MS = 0.001;
/**
 * Turns of the event loop in which nothing arrives: then nothing is on its way between sockets. Where the sockets
 * themselves cannot tell that all that was sent has arrived, so many real ms as well.
 */
const QUIET = { turns: 8, ms: 10 };
/**
 * What a process is started with in which time is simulated: a single thread compresses, so that what is asked of it
 * last is done last, however busy the machine is.
 */
export const SIMULATION_ENVIRONMENT: Readonly<Record<string, string>> = { UV_THREADPOOL_SIZE: '1' };
/** Threads on which Node compresses. */
const POOL = Number(process.env.UV_THREADPOOL_SIZE) || 4;
/** Work for those threads that is done so soon had nothing before it, in real ms. */
const PROMPT_MS = 5;
/** How often it is looked whether a wait is over while time passes as elsewhere, in real ms. */
const LOOK_MS = 5;

interface Beginning {
  /** Milliseconds after the full minute. */
  readonly phaseMs?: number | undefined;
  /** The full minute, in milliseconds since 1970; the next one if left out. */
  readonly minute?: number;
}

function nextMinute(): number {
  return Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
}

/**
 * Time that passes only while both sides wait: as soon as nothing is on its way between them, it is the moment at which
 * the first wait is over. So a window of a minute is over at once, and a deadline comes true only if nobody meets it.
 * Both sides have to live in this process, on sockets of this machine.
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
  // What is compressed comes in pieces, each of which is handed over when the one before it is done.
  for (let tookMs = Infinity; tookMs > PROMPT_MS; ) {
    const beganMs = performance.now();
    await Promise.all(Array.from({ length: POOL }, behindOthers));
    tookMs = performance.now() - beganMs;
  }
  return quiet(sockets);
}

/** Until nothing has arrived for a while. @returns whether nothing has from the beginning. */
async function quiet(sockets: Sockets): Promise<boolean> {
  // What a callback has to do with an event is done before the event is counted.
  await turnOfLoop();
  await turnOfLoop();
  let isFirst = true;
  let seen = eventsSoFar();
  let sinceMs = performance.now();
  const isLongEnough = () => performance.now() - sinceMs >= QUIET.ms || sockets.isStill();
  for (let turns = 0; turns < QUIET.turns || !isLongEnough(); turns++) {
    // The loop waits for what arrives, and does not turn on the spot: others want the processor as well.
    await (turns < QUIET.turns ? turnOfLoop() : delay(1));
    if (eventsSoFar() === seen) continue;
    [isFirst, seen, turns, sinceMs] = [false, eventsSoFar(), 0, performance.now()];
  }
  return isFirst;
}

function eventsSoFar(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
}

/** One octet's work in the queue of the threads that compress, which the event loop does not see. */
const behindOthers = () => filled(Buffer.alloc(1));
const filled = promisify(randomFill<Buffer>);

/** What is known of what the TCP sockets of this process have sent each other. */
export interface Sockets {
  /**
   * Whether each octet that was written has been read, and each ending been seen. False as well where that cannot be
   * told: of sockets to other processes, of TLS and of compressed messages, and where octets wait to be read.
   */
  isStill(): boolean;
  stop(): void;
}

/** A socket, and the ports of its connection once that stands: its own and the other one where it was opened. */
interface End {
  readonly socket: Socket;
  connection: string | null;
}

/** Watches every socket that is opened from here on. */
export function watchSockets(): Sockets {
  const [opened, accepted] = [new Set<End>(), new Set<End>()];
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
          // Nobody ever took it, and nobody will.
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
    stop() {
      unsubscribe('net.client.socket', onOpened);
      unsubscribe('net.server.socket', onAccepted);
    },
  };
}

/** Whether nothing of what one end has sent is still to be seen by the other. */
function isRead(from: Socket, to: Socket): boolean {
  if (to.destroyed) return true;
  if ('encrypted' in from || 'encrypted' in to || compressing.has(from)) return false;
  const isEnded = from.destroyed || from.writableEnded;
  return to.bytesRead === from.bytesWritten && (!isEnded || to.readableEnded);
}
