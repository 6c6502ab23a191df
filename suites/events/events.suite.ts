import {
  check,
  clause,
  clients,
  given,
  numberOf,
  observation,
  practice,
  rfc,
  rfc9110,
  rfc9112,
  streamed,
  suite,
  when,
} from '../../harness/engine/check/suite.ts';
import {
  faultOfParts,
  foreignCharset,
  heads,
  heard,
  IN_PARTS,
  isEventStream,
  isTelling,
  lateStart,
  resumed,
  resumptionFault,
  silence,
  streamsOf,
  streamTraits,
} from './stimuli/heard.ts';

const documented = (key: 'firstWithinMs' | 'heartbeatMs' | 'resumes', name: string) =>
  when((config) => streamsOf(config)[0]?.stream?.[key], `nothing is documented of that (events.${name})`);

const NOTHING_CAME = 'nothing came while a stream was listened to';

const first = check('events.first', {
  title: 'begins a stream within the documented time',
  headline: 'A stream begins later than documented: {got}',
  why: 'Clients take the connection for a dead one, and connect again. A proxy may hold the events back.',
  change: 'Send a comment at once, and let no proxy or compression buffer the stream.',
  grounds: [clause('events.streams')],
  applies: [documented('firstWithinMs', 'firstWithin')],
  uses: [heard],
  judge: ({ expect }) =>
    expect().where(isEventStream).toConform('an event or a comment within the documented time', lateStart),
});

