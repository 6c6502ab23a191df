import type { Socket } from 'node:net';
import type { Clock } from '../pace/clock.ts';

/** Octets sent in one write, and how long to wait after them, in ms. */
export interface Piece {
  readonly octets: Uint8Array;
  readonly pauseMs?: number;
}

/** Each octet a piece of its own, `pauseMs` apart. */
export function octetByOctet(octets: Uint8Array, pauseMs = 0): Piece[] {
  return Array.from(octets, (octet) => ({ octets: Uint8Array.of(octet), pauseMs }));
}

/**
 * Writes the pieces one after the other until they are all written, `over` is aborted or the connection ends;
 * never rejects. With `halfClose` our side of the connection is ended after the last.
 */
export async function writePieces(
  clock: Clock,
  socket: Socket,
  pieces: readonly Piece[],
  over: AbortSignal,
  halfClose = false,
): Promise<void> {
  for (const { octets, pauseMs } of pieces) {
    if (over.aborted || !socket.writable) return;
    await new Promise<void>((resolve) => socket.write(octets, () => resolve()));
    // A turn of the event loop at least, so that each piece has a chance of a segment of its own.
    if (pauseMs) await clock.sleep(pauseMs, over).catch(() => undefined);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  if (halfClose && !over.aborted) socket.end();
}
