import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Receiver, Sender } from 'ws';
import fc from '../../base/fixtures/properties.ts';
import { encodeFrame, type FrameToSend, OPCODE } from '../conversation/frame.ts';
import { FrameDecoder, type WireFrame } from './frames.ts';

const KEEP = 200;

function decode(pieces: readonly Uint8Array[], keep = KEEP) {
  const decoder = new FrameDecoder(keep);
  const frames = pieces.flatMap((piece) => decoder.push(piece));
  const { frame, octets } = decoder.end();
  return { frames: frames.map(comparable), rest: frame && comparable(frame), octets: [...octets] };
}

const comparable = (frame: WireFrame) => ({ ...frame, payload: [...frame.payload] });

const mask = fc.option(fc.uint8Array({ minLength: 4, maxLength: 4 }), { nil: null });
const anyFrame: fc.Arbitrary<FrameToSend> = fc
  .record({
    fin: fc.boolean(),
    rsv: fc.nat(7),
    opcode: fc.nat(15),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 130 }),
      fc.nat(300).map((length) => new Uint8Array(length).fill(7)),
    ),
    mask,
    wider: fc.constantFrom(0, 2, 8),
  })
  .map(({ wider, ...frame }): FrameToSend => {
    const fewest = frame.payload.length < 126 ? 0 : 2;
    return { ...frame, lengthOctets: wider > fewest ? (wider === 2 ? 2 : 8) : fewest };
  });

describe('any frame', () => {
  it('comes back as it was written, however its octets are cut', () => {
    fc.assert(
      fc.property(
        fc.array(anyFrame, { maxLength: 4 }),
        fc.array(fc.nat(700), { maxLength: 8 }),
        (frames, cuts) => {
          const octets = Buffer.concat(frames.map(encodeFrame));
          const at = [...new Set([0, ...cuts.filter((cut) => cut < octets.length), octets.length])].sort(
            (a, b) => a - b,
          );
          const pieces = at.slice(1).map((end, index) => octets.subarray(at[index], end));
          const expected = frames.map(
            ({ fin, rsv, opcode, payload = new Uint8Array(), mask, lengthOctets }) => ({
              fin,
              rsv,
              opcode,
              masked: mask !== null,
              length: payload.length,
              lengthOctets,
              payload: [...payload.subarray(0, KEEP)],
              received: payload.length,
              whole: true,
              digest: payload.length > KEEP ? createHash('sha256').update(payload).digest('hex') : null,
            }),
          );
          expect(decode(pieces)).toEqual({ frames: expected, rest: null, octets: [] });
          expect(decode(Array.from(octets, (octet) => Uint8Array.of(octet)))).toEqual(decode([octets]));
        },
      ),
    );
  });

  it('that is cut short is told from the octets of less than a head', () => {
    const octets = encodeFrame({
      opcode: OPCODE.text,
      payload: Buffer.alloc(300, 'x'),
      mask: Buffer.from('abcd'),
    });
    expect(decode([octets.subarray(0, 7)])).toEqual({
      frames: [],
      rest: null,
      octets: [...octets.subarray(0, 7)],
    });
    expect(decode([octets.subarray(0, 10)])).toMatchObject({
      frames: [],
      rest: { length: 300, received: 2, whole: false, payload: [...Buffer.from('xx')] },
      octets: [],
    });
  });

  it('never makes the decoder throw, nor hold more than came', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
        const { frames, rest, octets } = decode(pieces, 16);
        const held = [...frames, ...(rest ? [rest] : [])].reduce(
          (sum, { received }) => sum + received,
          octets.length,
        );
        expect(held).toBeLessThanOrEqual(pieces.reduce((sum, { length }) => sum + length, 0));
      }),
    );
  });
});

