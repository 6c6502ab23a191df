import { constants, deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Inflation } from './inflation.ts';

function deflated(text: string | Buffer, before?: string): Uint8Array {
  const dictionary = before === undefined ? {} : { dictionary: Buffer.from(before) };
  return deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH, ...dictionary }).subarray(0, -4);
}

const textOf = (inflation: Inflation, payload: Uint8Array) =>
  Buffer.from(inflation.next(payload).octets ?? []).toString();

describe('a compressed message', () => {
  it('may refer to the one before, where context is kept', () => {
    const inflation = new Inflation(true);
    expect(textOf(inflation, deflated('conform'))).toBe('conform');
    expect(textOf(inflation, deflated('conform', 'conform'))).toBe('conform');
  });

  it('may not, where it is not', () => {
    const inflation = new Inflation(false);
    expect(textOf(inflation, deflated('conform'))).toBe('conform');
    expect(inflation.next(deflated('conform', 'conform'))).toMatchObject({
      octets: null,
      fault: expect.stringMatching(/distance/),
    });
  });

  it('may refer no further back than the window, be it within itself', () => {
    const novel = Array.from({ length: 600 }, (_, index) => String.fromCodePoint(0x100 + index)).join('');
    const inWindow = (bits: number) => new Inflation(true, bits).next(deflated(`${novel}${novel}`)).fault;
    expect(inWindow(15)).toBeNull();
    expect(inWindow(11)).toBeNull();
    expect(inWindow(8)).toMatch(/distance/);
    const inflation = new Inflation(true, 9);
    expect(textOf(inflation, deflated('conform'))).toBe('conform');
    expect(textOf(inflation, deflated(novel))).toBe(novel);
    expect(textOf(inflation, deflated('conform', `conform${novel}`))).toBe('');
  });

  it('of an empty block is empty', () => {
    expect(textOf(new Inflation(true), Uint8Array.of(0))).toBe('');
  });

  it('that stands for more than is inflated is given up, and so are those behind it', () => {
    const inflation = new Inflation(true);
    expect(inflation.next(deflated(Buffer.alloc(8 * 1024 * 1024)))).toMatchObject({
      octets: null,
      fault: null,
    });
    expect(inflation.next(deflated('conform'))).toEqual({ octets: null, fault: null });
  });
});
