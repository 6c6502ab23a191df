import type { RecordedFrame } from '../conversation.ts';
import { decodeUtf8 } from '../octets/utf8.ts';
import { COMPRESSED, type FrameFault, isControl, OPCODE, opcodeName } from './frame.ts';
import type { Inflation } from './inflation.ts';

/** A frame and when it went over the wire. */
export interface TimedFrame {
  /** Milliseconds since the conversation started. */
  readonly atMs: number;
  readonly frame: RecordedFrame;
}

/** A message that one side sent, put together from its frames. */
export interface Message {
  /** When its last frame went over the wire. */
  readonly atMs: number;
  readonly kind: 'text' | 'binary';
  /** Octets, as its frames announced them. */
  readonly length: number;
  /** As recorded: redacted, and no further than up to the first octet that was cut. */
  readonly payload: Uint8Array;
  /** null for a binary message, for text that is not UTF-8, and for one that was compressed. */
  readonly text: string | null;
  /** Some of the payload was not recorded. */
  readonly truncated: boolean;
  /** SHA-256 of the payload, in hexadecimal, where it came in one frame and was not recorded whole. */
  readonly digest: string | null;
  readonly frames: number;
  /** A heartbeat of the dialect that the service sent, or the answer to one. */
  readonly isHeartbeat: boolean;
}

/** A message of ours, and what the server sent back for it. */
export interface Echo {
  readonly sent: Message;
  /** The message that carries the same, else the next one that came; null when none did. */
  readonly back: Message | null;
  /** `back` carries the same octets. */
  readonly isSame: boolean;
}

export interface Assembled {
  readonly messages: readonly Message[];
  readonly faults: readonly FrameFault[];
}

/**
 * RFC 6455 §5.4: fragments follow one another; only control frames come between. `inflation`: where
 * permessage-deflate was agreed on, for the messages of this side.
 */
export function assemble(frames: readonly TimedFrame[], inflation: Inflation | null = null): Assembled {
  const messages: Message[] = [];
  const faults: FrameFault[] = [];
  let fragments: RecordedFrame[] = [];
  for (const { atMs, frame } of frames) {
    if (isControl(frame.opcode)) continue;
    const isFirst = frame.opcode !== OPCODE.continuation;
    if (isFirst && fragments.length > 0) {
      const message = `${opcodeName(frame.opcode)} frame within a fragmented message (§5.4)`;
      faults.push({ rule: 'fragmentation', message });
    }
    if (!isFirst && fragments.length === 0) {
      faults.push({ rule: 'fragmentation', message: 'a continuation frame with nothing to continue (§5.4)' });
      continue;
    }
    if (isFirst) fragments = [frame];
    else fragments.push(frame);
    if (!frame.fin) continue;
    const { message, fault } = inflated(messageOf(atMs, fragments), fragments, inflation);
    messages.push(message);
    if (fault !== null) {
      faults.push({
        rule: 'deflate',
        message: `a compressed message that cannot be inflated: ${fault} (RFC 7692 §7.2)`,
      });
    } else if (isText(fragments) && message.text === null && !message.truncated) {
      faults.push({ rule: 'utf8', message: 'a text message that is not UTF-8 (§8.1)' });
    }
    fragments = [];
  }
  return { messages, faults };
}

/** Both carry the same octets, as far as they were recorded. */
export function carriesTheSame(one: Message, other: Message): boolean {
  if (one.length !== other.length) return false;
  if (one.digest !== null && other.digest !== null) return one.digest === other.digest;
  const shared = Math.min(one.payload.length, other.payload.length);
  return Buffer.compare(one.payload.subarray(0, shared), other.payload.subarray(0, shared)) === 0;
}

/** Echoes come in the order of what they echo. */
export function pairEchoes(sent: readonly Message[], received: readonly Message[]): readonly Echo[] {
  let from = 0;
  return sent.map((message): Echo => {
    const rest = received.slice(from);
    const found = rest.findIndex((candidate) => carriesTheSame(message, candidate));
    if (found === -1) {
      return { sent: message, back: rest.find(({ atMs }) => atMs >= message.atMs) ?? null, isSame: false };
    }
    from += found + 1;
    return { sent: message, back: rest[found] ?? null, isSame: true };
  });
}

/** A compressed message as it was before (RFC 7692 §7.2.2); others as they are. */
function inflated(
  message: Message,
  fragments: readonly RecordedFrame[],
  inflation: Inflation | null,
): { readonly message: Message; readonly fault: string | null } {
  if (inflation === null || fragments[0]?.rsv !== COMPRESSED) return { message, fault: null };
  if (message.truncated) {
    inflation.lose();
    return { message, fault: null };
  }
  const { octets, fault } = inflation.next(message.payload);
  if (octets === null) return { message: { ...message, truncated: true }, fault };
  const text = message.kind === 'text' ? decodeUtf8(octets) : null;
  return { message: { ...message, payload: octets, length: octets.length, text, digest: null }, fault: null };
}

/** A text message as it is: one with RSV1 is compressed, and its octets are no text. */
function isText([first]: readonly RecordedFrame[]): boolean {
  return first?.opcode === OPCODE.text && first.rsv === 0;
}

function messageOf(atMs: number, fragments: readonly RecordedFrame[]): Message {
  const cut = fragments.findIndex(({ truncated }) => truncated);
  const recorded = cut === -1 ? fragments : fragments.slice(0, cut + 1);
  const payload = new Uint8Array(Buffer.concat(recorded.map((frame) => frame.payload)));
  return {
    atMs,
    kind: fragments[0]?.opcode === OPCODE.text ? 'text' : 'binary',
    length: fragments.reduce((octets, { length }) => octets + length, 0),
    payload,
    text: isText(fragments) ? decodeUtf8(payload) : null,
    truncated: cut !== -1,
    digest: fragments.length === 1 ? (fragments[0]?.digest ?? null) : null,
    frames: fragments.length,
    isHeartbeat: fragments.at(-1)?.heartbeat === true,
  };
}
