import { duration, flag, mapping } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';

export const EVENTS = mapping(
  'What your documents say of operations that answer with a stream: server-sent events, JSON lines or a JSON sequence. Each is listened to for a while.',
  {
    expected: 'a mapping such as { firstWithin: 5s, heartbeat: 15s, resume: true }',
    nullable: true,
    def: 'events',
  },
  {
    listen: duration(
      'How long a stream is listened to, unless 20 events come before. Default: 10s, less where there are many streams, and more where a heartbeat is documented.',
      { atMost: '2m' },
    ),
    firstWithin: duration('How soon the first event or comment must come after the status line.', {
      atMost: '2m',
    }),
    heartbeat: duration('How long a stream may be silent: an event or a comment comes within this time.', {
      atMost: '1m',
    }),
    resume: flag(
      'A client that connects again with Last-Event-ID gets the events after that one, each once and in order.',
      { default: false },
    ),
  },
);

/** How a stream is listened to, and what it is held to. Times in ms. */
export interface StreamTerms {
  readonly listenMs: number;
  /** null if nothing is documented. */
  readonly firstWithinMs: number | null;
  /** null if nothing is documented. */
  readonly heartbeatMs: number | null;
  readonly resumes: boolean;
}

/** Two heartbeats, and time for the second one to be late. */
const HEARTBEATS = 2.5;
const DEFAULT_LISTEN_MS = 10_000;
/** For all streams together, if the config says nothing. */
const MOST_LISTEN_MS = 60_000;

/** `streams`: the number of operations that answer with one. */
export function termsOf(written: Loaded<typeof EVENTS> | null | undefined, streams: number): StreamTerms {
  const { listenMs, firstWithinMs = null, heartbeatMs = null, resume = false } = written ?? {};
  const usualMs = listenMs ?? Math.min(DEFAULT_LISTEN_MS, MOST_LISTEN_MS / Math.max(1, streams));
  return {
    listenMs: Math.max(usualMs, HEARTBEATS * (heartbeatMs ?? 0), 1.5 * (firstWithinMs ?? 0)),
    firstWithinMs,
    heartbeatMs,
    resumes: resume,
  };
}
