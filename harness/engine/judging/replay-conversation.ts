import { Blocked } from '../../base/verdict.ts';
import { encodeFrame, OPCODE } from '../../wire/conversation/frame.ts';
import type { Conversation, ConversationEvent, RecordedFrame } from '../../wire/conversation.ts';
import type { VirtualClock } from '../../wire/pace/virtual-clock.ts';
import type { Redaction } from '../../wire/redaction/redaction.ts';
import type { Opening, WebSocketConnection } from '../../wire/websocket/connection.ts';
import type { Wait } from '../../wire/websocket/conversation-log.ts';
import { FrameDecoder, type WireFrame } from '../../wire/websocket/frames.ts';

interface ReplayParts {
  readonly clock: VirtualClock;
  readonly redaction: Redaction;
  readonly automatic: NonNullable<Opening['automatic']>;
}

type Sending = Parameters<WebSocketConnection['sendFrame']>[0];

/**
 * A recorded connection for its probe. The probe must send the recorded frames, and receives events at their recorded
 * times. If it acts otherwise today, the record has no answer.
 */
export function replayConversation(recorded: Conversation, means: ReplayParts): WebSocketConnection {
  const { clock, redaction } = means;
  const { events, handshake, timing, failure } = recorded;
  const beganMs = timing.startedMs;
  const own = ownSends(events, means.automatic);
  const given = new Set<ConversationEvent>();
  let sent = 0;
  let stirred = Promise.withResolvers<void>();

  /** Later events wait for the probe. */
  const nextOwn = () => own[sent] ?? events.length;
  const ending = events.findIndex(({ type }) => type === 'end' || type === 'reset');
  const isOver = () => ending !== -1 && ending < nextOwn() && clock.now() >= momentOf(events[ending]);

  function momentOf(event: ConversationEvent | undefined): number {
    return beganMs + (event?.atMs ?? 0);
  }

  function unlike(what: string): Blocked {
    return new Blocked(`the record holds another conversation of ${recorded.purpose}: ${what}`);
  }

  async function send(isIt: (event: ConversationEvent) => boolean, what: string): Promise<boolean> {
    const event = events[nextOwn()];
    if (event === undefined) {
      if (ending === -1) throw unlike(`${what} was not sent then`);
      await clock.until(momentOf(events[ending]));
      return false;
    }
    if (!isIt(event)) throw unlike(`in place of ${what} something else was sent then`);
    sent += 1;
    await clock.until(momentOf(event));
    stirred.resolve();
    stirred = Promise.withResolvers<void>();
    return true;
  }

  async function sendFrame(frame: Sending): Promise<boolean> {
    const mine = onTheWire(frame);
    return send(
      (event) => event.type === 'frame' && isSameFrame(event.frame, mine, redaction),
      `a frame with opcode ${mine.opcode}`,
    );
  }

  /** The recorded end of a wait; undefined if it depends on what the probe does meanwhile. */
  function answerTo({ match = () => true }: Wait): ConversationEvent | null | undefined {
    for (const event of events.slice(0, nextOwn())) {
      if (given.has(event)) continue;
      if (event.type === 'waited' || (event.from === 'server' && match(event))) {
        given.add(event);
        return event;
      }
    }
    return isOver() || (ending !== -1 && ending < nextOwn()) ? null : undefined;
  }

  async function next(wait: Wait): Promise<ConversationEvent | null> {
    const untilMs = clock.now() + Math.max(wait.timeoutMs, wait.movingMs ?? 0);
    let isCalledOff = false;
    const calledOff = wait.until?.then(() => {
      isCalledOff = true;
    });
    for (;;) {
      const event = answerTo(wait);
      if (event === null) {
        await clock.until(momentOf(events[ending]));
        return null;
      }
      if (event !== undefined) {
        await clock.until(momentOf(event));
        return event.type === 'waited' ? null : event;
      }
      if (isCalledOff) return null;
      if (clock.now() >= untilMs) throw unlike(`nobody waited then ${wait.note ?? 'for the next event'}`);
      const enough = new AbortController();
      const late = clock.sleep(untilMs - clock.now(), enough.signal).catch(() => undefined);
      await Promise.race([stirred.promise, late, ...(calledOff ? [calledOff] : [])]);
      enough.abort();
    }
  }

  return {
    get open() {
      return handshake.response?.status === 101 && events.length > 0 && !isOver();
    },
    response: handshake.response,
    get failure() {
      return handshake.response?.status !== 101 || isOver() ? failure : null;
    },
    // Longer waits are not in the record.
    quietMs: Number.POSITIVE_INFINITY,
    sendFrame,
    async sendFrames(frames) {
      for (const frame of frames) if (!(await sendFrame(frame))) return false;
      return true;
    },
    sendOctets: (octets, note) =>
      send(
        (event) =>
          event.type === 'octets' && event.note === note && isPrefix(event.octets, redaction.octets(octets)),
        note,
      ),
    endOurSide: () => send(({ type }) => type === 'fin', 'the end of our side of TCP'),
    next,
    untilEnd: (wait) => next({ ...wait, match: ({ type }) => type === 'end' || type === 'reset' }),
    finish() {
      clock.reach(beganMs + timing.durationMs);
      return recorded;
    },
  };
}

/** Indexes of the events that the probe sent itself, without automatic replies. */
function ownSends(
  events: readonly ConversationEvent[],
  { pong = true, close = true }: ReplayParts['automatic'],
): readonly number[] {
  const pings: Uint8Array[] = [];
  let isClosing = false;
  return events.flatMap((event, index) => {
    if (event.type === 'octets' || event.type === 'fin') return event.from === 'client' ? [index] : [];
    if (event.type !== 'frame') return [];
    const { opcode, payload, heartbeat = false } = event.frame;
    if (event.from === 'server') {
      if (opcode === OPCODE.ping && pong) pings.push(payload);
      if (opcode === OPCODE.close && close) isClosing = true;
      return [];
    }
    const answered = opcode === OPCODE.pong ? pings.findIndex((ping) => isPrefix(payload, ping)) : -1;
    if (answered !== -1) {
      pings.splice(answered, 1);
      return [];
    }
    if (opcode === OPCODE.close && isClosing) {
      isClosing = false;
      return [];
    }
    return heartbeat ? [] : [index];
  });
}

function onTheWire(frame: Sending): WireFrame {
  const mask = frame.mask === undefined ? Uint8Array.of(0, 0, 0, 0) : frame.mask;
  const octets = encodeFrame({ ...frame, mask });
  const decoder = new FrameDecoder(octets.length);
  const read = decoder.push(octets)[0] ?? decoder.end().frame;
  if (!read) throw new TypeError('an encoded frame has at least its head');
  return read;
}

function isSameFrame(recorded: RecordedFrame, ours: WireFrame, redaction: Redaction): boolean {
  const isAlike =
    recorded.opcode === ours.opcode &&
    recorded.fin === ours.fin &&
    recorded.rsv === ours.rsv &&
    recorded.masked === ours.masked &&
    recorded.length === ours.length &&
    recorded.lengthOctets === ours.lengthOctets;
  // Another version of the library may compress in another way.
  if (!isAlike || ours.rsv !== 0) return isAlike;
  return isPrefix(recorded.payload, redaction.octets(ours.payload));
}

function isPrefix(beginning: Uint8Array, whole: Uint8Array): boolean {
  return Buffer.from(whole.subarray(0, beginning.length)).equals(beginning);
}
