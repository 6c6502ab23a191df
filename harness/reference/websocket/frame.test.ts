import { describe, expect, it } from 'vitest';
import fc from '../../base/fixtures/properties.ts';
import { encodeFrame, type Frame, FrameReader, withPayload } from './frame.ts';

const anyFrame = fc
  .record({
    fin: fc.boolean(),
    rsv: fc.integer({ min: 0, max: 7 }),
    opcode: fc.integer({ min: 0, max: 15 }),
    masked: fc.boolean(),
    length: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(125, 126, 65_535, 65_536)),
  })
  .map(
    ({ length, ...head }): Frame =>
      withPayload({ ...head, lengthOctets: 0, payload: Buffer.alloc(0) }, Buffer.alloc(length, 'payload')),
  );

/** With its payload as a text: octets are compared one by one, which takes long. */
function legible(frame: Frame): object {
  return { ...frame, payload: frame.payload.toString('latin1') };
}

describe('frames', () => {
  it('survive writing and reading, however TCP cuts them', () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 4 }), fc.integer({ min: 1, max: 5_000 }), (frames, cut) => {
        const octets = Buffer.concat(frames.map(encodeFrame));
        const reader = new FrameReader(1 << 20);
        const read: Frame[] = [];
        // Not octet by octet where there are many.
        const step = Math.max(cut, Math.ceil(octets.length / 500));
        for (let at = 0; at < octets.length; at += step)
          read.push(...reader.read(octets.subarray(at, at + step)).frames);
        expect(read.map(legible)).toEqual(frames.map(legible));
      }),
    );
  });

  it('keep a length encoding that is longer than it need be', () => {
    const frame: Frame = {
      fin: true,
      rsv: 0,
      opcode: 1,
      masked: false,
      lengthOctets: 8,
      payload: Buffer.from('x'),
    };
    expect([...encodeFrame(frame)]).toEqual([0x81, 127, 0, 0, 0, 0, 0, 0, 0, 1, 0x78]);
    expect(new FrameReader(10).read(encodeFrame(frame)).frames).toEqual([frame]);
  });

  it('are given up when they announce more than the limit', () => {
    const octets = Buffer.from([0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    expect(new FrameReader(1 << 20).read(octets)).toEqual({ frames: [], givenUp: octets });
  });
});
