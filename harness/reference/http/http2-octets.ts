import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { FieldLine } from '../../wire/exchange.ts';

const HEADER_OCTETS = 9;
const HEADERS = 0x1;
const RESET = 0x3;
/** RFC 9113 §3.4 */
const PREFACE_OCTETS = 24;

interface FrameFaults {
  /** By stream: a field that follows those of its answer, as it is. */
  readonly fields: Map<number, FieldLine>;
  /** A stream that the client resets ends the connection. */
  readonly resetEnds: boolean;
}

/** A socket with faults in the frames of HTTP/2 that no library makes. */
export function faulty(socket: Socket, { fields, resetEnds }: FrameFaults): Duplex {
  const outgoing = splitter(0);
  const incoming = splitter(PREFACE_OCTETS);
  const duplex = new Duplex({
    read: () => void socket.resume(),
    write(octets: Buffer, _, done) {
      const frames = outgoing(octets).map((frame) => withField(frame, fields));
      socket.write(Buffer.concat(frames), () => done());
    },
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on('data', (octets) => {
    for (const frame of incoming(octets)) {
      if (resetEnds && frame.length > HEADER_OCTETS && frame[3] === RESET) duplex.destroy();
      if (!duplex.destroyed) duplex.push(frame);
    }
  });
  socket.on('end', () => duplex.push(null));
  socket.on('close', () => duplex.destroy());
  return duplex;
}

/** Cuts octets into whole frames; the first piece is the preface, if there is one. */
function splitter(preface: number): (octets: Buffer) => readonly Buffer[] {
  let rest = Buffer.alloc(0);
  let isBehindPreface = preface === 0;
  const nextLength = () => {
    if (!isBehindPreface) return preface;
    return rest.length < HEADER_OCTETS ? HEADER_OCTETS : HEADER_OCTETS + rest.readUIntBE(0, 3);
  };
  return (octets) => {
    rest = Buffer.concat([rest, octets]);
    const pieces: Buffer[] = [];
    for (let length = nextLength(); rest.length >= length; length = nextLength()) {
      pieces.push(rest.subarray(0, length));
      rest = rest.subarray(length);
      isBehindPreface = true;
    }
    return pieces;
  };
}

/** A literal field without indexing (RFC 7541 §6.2.2) behind those of a HEADERS frame. */
function withField(frame: Buffer, fields: Map<number, FieldLine>): Buffer {
  const stream = frame.readUInt32BE(5);
  const field = frame[3] === HEADERS ? fields.get(stream) : undefined;
  if (field === undefined) return frame;
  fields.delete(stream);
  const literal = Buffer.concat([
    Buffer.from([0]),
    ...field.map((text) => Buffer.from(`${String.fromCharCode(text.length)}${text}`, 'latin1')),
  ]);
  const longer = Buffer.concat([frame, literal]);
  longer.writeUIntBE(longer.length - HEADER_OCTETS, 0, 3);
  return longer;
}
