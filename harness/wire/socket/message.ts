import type { Socket } from 'node:net';
import type { ExchangeFailure } from '../exchange.ts';
import { type Clock, type Stopwatch, startDeadline } from '../pace/clock.ts';
import type { ResponseReader } from '../reader/http1-reader.ts';
import { abortedFailure, errorLine, failureKind } from './failure.ts';
import { exchangeMs, type ResponseLimits, type Timeouts } from './options.ts';
import { readerFailure } from './recording.ts';

/** So many octets for each write. */
export function chopped(octets: Uint8Array, atOnce: number): Uint8Array[] {
  const count = Math.ceil(octets.length / atOnce);
  return Array.from({ length: count }, (_, index) => octets.subarray(index * atOnce, (index + 1) * atOnce));
}

/**
 * Writes the pieces one after the other until they are all written, `over` is aborted or the connection ends;
 * never rejects.
 */
export async function writePieces(
  socket: Socket,
  pieces: readonly Uint8Array[],
  over: AbortSignal,
): Promise<void> {
  for (const piece of pieces) {
    if (over.aborted || !socket.writable) return;
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    // A turn of the event loop at least, so that each piece has a chance of a segment of its own.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export interface Conditions {
  readonly clock: Clock;
  readonly timeouts: Timeouts;
  readonly limits: ResponseLimits;
  readonly signal: AbortSignal | undefined;
  readonly stopwatch: Stopwatch;
  /** How long to wait, after the whole response, for octets that should not be there; in ms. */
  readonly graceMs: number;
  /** Faults of a message that is not read on; none when left out. */
  readonly refused?: ReadonlySet<string>;
}

/**
 * Feeds what a paused socket receives to the reader until the response (and the grace after it) is over, one of
 * the deadlines has passed or the signal is aborted. Resolves with the failure, if any; never rejects. Leaves the
 * socket paused.
 */
export function readAnswer(
  socket: Socket,
  reader: ResponseReader,
  { clock, timeouts, limits, signal, stopwatch, graceMs, refused }: Conditions,
): Promise<ExchangeFailure | null> {
  return new Promise((resolve) => {
    const settle = (failure: ExchangeFailure | null) => {
      for (const cancel of deadlines) cancel();
      signal?.removeEventListener('abort', aborted);
      socket.off('data', received).off('end', ended).off('error', failed);
      socket.pause();
      resolve(failure);
    };
    const late = (message: string) => settle({ kind: 'response-timeout', message });
    const deadlines = [
      startDeadline(clock, timeouts.responseMs, () => {
        if (!reader.headWhole) late(`no status line and fields within ${timeouts.responseMs} ms`);
      }),
      startDeadline(clock, exchangeMs(timeouts) - stopwatch.elapsed, () => {
        if (!reader.complete) late(`the response was not whole after ${exchangeMs(timeouts)} ms`);
      }),
    ];
    const aborted = () => settle(abortedFailure(signal, 'aborted while the response was awaited'));
    const received = (octets: Buffer) => {
      const surplus = reader.settled;
      reader.push(octets);
      if (reader.headWhole) stopwatch.markResponse();
      const failure = readerFailure(reader, limits) ?? refusal(reader, refused);
      if (!reader.settled && failure === null) return;
      if (surplus || failure || graceMs === 0) settle(failure);
      else deadlines.push(startDeadline(clock, graceMs, () => settle(null)));
    };
    const ended = () => {
      reader.end();
      settle(readerFailure(reader, limits));
    };
    const failed = (error: Error) => {
      if (reader.complete) settle(readerFailure(reader, limits));
      else settle({ kind: failureKind(error, 'reset'), message: errorLine(error) });
    };
    signal?.addEventListener('abort', aborted, { once: true });
    socket.on('data', received).on('end', ended).on('error', failed);
    if (signal?.aborted) aborted();
    else if (socket.destroyed) failed(socket.errored ?? new Error('the connection is gone'));
    else socket.resume();
  });
}

function refusal({ faults }: ResponseReader, refused: Conditions['refused']): ExchangeFailure | null {
  if (!faults.some((fault) => refused?.has(fault))) return null;
  return { kind: 'malformed', message: `not HTTP/1.1: ${faults.join(', ')}` };
}
