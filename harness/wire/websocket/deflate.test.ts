import { constants, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Deflation, deflatedRepeatedly } from '../conversation/inflation.ts';

/** As RFC 7692 §7.2.2 has it: with the four octets that the sender left out. */
function inflated(payload: Uint8Array): string {
  const whole = Buffer.concat([payload, Buffer.of(0, 0, 0xff, 0xff)]);
  return inflateRawSync(whole, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
}

describe('a compressed message', () => {
  it.for(['', 'a', 'abc'.repeat(100_000)])('of %s inflates to what it was', (text) => {
    expect(inflated(new Deflation(false).next(Buffer.from(text)))).toBe(text);
  });

  it('of the same over and over inflates to all of it', () => {
    expect(inflated(deflatedRepeatedly(Buffer.from('abc'.repeat(1_000)), 7))).toBe('abc'.repeat(7_000));
  });
});
