import { COMPRESSED, isControl, OPCODE } from '../conversation/frame.ts';
import type { Inflation } from '../conversation/inflation.ts';
import { decodeUtf8 } from '../octets/utf8.ts';
import type { WireFrame } from './frames.ts';

/** What a client answers to a text of the service; null for a text that is no heartbeat. */
export type HeartbeatAnswer = (text: string) => string | null;

/** Octets of the longest text that is looked at: heartbeats are short. */
const LONGEST_OCTETS = 4 * 1024;
/** So many are answered on one connection: whoever sends one upon each answer is not served without end. */
const MOST_ANSWERS = 500;

/** Finds heartbeats above the frames, whole or in fragments, compressed or not, and says what answers them. */
export class Heartbeats {
  readonly #answerTo: HeartbeatAnswer;
  readonly #inflation: Inflation | null;
  #fragments: WireFrame[] = [];
  #answers = 0;

  /** `inflation`: where permessage-deflate was agreed on, for the messages of the service. */
  constructor(answerTo: HeartbeatAnswer, inflation: Inflation | null) {
    this.#answerTo = answerTo;
    this.#inflation = inflation;
  }

  /** The answer to the heartbeat that this frame ends; null where it ends none. */
  answerTo(frame: WireFrame): string | null {
    if (isControl(frame.opcode)) return null;
    if (frame.opcode !== OPCODE.continuation) this.#fragments = [];
    this.#fragments.push(frame);
    if (!frame.fin) return null;
    const fragments = this.#fragments;
    this.#fragments = [];
    const octets = this.#octetsOf(fragments);
    if (fragments[0]?.opcode !== OPCODE.text || octets === null || octets.length > LONGEST_OCTETS)
      return null;
    const text = decodeUtf8(octets);
    const answer = text === null ? null : this.#answerTo(text);
    if (answer === null || this.#answers === MOST_ANSWERS) return null;
    this.#answers += 1;
    return answer;
  }

  /** null where not all of it was kept, or it cannot be read. */
  #octetsOf(fragments: readonly WireFrame[]): Uint8Array | null {
    const isWhole = fragments.every(({ payload, received }) => payload.length === received);
    const compressed = this.#inflation !== null && fragments[0]?.rsv === COMPRESSED;
    if (!isWhole) {
      if (compressed) this.#inflation?.lose('it was not kept whole');
      return null;
    }
    const octets = Buffer.concat(fragments.map(({ payload }) => payload));
    return compressed ? (this.#inflation?.next(octets).octets ?? null) : octets;
  }
}