describe('a length', () => {
  it('of 2^62 octets may be announced without being allocated', () => {
    const octets = encodeFrame({ opcode: OPCODE.binary, mask: null, announcedLength: 2n ** 62n });
    const { rest } = decode([octets, new Uint8Array(1000)]);
    expect(rest).toMatchObject({ length: 2 ** 62, lengthOctets: 8, received: 1000, whole: false });
    expect(rest?.payload).toHaveLength(KEEP);
  });

  it.each([
    [0, 0],
    [125, 0],
    [126, 2],
    [65_535, 2],
    [65_536, 8],
  ])('of %i is written in %i further octets, unless others are asked for', (length, lengthOctets) => {
    const payload = new Uint8Array(length);
    const [frame] = decode([encodeFrame({ opcode: 2, payload, mask: null })]).frames;
    expect(frame).toMatchObject({ length, lengthOctets });
    const [wide] = decode([encodeFrame({ opcode: 2, payload, mask: null, lengthOctets: 8 })]).frames;
    expect(wide).toMatchObject({ length, lengthOctets: 8 });
  });
});

// The parts of the library that its types leave out.
declare module 'ws' {
  class Receiver extends Writable {
    constructor(options: { isServer?: boolean; maxPayload?: number });
  }
  const Sender: {
    frame(
      data: Buffer,
      options: { opcode: number; fin: boolean; mask: boolean; rsv1: boolean; readOnly: boolean },
    ): Buffer[];
  };
}

/** Of each length that is announced in another way (RFC 6455 §5.2), and of others. */
const anyText = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 1, arbitrary: fc.constantFrom(125, 126, 65_535, 65_536).map((length) => 'x'.repeat(length)) },
);

/** A message in fragments, or a control frame. */
const anySent = fc.oneof(
  fc.record({
    kind: fc.constantFrom('text' as const, 'binary' as const),
    fragments: fc.array(anyText, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constantFrom('ping' as const, 'pong' as const),
    fragments: fc.tuple(fc.string({ maxLength: 30 })),
  }),
);

/** Frames of each, and what a receiver is to make of them. */
function framesOf(sent: { kind: 'text' | 'binary' | 'ping' | 'pong'; fragments: readonly string[] }) {
  return sent.fragments.map((fragment, index) => ({
    opcode: index === 0 ? OPCODE[sent.kind] : OPCODE.continuation,
    fin: index === sent.fragments.length - 1,
    payload: Buffer.from(fragment),
  }));
}

describe('against the codec of ws', () => {
  it('any message that we write is read as it was meant', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anySent, { maxLength: 5 }),
        fc.uint8Array({ minLength: 4, maxLength: 4 }),
        fc.integer({ min: 1, max: 50 }),
        async (all, mask, cut) => {
          const receiver = new Receiver({ isServer: true });
          const seen: unknown[] = [];
          receiver.on('message', (data: Buffer, isBinary: boolean) =>
            seen.push([isBinary ? 'binary' : 'text', data.toString()]),
          );
          for (const kind of ['ping', 'pong']) {
            receiver.on(kind, (data: Buffer) => seen.push([kind, data.toString()]));
          }
          const octets = Buffer.concat(
            all.flatMap((sent) => framesOf(sent).map((each) => encodeFrame({ ...each, mask }))),
          );
          // Not octet by octet where there are many.
          const step = Math.max(cut, Math.ceil(octets.length / 500));
          for (let at = 0; at < octets.length; at += step) receiver.write(octets.subarray(at, at + step));
          receiver.end();
          await once(receiver, 'finish');
          expect(seen).toEqual(all.map(({ kind, fragments }) => [kind, fragments.join('')]));
        },
      ),
    );
  });

  it('any frame that it writes is read as it was meant', () => {
    fc.assert(
      fc.property(fc.array(anySent, { maxLength: 5 }), fc.boolean(), fc.boolean(), (all, masked, rsv1) => {
        const written = all.flatMap(framesOf);
        const octets = written.flatMap(({ opcode, fin, payload }) =>
          Sender.frame(Buffer.from(payload), { opcode, fin, mask: masked, rsv1, readOnly: false }),
        );
        const decoder = new FrameDecoder(100_000);
        const read = octets.flatMap((each) => decoder.push(each));
        expect(
          read.map(({ opcode, fin, payload }) => ({ opcode, fin, payload: Buffer.from(payload) })),
        ).toEqual(written);
        expect(read.every((each) => each.masked === masked && each.rsv === (rsv1 ? 4 : 0))).toBe(true);
      }),
    );
  });
});
