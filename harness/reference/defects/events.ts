import { type Defect, SEARCH, tableOf, under } from '../behavior/deviation.ts';
import { beforehand, insteadOfServing, onFinished, type Patch } from '../behavior/patches/patch.ts';
import { having } from '../http/answer-changes.ts';
import { fieldValue } from '../http/message.ts';
import {
  asksForChanges,
  asksForLog,
  asksForSequence,
  CHANGES,
  changesAfter,
  seenBy,
  streamed,
  streaming,
} from '../services/changes.ts';

const events = (change: Parameters<typeof streamed>[0]): Patch =>
  insteadOfServing(asksForChanges, streamed(change));
const log = (change: Parameters<typeof streamed>[0]): Patch => insteadOfServing(asksForLog, streamed(change));

/** Faults of streams. */
export const EVENT_DEFECTS = tableOf<Defect>(under('streams', SEARCH), {
  'events-in-latin1': {
    cause: 'Events hold octets that are no UTF-8',
    fails: ['events.encoding'],
    patch: events((text) => Buffer.from(text.replace('nothing new', 'nichts für dich'), 'latin1')),
  },
  'events-of-another-charset': {
    cause: 'The Content-Type of an event stream names another charset than UTF-8',
    fails: ['events.encoding'],
    patch: insteadOfServing(asksForChanges, having('Content-Type', 'text/event-stream; charset=iso-8859-1')),
  },
  'event-id-with-nul': {
    cause: 'The id of an event holds the character U+0000',
    fails: ['events.fields'],
    patch: events((text) => text.replace('id: 4', 'id: 4\0')),
  },
  'event-retry-with-unit': {
    cause: 'The retry of an event stream is no whole number',
    fails: ['events.fields'],
    patch: events((text) => text.replace('retry: 3000', 'retry: 3s')),
  },
  'event-of-unknown-kind': {
    cause: 'Events are not as they are documented',
    fails: ['operations.schema'],
    patch: events((text) => text.replace('event: changed', 'event: updated')),
  },
  'events-as-text': {
    cause: 'An event stream is sent as {media type:text/plain}',
    fails: ['operations.content-type'],
    patch: insteadOfServing(asksForChanges, having('Content-Type', 'text/plain')),
  },
  'events-for-caches': {
    cause: 'Caches may use a stream of events again',
    fails: ['events.uncacheable'],
    changes: ['events.streams'],
    patch: insteadOfServing(asksForChanges, having('Cache-Control', 'public, max-age=60')),
  },
  'events-begin-late': {
    cause: 'The first event comes late',
    fails: ['events.first'],
    patch: insteadOfServing(asksForChanges, (answer) => ({
      ...answer,
      ...(answer.stream && {
        stream: {
          ...answer.stream,
          pieces: answer.stream.pieces.map((each, at) => (at === 0 ? { ...each, afterMs: 3_500 } : each)),
        },
      }),
    })),
  },
  'events-held-back': {
    cause: 'A proxy holds events back, and passes many on at once',
    fails: ['events.first'],
    patch: insteadOfServing(asksForChanges, (answer) => {
      const pieces = answer.stream?.pieces ?? [];
      const octets = Buffer.concat(pieces.slice(0, 8).map((each) => each.octets));
      return { ...answer, stream: { pieces: [{ afterMs: 9_000, octets }, ...pieces.slice(8)], end: null } };
    }),
  },
  'events-without-heartbeat': {
    cause: 'A stream of events is silent for longer than documented',
    fails: ['events.heartbeat'],
    patch: events((text) => (text.startsWith(':') ? '' : text)),
  },
  'events-resumed-from-the-start': {
    cause: 'A stream of events begins anew, whatever Last-Event-ID says',
    fails: ['events.resumed'],
    patch: insteadOfServing(asksForChanges, (answer) => ({
      ...answer,
      stream: { pieces: changesAfter(0), end: null },
    })),
  },
  'events-without-ids': {
    cause: 'Events have no id, although the stream can be resumed by it',
    fails: ['events.resumed'],
    patch: events((text) => text.replace(/^id: .*\n/gm, '')),
  },
  'events-lost-between-connections': {
    cause: 'Events are lost between two connections',
    fails: ['events.resumed'],
    patch: insteadOfServing(asksForChanges, (answer, request) =>
      seenBy(request) === 0
        ? answer
        : { ...answer, stream: { pieces: changesAfter(seenBy(request) + 1), end: null } },
    ),
  },
  'log-breaks-off': {
    cause: 'A stream breaks off in place of its end',
    fails: ['events.ended'],
    alsoFails: { 'framing.chunks': 'the last chunk is missing' },
    patch: insteadOfServing(asksForLog, (answer) => ({
      ...answer,
      ...(answer.stream && { stream: { ...answer.stream, end: 'broken' } }),
    })),
  },
  'log-in-several-lines': {
    cause: 'Records of JSON lines stand on several lines',
    fails: ['events.records'],
    patch: log((text) => text.replaceAll(',', ',\n')),
  },
  'sequence-without-separators': {
    cause: 'A JSON sequence has no record separators',
    fails: ['events.records'],
    patch: insteadOfServing(
      asksForSequence,
      streamed((text) => text.replaceAll('\x1e', '')),
    ),
  },
  'stream-without-key': {
    cause: 'A stream is sent without a credential',
    fails: ['operations.auth-required'],
    patch: beforehand((request) =>
      asksForChanges(request) && fieldValue(request, 'authorization') === undefined
        ? streaming('text/event-stream', changesAfter(0), null)
        : null,
    ),
  },
  'stream-head-breaks': {
    cause: 'HEAD for a stream gets no answer',
    fails: ['events.head'],
    patch: onFinished(
      'served',
      (answer) => ({ ...answer, delivery: { kind: 'drop' } }),
      ({ method, path }) => method === 'HEAD' && path.startsWith(CHANGES),
    ),
  },
});
