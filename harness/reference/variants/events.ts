import { SEARCH, tableOf, under, type Variant } from '../behavior/deviation.ts';
import { countingApart } from '../behavior/patches/parts.ts';
import { insteadOfServing, type Patch } from '../behavior/patches/patch.ts';
import { problem } from '../http/answer.ts';
import { having } from '../http/answer-changes.ts';
import {
  asksForChanges,
  asksForLog,
  asksForSequence,
  CHANGES,
  piece,
  seenBy,
  streamed,
} from '../services/changes.ts';

const events = (change: Parameters<typeof streamed>[0]): Patch =>
  insteadOfServing(asksForChanges, streamed(change));

/** Other lawful streams. */
export const EVENT_VARIANTS = tableOf<Variant>(under('streams', SEARCH), {
  'events-end-lines-with-cr': {
    summary: 'ends the lines of events with CR, behind a byte order mark',
    patch: events((text) => text.replace('retry', '\u{feff}retry').replaceAll('\n', '\r')),
  },
  'events-end-lines-with-crlf': {
    summary: 'ends the lines of events with CR LF, and names the charset',
    patch: (behavior) =>
      insteadOfServing(
        asksForChanges,
        having('Content-Type', 'text/event-stream; charset=UTF-8'),
      )(events((text) => text.replaceAll('\n', '\r\n'))(behavior)),
  },
  'events-with-unknown-fields': {
    summary: 'has fields in its events that no client knows, and others without a colon',
    patch: events((text) => text.replaceAll('event: ', 'trace: 1\nretry\nevent:')),
  },
  'events-in-small-pieces': {
    summary: 'sends its events octet by octet',
    patch: insteadOfServing(asksForChanges, (answer) => ({
      ...answer,
      ...(answer.stream && {
        stream: {
          ...answer.stream,
          pieces: answer.stream.pieces.flatMap(({ afterMs, octets }) =>
            Array.from(octets, (octet, at) => ({
              afterMs: at === 0 ? afterMs : 0,
              octets: Buffer.of(octet),
            })),
          ),
        },
      }),
    })),
  },
  'events-for-no-cache': {
    summary: 'lets no cache keep its events, and no proxy collect or change them',
    changes: ['events.streams'],
    patch: insteadOfServing(asksForChanges, (answer) =>
      having('X-Accel-Buffering', 'no')(having('Cache-Control', 'no-store, no-transform')(answer)),
    ),
  },
  'events-that-are-few': {
    summary: 'has no change to tell, and a sign of life every 5 s',
    patch: insteadOfServing(asksForChanges, (answer) => ({
      ...answer,
      stream: { pieces: [piece(':\n'), ...Array.from({ length: 9 }, () => piece(':\n', 5_000))], end: null },
    })),
  },
  'events-that-end': {
    summary: 'ends its events after the last one, and says 204 to a client that comes again',
    patch: insteadOfServing(asksForChanges, (answer, request) =>
      seenBy(request) > 0
        ? { ...answer, status: 204, fields: [] }
        : { ...answer, stream: { pieces: answer.stream?.pieces.slice(0, 5) ?? [], end: 'whole' } },
    ),
  },
  'events-without-head': {
    summary: 'refuses HEAD for its streams',
    patch: insteadOfServing(
      ({ method, path }) => method === 'HEAD' && path.startsWith(CHANGES),
      () => problem('method-not-allowed', [['Allow', 'GET, OPTIONS']]),
    ),
  },
  'log-without-last-line-end': {
    summary: 'ends its log without a line end, has empty lines in it, and indents its sequence',
    patch: (behavior) =>
      insteadOfServing(
        asksForSequence,
        streamed((text) => text.replaceAll(',', ',\n  ')),
      )(
        insteadOfServing(
          asksForLog,
          streamed((text) => `\r\n${text.trimEnd()}${text.includes('orders') ? '' : '\r\n'}`),
        )(behavior),
      ),
  },
  'streams-counted-apart': {
    summary: 'counts streams by themselves',
    changes: ['limits.streams'],
    patch: countingApart((request) => (asksForChanges(request) ? '@stream' : '')),
  },
  'log-is-empty': {
    summary: 'has no record in its log',
    patch: insteadOfServing(
      asksForLog,
      streamed(() => ''),
    ),
  },
});
