import { isUtf8 } from 'node:buffer';
import { COMPRESSED, isControl, OPCODE } from '../conversation/frame.ts';
import { Inflation } from '../conversation/inflation.ts';
import type { ConversationEvent, RecordedFrame } from '../conversation.ts';
import { latin1Octets, latin1Text } from '../octets/utf8.ts';
import { type Clock, type Stopwatch, startDeadline } from '../pace/clock.ts';
import type { Redaction } from '../redaction/redaction.ts';
import { markersWithin, REDACTION_MARGIN } from '../socket/recording.ts';
import type { WireFrame } from './frames.ts';

/** An event without its time. */
type Happening = ConversationEvent extends infer Event
  ? Event extends ConversationEvent
    ? Omit<Event, 'atMs'>
    : never
  : never;

/** What to wait for. */
export interface Wait {
  readonly timeoutMs: number;
  /** As long as octets come, it is waited on, but no longer than this in all; in ms. Only for `timeoutMs` when left out. */
  readonly movingMs?: number;
  /** Any event from the server when left out. Others stay for later waits. */
  readonly match?: (event: ConversationEvent) => boolean;
  /** What it was for, in the record of a wait that ran out. */
  readonly note?: string;
  /** The wait ends once this is fulfilled. */
  readonly until?: Promise<unknown>;
}

interface Waiter {
  readonly match: (event: ConversationEvent) => boolean;
  readonly settle: (event: ConversationEvent | null) => void;
  /** Octets have come. */
  readonly moved: () => void;
}

interface ConversationLogOptions {
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly redaction: Redaction;
  /** Octets kept of each payload. */
  readonly frameBytes: number;
}

/** What happened on one connection, redacted as it is recorded, and the waiting for what the server does. */
export class ConversationLog {
  readonly #options: ConversationLogOptions;
  readonly #events: ConversationEvent[] = [];
  readonly #unread: ConversationEvent[] = [];
  readonly #waiting = new Set<Waiter>();
  #ended = false;
  #movedMs = 0;

  constructor(options: ConversationLogOptions) {
    this.#options = options;
  }

