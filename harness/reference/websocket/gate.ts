import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { encodeFrame, type Frame, FrameReader, OPCODE } from './frame.ts';

/**
 * Changes frames on their way: makes, for one connection, a function from a frame to the frames that pass
 * instead, none to swallow it. `following`: frames behind it that came at the same time.
 */
export type GateRule = () => (frame: Frame, following: number) => readonly Frame[];

/** Called when the client has ended its side of TCP; `end` ends the connection. */
type HalfCloseRule = (send: (frame: Frame) => void, end: () => void) => void;

/** What becomes of TCP at a frame of the service: it is reset in its place, or destroyed behind it, read or not. */
export type FrameEnd = 'reset instead' | 'destroyed behind';

/** `once answered`: not before the client has sent a Close, or has ended its side. */
type TcpEnd = 'once closed' | 'once answered' | 'never';

export interface GateRules {
  /** Changes to the lines of the 101 response, status line first. */
  readonly headChanges: readonly ((lines: readonly string[]) => readonly string[])[];
  /** Frames of the client before they are judged. */
  readonly inbound: readonly GateRule[];
  /** Frames of the service before they are sent. */
  readonly outbound: readonly GateRule[];
  /** When TCP ends (RFC 6455 §7.1.1). */
  readonly endsTcp: TcpEnd;
  /** What becomes of a connection whose client has ended its side; null to end it. */
  readonly atHalfClose: HalfCloseRule | null;
  /** What becomes of TCP at a frame of the service; null for what becomes of it anyway. */
  readonly endsAt: ((frame: Frame) => FrameEnd | null) | null;
}

type FramePassage = (frames: readonly Frame[]) => readonly Frame[];

function passage(rules: readonly GateRule[]): FramePassage {
  const steps = rules.map((rule) => rule());
  return (frames) =>
    steps.reduce((passed, step) => {
      const last = passed.length - 1;
      return passed.flatMap((frame, index) => step(frame, last - index));
    }, frames);
}

/** Octets in, octets out, frame by frame; octets that are no longer readable as frames pass unchanged. */
class FrameFilter {
  readonly #reader: FrameReader;
  readonly #pass: FramePassage;
  #blind = false;

  constructor(rules: readonly GateRule[], limit: number) {
    this.#reader = new FrameReader(limit);
    this.#pass = passage(rules);
  }

  filter(octets: Buffer): Buffer {
    if (this.#blind) return octets;
    const { frames, givenUp } = this.#reader.read(octets);
    this.#blind = givenUp !== null;
    const passed = this.#pass(frames).map(encodeFrame);
    return Buffer.concat(givenUp === null ? passed : [...passed, givenUp]);
  }
}

const HEAD_END = '\r\n\r\n';

/**
 * Stands between a TCP connection and the WebSocket library and lets faults through that the library would not
 * commit or would not overlook. The first message written is the 101 response, everything after it is frames.
 */
export class Gate extends Duplex {
  readonly #socket: Socket;
  readonly #rules: GateRules;
  readonly #inbound: FrameFilter;
  readonly #outbound: FrameFilter;
  #head: string | null = '';
  #isAnswered = false;
  #end: FrameEnd | null = null;

  /** `frameLimit`: octets of payload of the largest frame that is looked at. */
  constructor(socket: Socket, rules: GateRules, frameLimit: number) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    this.#rules = rules;
    const heeding: GateRule = () => (frame) => {
      if (frame.opcode === OPCODE.close) this.#isAnswered = true;
      return [frame];
    };
    this.#inbound = new FrameFilter([heeding, ...rules.inbound], frameLimit);
    const { endsAt } = rules;
    const watching: GateRule = () => (frame) => {
      this.#end ??= endsAt?.(frame) ?? null;
      return [frame];
    };
    this.#outbound = new FrameFilter([...rules.outbound, watching], frameLimit);
    socket.on('data', (octets: Buffer) => {
      const passed = this.#inbound.filter(octets);
      if (passed.length > 0 && !this.push(passed)) socket.pause();
    });
    const end = () => this.push(null);
    const { atHalfClose } = rules;
    const send = (frame: Frame) => socket.write(encodeFrame(frame));
    socket.on('end', () => {
      this.#isAnswered = true;
    });
    socket.on('end', () => (atHalfClose === null ? end() : atHalfClose(send, end)));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  get #endsTcp(): boolean {
    const { endsTcp } = this.#rules;
    return endsTcp === 'once closed' || (endsTcp === 'once answered' && this.#isAnswered);
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const octets = this.#head === null ? this.#outbound.filter(chunk) : this.#filterHead(this.#head, chunk);
    const end = this.#end;
    if (end === 'reset instead') this.#socket.resetAndDestroy();
    const written = () => {
      if (end === 'destroyed behind') this.#socket.destroy();
      done();
    };
    if (octets.length === 0 || !this.#socket.writable) done();
    else this.#socket.write(octets, written);
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#endsTcp) this.#socket.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (this.#endsTcp) this.#socket.destroy();
    done(error);
  }

  #filterHead(before: string, chunk: Buffer): Buffer {
    const text = before + chunk.toString('latin1');
    const end = text.indexOf(HEAD_END);
    if (end === -1) {
      this.#head = text;
      return Buffer.alloc(0);
    }
    this.#head = null;
    const lines = this.#rules.headChanges.reduce<readonly string[]>(
      (changed, change) => change(changed),
      text.slice(0, end).split('\r\n'),
    );
    const rest = this.#outbound.filter(Buffer.from(text.slice(end + HEAD_END.length), 'latin1'));
    return Buffer.concat([Buffer.from(lines.join('\r\n') + HEAD_END, 'latin1'), rest]);
  }
}