/** Streams of events, JSON lines and JSON sequences, which are listened to for a while. */
const checks = given(
  [streamed],
  [
    // WHATWG HTML §9.2.6: always decoded as UTF-8. RFC 8259 §8.1: JSON is UTF-8.
    check('events.encoding', {
      title: 'sends its streams in UTF-8',
      headline: 'A stream is not in UTF-8: {got}',
      why: 'Browsers read every event stream as UTF-8, and show replacement characters for all else.',
      change: 'Encode the stream in UTF-8, and name no other charset in Content-Type.',
      grounds: [clients('EventSource of browsers reads an event stream as UTF-8, whatever it says')],
      uses: [heard],
      judge: ({ expect }) =>
        expect()
          .where((reply) => isTelling(reply) || foreignCharset(reply) !== null, NOTHING_CAME)
          .toConform('UTF-8', (reply) => foreignCharset(reply) ?? faultOfParts(reply, 'encoding'), IN_PARTS),
    }),

    // WHATWG HTML §9.2.6: such fields are ignored.
    check('events.fields', {
      title: 'sends events whose id and retry clients can use',
      headline: 'An id or a retry of an event is ignored by clients: {got}',
      why: 'A client that connects again does not say which event it has seen, or comes back too soon.',
      change: 'Write an id without U+0000, and a retry in digits alone.',
      grounds: [practice('WHATWG HTML §9.2.6')],
      uses: [heard],
      judge: ({ expect }) =>
        expect()
          .where(isEventStream, 'no stream of events was heard')
          .where(isTelling, NOTHING_CAME)
          .toConform('fields that clients can use', (reply) => faultOfParts(reply, 'field'), IN_PARTS),
    }),

    // RFC 7464 §2.2: RS, a JSON text, LF. JSON lines: a value on each.
    check('events.records', {
      title: 'sends each record of a JSON stream whole and in its place',
      headline: 'A record of a JSON stream cannot be read: {got}',
      why: 'Clients read such a stream record by record, and stop at the first that is no JSON.',
      change: 'Write each value on one line, or between a record separator and a line feed.',
      grounds: [
        rfc(7464, '2.2', 'MUST'),
        clients('readers of JSON lines, such as jq and pandas, take each line for a value'),
      ],
      uses: [heard],
      judge: ({ expect }) =>
        expect()
          .where((reply) => !isEventStream(reply), 'no stream of JSON was heard')
          .where(isTelling, NOTHING_CAME)
          .toConform('records of JSON', (reply) => faultOfParts(reply, 'record'), IN_PARTS),
    }),

    first,

    check('events.heartbeat', {
      title: 'sends an event or a comment within each documented interval',
      headline: 'A stream is silent for longer than documented: {got}',
      why: 'Clients and proxies close a connection that is silent for too long, and events are lost.',
      change: 'Send a comment when there is no event, and flush it: no proxy may buffer the stream.',
      grounds: [clause('events.streams')],
      applies: [documented('heartbeatMs', 'heartbeat')],
      restsOn: [first],
      uses: [heard],
      judge: ({ expect }) =>
        expect().where(isEventStream).toConform('an event or a comment within each interval', silence),
    }),

    // WHATWG HTML §9.2.7: the client names the last event that it has seen.
    check('events.resumed', {
      title: 'goes on after the event that Last-Event-ID names',
      headline: 'A stream that is resumed has {got}',
      why: 'Each lost connection costs events, or has clients handle some twice.',
      change: 'Keep the events of some minutes, and send those after the named one, in order.',
      grounds: [clause('events.streams')],
      applies: [documented('resumes', 'resume')],
      restsOn: [first],
      uses: [resumed],
      async judge({ probe, expect, blocked }) {
        const { all, shortfall } = await probe(resumed);
        if (all.length > 0 || shortfall === null)
          await expect
            .each(all, ({ reply }) => reply, 'fewer than two events were heard')
            .toConform('the events after that one, each once', resumptionFault, {
              partly: false,
              unread: (response, { reply, unfit }) => unfit ?? IN_PARTS.unread(response, reply),
            });
        if (shortfall !== null) blocked(shortfall.reason);
      },
    }),

    // RFC 9112 §8: a message without its end is incomplete.
    check('events.ended', {
      title: 'ends a stream as HTTP ends a message',
      headline: 'A stream breaks off: {got}',
      why: 'Clients cannot tell the end of the stream from a lost connection, and drop the last record.',
      change: 'Send the last chunk before the connection is closed.',
      grounds: [rfc9112('8', 'SHOULD')],
      uses: [heard],
      judge: ({ expect }) =>
        expect()
          .where(({ exchange }) => exchange.stream?.left === undefined, 'no stream ended while it was heard')
          .toConform('the end of the message', ({ exchange }) => exchange.failure?.message ?? null),
    }),

    // RFC 9111 §4.2: a fresh response is used again without asking.
    check('events.uncacheable', {
      title: 'lets no cache use a stream of events again',
      headline: 'A cache may use a stream of events again: {got}',
      why: 'A cache between sends old events to a later client, or collects the stream and holds it back.',
      change: 'Send Cache-Control: no-store. Behind nginx, X-Accel-Buffering: no keeps it from collecting.',
      grounds: [practice('MDN, Using server-sent events')],
      uses: [heard],
      judge: ({ expect }) => expect().where(isEventStream, 'no stream of events was heard').toBeUncacheable(),
    }),

    // RFC 9110 §9.3.2: the same without content.
    check('events.head', {
      title: 'answers HEAD for a stream at once',
      headline: 'HEAD for a stream gets {answer}',
      why: 'Monitors and link checkers ask so, and hang.',
      change: 'Send the head of the response and end it, or refuse HEAD with 405.',
      grounds: [rfc9110('9.3.2', 'SHOULD')],
      uses: [heads],
      judge: ({ expect }) => expect().toBeHandled(),
    }),

    // What clients get to go on with.
    observation('events.streams', {
      title: 'has streams of these kinds',
      why: 'Without an id no client can go on where it was; a cache that keeps a stream shows old events.',
      grounds: [clause('events.streams')],
      uses: [heard],
      async observe({ probe, notApplicable }) {
        const { all, remark } = await probe(heard);
        if (all.length === 0) notApplicable(remark ?? 'no stream was heard');
        const seen = all.map((reply) => [
          `${reply.operation.method} ${reply.operation.template}`,
          streamTraits(reply),
        ]);
        return {
          seen: Object.fromEntries(seen),
          note: `${numberOf(all.length, 'stream was', 'streams were')} heard.`,
        };
      },
    }),
  ],
);

export const events = suite('events', 'Streams of events', checks);
