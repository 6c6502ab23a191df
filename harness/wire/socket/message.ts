import type { Socket } from 'node:net';
import type { ConnectionUse, ExchangeFailure } from '../exchange.ts';
import { type Clock, type Stopwatch, startDeadline } from '../pace/clock.ts';
import { ResponseReader } from '../reader/http1-reader.ts';
import type { Listener } from '../stream/listening.ts';
import { abortedFailure, errorLine, failureKind } from './failure.ts';
import { type ExchangeTimeouts, exchangeMs, type ResponseLimits } from './options.ts';
import { readerFailure, readerLimits } from './recording.ts';

/** `atOnce`: octets of each write. */
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
  readonly timeouts: ExchangeTimeouts;
  readonly limits: ResponseLimits;
  readonly signal: AbortSignal | undefined;
  readonly stopwatch: Stopwatch;
  /** How long to wait, after the whole response, for octets that should not be there; in ms. */
  readonly graceMs: number;
  /** Faults of a message that is not read on; none when left out. */
  readonly refused?: ReadonlySet<string>;
  /** Says when enough of a response has come that may have no end; absent if all of it is read. */
  readonly listener?: Listener | undefined;
}

/**
 * Feeds what a paused socket receives to the reader until the response (and the grace after it) is over, one of
 * the deadlines has passed or the signal is aborted. Resolves with the failure, if any; never rejects. Leaves the
 * socket paused.
 */
export function readAnswer(
  socket: Socket,
  reader: ResponseReader,
  { clock, timeouts, limits, signal, stopwatch, graceMs, refused, listener }: Conditions,
): Promise<ExchangeFailure | null> {
  return new Promise((resolve) => {
    const settle = (failure: ExchangeFailure | null) => {
      for (const cancel of deadlines) cancel();
      listener?.end(reader.settled);
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
        if (!reader.complete && !listener?.isListening)
          late(`the response was not whole after ${exchangeMs(timeouts)} ms`);
      }),
    ];
    const aborted = () => settle(abortedFailure(signal, 'aborted while the response was awaited'));
    const received = (octets: Buffer) => {
      const surplus = reader.settled;
      reader.push(octets);
      if (reader.headWhole) stopwatch.markResponse();
      const failure = readerFailure(reader, limits) ?? refusal(reader, refused);
      const isEnough = reader.response !== null && listener?.hear(reader.response, () => settle(null));
      if (!reader.settled && failure === null && !isEnough) return;
      stopwatch.markWhole();
      if (surplus || failure || isEnough || graceMs === 0) settle(failure);
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

/** Responses of one connection that are read; further ones are not read. */
const MOST_RESPONSES = 8;

/** The responses on a connection that was listened to beyond the first one. */
export interface Series {
  /** The first one, whatever became of it, and those behind it of which at least the head came. */
  readonly readers: readonly [ResponseReader, ...ResponseReader[]];
  /** Of the first response. */
  readonly failure: ExchangeFailure | null;
  readonly afterwards: NonNullable<ConnectionUse['afterwards']>;
}

interface SeriesConditions extends Omit<Conditions, 'timeouts'> {
  readonly method: string;
  /** Responses that may be waited for. */
  readonly expected: number;
  /** How long each of them is waited for, in ms. */
  readonly patienceMs: number;
  /** How long after them the end of the connection is waited for, or one more, in ms. */
  readonly graceMs: number;
}

/** Reads responses from a paused socket until it ends, or all that is expected has come and a while has passed; never rejects. */
export function readSeries(
  socket: Socket,
  { clock, limits, signal, stopwatch, method, expected, patienceMs, graceMs }: SeriesConditions,
): Promise<Series> {
  return new Promise((resolve) => {
    const first = readerOf(method);
    const readers: [ResponseReader, ...ResponseReader[]] = [first];
    let waited = () => {};

    function readerOf(asked: string): ResponseReader {
      return new ResponseReader({
        method: asked,
        limits: readerLimits(limits),
        surplus: (octets) => {
          if (readers.length >= MOST_RESPONSES) return;
          const next = readerOf('GET');
          readers.push(next);
          next.push(octets);
        },
      });
    }
    const settle = (afterwards: Series['afterwards'], failure: ExchangeFailure | null) => {
      waited();
      signal?.removeEventListener('abort', aborted);
      socket.off('data', received).off('end', ended).off('error', failed);
      socket.pause();
      const [, ...behind] = readers;
      resolve({ readers: [first, ...behind.filter(({ headWhole }) => headWhole)], failure, afterwards });
    };
    const count = () => readers.filter(({ complete }) => complete).length;
    const wait = () => {
      waited();
      const isAllThere = count() >= expected || readers.some(({ failure }) => failure !== null);
      waited = startPatience(clock, isAllThere ? graceMs : patienceMs, () =>
        settle('open', failureOf() ?? (first.complete ? null : late)),
      );
    };
    const late = {
      kind: 'response-timeout',
      message: `no whole response within ${patienceMs} ms`,
    } as const;
    const failureOf = () => readerFailure(first, limits);
    const aborted = () => settle('open', abortedFailure(signal, 'aborted while the responses were awaited'));
    const received = (octets: Buffer) => {
      const before = count();
      readers.at(-1)?.push(octets);
      if (first.headWhole) stopwatch.markResponse();
      if (first.complete) stopwatch.markWhole();
      if (count() !== before) wait();
    };
    const ended = () => {
      readers.at(-1)?.end();
      settle('ended', failureOf());
    };
    const failed = (error: Error) => {
      const lost = { kind: failureKind(error, 'reset'), message: errorLine(error) };
      settle('reset', first.complete ? failureOf() : lost);
    };
    signal?.addEventListener('abort', aborted, { once: true });
    socket.on('data', received).on('end', ended).on('error', failed);
    wait();
    if (signal?.aborted) aborted();
    else if (socket.destroyed) failed(socket.errored ?? new Error('the connection is gone'));
    else socket.resume();
  });
}

/** Octets under way need their time, also if a clock leaps over the wait: the most ms at once. */
const SLICE_MS = 50;
/** A timer that is late, as on a busy machine, has waited for longer than it was asked to; what a leap counts for. In ms. */
const MOST_OF_A_SLICE_MS = 500;

/** As `startDeadline`, for octets under way. */
function startPatience(clock: Clock, ms: number, expired: () => void): () => void {
  let cancel = () => {};
  const next = (leftMs: number) => {
    const startedMs = clock.now();
    cancel = startDeadline(clock, Math.min(leftMs, SLICE_MS), () => {
      const left = leftMs - Math.min(clock.now() - startedMs, MOST_OF_A_SLICE_MS);
      if (left > 0) next(left);
      else expired();
    });
  };
  next(ms);
  return () => cancel();
}