  /** TCP is over, from whichever side. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Octets have come, be it a part of a frame. */
  moved(): void {
    this.#movedMs = this.#options.stopwatch.elapsed;
    for (const { moved } of this.#waiting) moved();
  }

  /** Since octets came last, in ms. */
  get quietMs(): number {
    return this.#options.stopwatch.elapsed - this.#movedMs;
  }

  get count(): number {
    return this.#events.length;
  }

  record(happening: Happening): void {
    const event: ConversationEvent = { atMs: this.#options.stopwatch.elapsed, ...happening };
    this.#events.push(event);
    if (event.type === 'end' || event.type === 'reset') this.#ended = true;
    if (event.from === 'server') {
      const taker = [...this.#waiting].find(({ match }) => match(event));
      if (taker) taker.settle(event);
      else this.#unread.push(event);
    }
    if (this.#ended) for (const { settle } of [...this.#waiting]) settle(null);
  }

  /** `isHeartbeat`: it ends a heartbeat above the frames, or answers one. */
  recordFrame(from: 'client' | 'server', frame: WireFrame, isHeartbeat = false): void {
    const recorded = this.#recordedFrame(frame);
    this.record({ from, type: 'frame', frame: isHeartbeat ? { ...recorded, heartbeat: true } : recorded });
  }

  recordOctets(from: 'client' | 'server', octets: Uint8Array, note: string): void {
    const { frameBytes, redaction } = this.#options;
    const kept = redaction.octets(octets.subarray(0, frameBytes + REDACTION_MARGIN));
    this.record({ from, type: 'octets', octets: new Uint8Array(kept.subarray(0, frameBytes)), note });
  }

  /**
   * The server's next event that matches and was not given out before. null when none comes in time, which is
   * recorded, and at once when TCP is over.
   */
  next({
    timeoutMs,
    movingMs = 0,
    match = () => true,
    note = 'the next event',
    until,
  }: Wait): Promise<ConversationEvent | null> {
    const found = this.#unread.findIndex(match);
    if (found !== -1) return Promise.resolve(this.#unread.splice(found, 1)[0] ?? null);
    if (this.#ended) return Promise.resolve(null);
    const { clock, stopwatch } = this.#options;
    const sinceMs = stopwatch.elapsed;
    return new Promise((resolve) => {
      const expired = () => {
        waiter.settle(null);
        const forMs = movingMs === 0 ? timeoutMs : Math.round(stopwatch.elapsed - sinceMs);
        this.record({ from: 'client', type: 'waited', forMs, note });
      };
      let cancelDeadline = startDeadline(clock, timeoutMs, expired);
      const waiter: Waiter = {
        match,
        settle: (event) => {
          cancelDeadline();
          this.#waiting.delete(waiter);
          resolve(event);
        },
        moved: () => {
          const leftMs = movingMs - (stopwatch.elapsed - sinceMs);
          if (leftMs <= 0) return;
          cancelDeadline();
          cancelDeadline = startDeadline(clock, Math.min(timeoutMs, leftMs), expired);
        },
      };
      this.#waiting.add(waiter);
      void until?.then(() => waiter.settle(null));
    });
  }

  /** Everything so far, also without secrets that lie across several frames or pieces. */
  get events(): readonly ConversationEvent[] {
    const { redaction } = this.#options;
    return withoutCompressedSecrets(withoutSplitSecrets(this.#events, redaction), redaction);
  }

  #recordedFrame(frame: WireFrame): RecordedFrame {
    const { frameBytes, redaction } = this.#options;
    const { payload, received, whole, digest, ...head } = frame;
    const redacted = redaction.octets(payload);
    const untouched = Buffer.compare(redacted, payload) === 0;
    // Compressed octets that were redacted can no longer be read.
    const truncated = !whole || received > frameBytes || (frame.rsv !== 0 && !untouched);
    return {
      ...head,
      payload: new Uint8Array(redacted.subarray(0, frameBytes)),
      truncated,
      // A digest of what holds a secret would let it be guessed.
      ...(truncated && digest !== null && untouched ? { digest } : {}),
    };
  }
}

/**
 * A secret may come in fragments of one message, or octet by octet, none of which gives it away. Where the joined
 * octets do, they are recorded joined and redacted in the first place, and the other places are left empty.
 */
function withoutSplitSecrets(
  events: readonly ConversationEvent[],
  redaction: Redaction,
): ConversationEvent[] {
  const cleaned = [...events];
  for (const group of runsOf(events).filter(({ length }) => length > 1)) {
    const joined = group.map((index) => latin1Text(octetsOf(events[index]))).join('');
    const redacted = redaction.sink(joined);
    if (redacted === joined) continue;
    group.forEach((index, place) => {
      const event = events[index];
      if (event) cleaned[index] = withOctets(event, place === 0 ? latin1Octets(redacted) : new Uint8Array());
    });
  }
  return cleaned;
}

/**
 * Compression hides a secret from a search for its octets. A message that holds one, or that cannot be read because one
 * before it was lost, is recorded without its payload.
 */
function withoutCompressedSecrets(
  events: readonly ConversationEvent[],
  redaction: Redaction,
): readonly ConversationEvent[] {
  const cleaned = [...events];
  const inflations = { client: new Inflation(true), server: new Inflation(true) };
  for (const message of runsOf(events)) {
    const octets = Buffer.concat(message.map((index) => octetsOf(events[index])));
    const first = events[message[0] ?? -1];
    const isDeflated = first?.type === 'frame' && first.frame.rsv === COMPRESSED;
    const inflated = isDeflated ? inflations[first.from].next(octets) : { octets, fault: null };
    const isHeld =
      inflated.octets === null ? inflated.fault === null : holdsSecret(inflated.octets, redaction);
    if (!isHeld) continue;
    for (const index of message) {
      const event = events[index];
      if (event?.type === 'frame') {
        cleaned[index] = { ...event, frame: { ...event.frame, payload: new Uint8Array(), truncated: true } };
      } else if (event?.type === 'octets') {
        cleaned[index] = { ...event, octets: new Uint8Array() };
      }
    }
  }
  return cleaned;
}

/** By value, or compressed in a coding that nothing names. */
function holdsSecret(octets: Uint8Array, redaction: Redaction): boolean {
  const shown = latin1Text(octets);
  if (redaction.sink(shown) !== shown) return true;
  return !isUtf8(octets) && markersWithin(redaction, octets).length > 0;
}

/** Indices of events that carry one run of octets of one side: the data frames of a message, or pieces outside of frames. */
function runsOf(events: readonly ConversationEvent[]): number[][] {
  const runs: number[][] = [];
  const open = new Map<string, number[]>();
  for (const [index, event] of events.entries()) {
    if (event.type !== 'octets' && (event.type !== 'frame' || isControl(event.frame.opcode))) continue;
    const key = `${event.from} ${event.type}`;
    const isFirst = event.type === 'frame' && event.frame.opcode !== OPCODE.continuation;
    const run = (isFirst ? null : open.get(key)) ?? [];
    if (run.length === 0) runs.push(run);
    open.set(key, run);
    run.push(index);
  }
  return runs;
}

function octetsOf(event: ConversationEvent | undefined): Uint8Array {
  if (event?.type === 'frame') return event.frame.payload;
  return event?.type === 'octets' ? event.octets : new Uint8Array();
}

function withOctets(event: ConversationEvent, octets: Uint8Array): ConversationEvent {
  if (event.type === 'frame') return { ...event, frame: { ...event.frame, payload: octets } };
  return event.type === 'octets' ? { ...event, octets } : event;
}
