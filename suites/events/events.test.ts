import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { described } from '../../harness/config/operation/openapi/fixtures/described.ts';
import { judgedServed, saidOf } from '../tests/fixtures/judged.ts';
import { events } from './events.suite.ts';

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Content that comes a little later; absent for none. */
  readonly later?: string;
  /** Absent: as HTTP ends a message. */
  readonly end?: 'never' | 'broken';
}

interface Asked {
  readonly method: string;
  readonly path: string;
  /** Last-Event-ID; null if it is not sent. */
  readonly seen: string | null;
}

type Answering = (asked: Asked) => Answer;

const EVENTS = 'text/event-stream';
const LINES = 'application/x-ndjson';

/** Operations of a document, by path and method, with the media type of each answer. */
type Streams = Readonly<Record<string, Readonly<Record<string, string>>>>;

const ONE: Streams = { '/changes': { get: EVENTS } };
const LOG: Streams = { '/log': { get: LINES } };
const TWO: Streams = { ...ONE, '/later': { get: EVENTS } };

function documentOf(streams: Streams) {
  const paths = Object.entries(streams).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, type]) => [
        method,
        {
          responses: { 200: { description: 'ok', content: { [type]: {} } } },
          ...(path.includes('{') && {
            parameters: [{ name: 'id', in: 'path', required: true, schema: { pattern: '^(?=a)b$' } }],
          }),
        },
      ]),
    ),
  ]);
  return { openapi: '3.1.0', info: { title: 'Changes', version: '1' }, paths: Object.fromEntries(paths) };
}

function send(
  { status = 200, type = EVENTS, fields = {}, body = '', later, end }: Answer,
  response: ServerResponse,
) {
  response.writeHead(status, { 'Content-Type': type, ...fields });
  response.flushHeaders();
  const finish = () => {
    if (end === undefined) response.end(later);
    if (end === 'broken') response.socket?.destroySoon();
  };
  response.write(body, later === undefined ? finish : () => setTimeout(finish, 5));
}

const RESUMED = 'events: { listen: 50ms, resume: true }\n';
const HEARD = 'events: { listen: 50ms }\n';

const CONFIGS = new Map<string, ReturnType<typeof described>>();

function configOf(streams: Streams, more: string): ReturnType<typeof described> {
  const key = JSON.stringify([streams, more]);
  const config = CONFIGS.get(key) ?? described(documentOf(streams), more);
  CONFIGS.set(key, config);
  return config;
}

async function judgedOf(answering: Answering, streams = ONE, more = RESUMED) {
  const serve = ({ method = '', url = '', headers }: IncomingMessage, response: ServerResponse) => {
    const seen = headers['last-event-id'] ?? null;
    send(answering({ method, path: url, seen: seen === null ? null : String(seen) }), response);
  };
  return judgedServed(serve, await configOf(streams, more), [events]);
}

const always =
  (answer: Answer): Answering =>
  () =>
    answer;
const at =
  (answers: Readonly<Record<string, Answer>>): Answering =>
  ({ path }) =>
    answers[path] ?? { status: 404, type: 'text/plain' };

const event = (id: string | null) => `${id === null ? '' : `id: ${id}\n`}data: x\n\n`;
const eventsOf = (...ids: readonly (string | null)[]): Answer => ({ body: ids.map(event).join('') });
/** `resumed`: what is sent to a client that has seen an event. */
const resuming =
  (first: Answer, resumed: Answer): Answering =>
  ({ seen }) =>
    seen === null ? first : resumed;

const SILENT: Answer = { end: 'never' };
const LONG = 'x'.repeat(60 * 1024);
const THREE = eventsOf('1', '2', '3');

type Row = readonly [what: string, answering: Answering, said: RegExp, streams?: Streams, more?: string];

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'events.first': [
    [
      'that is not documented',
      always(THREE),
      /^skipped: nothing is documented of that \(events\.firstWithin\)/,
    ],
    [
      'of JSON, which may begin later',
      always({ type: LINES, end: 'never' }),
      /^skipped/,
      LOG,
      'events: { listen: 1s, firstWithin: 1ms }\n',
    ],
    [
      'of events',
      always(SILENT),
      /^fail: .*nothing while/,
      ONE,
      'events: { listen: 1s, firstWithin: 1ms }\n',
    ],
  ],
  'events.heartbeat': [
    [
      'that is not documented',
      always(THREE),
      /^skipped: nothing is documented of that \(events\.heartbeat\)/,
    ],
    [
      'of JSON, which may pause',
      always({ type: LINES, body: '1\n', end: 'never' }),
      /^skipped/,
      LOG,
      'events: { listen: 1s, heartbeat: 1ms }\n',
    ],
  ],
  'events.encoding': [
    ['of nothing', always(SILENT), /^skipped: nothing came/],
    [
      'of nothing in Latin-1',
      always({ ...SILENT, type: `${EVENTS};charset=latin1` }),
      /^fail: .*charset=latin1/,
    ],
    ['of one event', always({ ...eventsOf('1'), end: 'never' }), /^pass/],
    ...['utf-8', 'utf8', '"UTF-8"'].map(
      (name) => [`in ${name}`, always({ ...THREE, type: `${EVENTS}; charset=${name}` }), /^pass/] as const,
    ),
    ...['utf-88', 'x-utf-8', 'utf-16'].map(
      (name) =>
        [
          `in ${name}`,
          always({ ...THREE, type: `${EVENTS}; charset=${name}` }),
          new RegExp(`^fail: .*charset=${name}`),
        ] as const,
    ),
    [
      'of a long first event',
      always({ body: `data: ${LONG}`, end: 'never' }),
      /^blocked: .*first part is longer/,
    ],
    [
      'of a long first event in Latin-1',
      always({ type: `${EVENTS}; charset=latin1`, body: `data: ${LONG}`, end: 'never' }),
      /^fail: .*charset=latin1/,
    ],
    ['of a long second event', always({ body: `${event('1')}data: ${LONG}`, end: 'never' }), /^pass/],
    ['that is over', always({ status: 204 }), /^skipped: it answers 204/],
    [
      'in place of which something is not found',
      always({ ...THREE, status: 404 }),
      /^blocked: .*is no stream/,
    ],
    [
      'in place of which JSON comes',
      always({ type: 'application/json', body: '1' }),
      /^blocked: .*is no stream/,
    ],
    [
      'in gzip',
      always({ body: gzipSync(event('1')), fields: { 'Content-Encoding': 'gzip' } }),
      /^blocked: .*content coding/,
    ],
    [
      'beside another operation',
      at({ '/changes': THREE, '/a': { type: 'application/json', body: '1' } }),
      /^pass: (?!.*Not exercised)/,
      { '/a': { get: 'application/json' }, ...ONE },
    ],
  ],
  'events.fields': [
    ['of nothing', always(SILENT), /^skipped: nothing came/],
    ['of JSON', always({ type: LINES, body: '1\n' }), /^skipped: no stream of events/, LOG],
    ['of one event', always({ ...eventsOf('1'), end: 'never' }), /^pass/],
    ['with a faulty second event', always({ body: `${event('1')}retry: x\n\n` }), /in part 2 of the stream/],
  ],
  'events.records': [
    ['of events', always(THREE), /^skipped: no stream of JSON/],
    ['of nothing', always({ ...SILENT, type: LINES }), /^skipped: nothing came/, LOG],
    ['with a half record at its end', always({ type: LINES, body: '1\n{"a"' }), /no JSON in part 2/, LOG],
    [
      'with a half record when it was left',
      always({ type: LINES, body: '1\n{"a"', end: 'never' }),
      /^pass/,
      LOG,
    ],
    [
      'with a half record when it broke',
      always({ type: LINES, body: '1\n{"a"', end: 'broken' }),
      /^pass/,
      LOG,
    ],
  ],
  'events.ended': [
    ['without an end', always({ ...THREE, end: 'never' }), /^skipped: no stream ended/],
    ['that breaks', always({ ...THREE, end: 'broken' }), /^(?:fail|warning)/],
    ['that ends', always(THREE), /^pass/],
  ],
  'events.uncacheable': [
    [
      'of JSON',
      always({ type: LINES, body: '1\n', fields: { 'Cache-Control': 'max-age=60' } }),
      /^skipped: no stream of events/,
      LOG,
    ],
    ['of events', always({ ...THREE, fields: { 'Cache-Control': 'max-age=60' } }), /max-age=60/],
  ],
  'events.resumed': [
    [
      'that is not documented',
      always(THREE),
      /^skipped: nothing is documented of that \(events\.resume\)/,
      ONE,
      HEARD,
    ],
    ['after the first event', resuming(THREE, eventsOf('2', '3')), /^pass/],
    ['and has more by now', resuming(THREE, eventsOf('2', '3', '4', '5')), /^pass/],
    ['and has only some by then', resuming(THREE, eventsOf('2')), /^pass/],
    ['and tells the client to come no more', resuming(THREE, { status: 204 }), /^pass/],
    ['and is refused', resuming(THREE, { ...eventsOf('2', '3'), status: 403 }), /got status 403/],
    ['from its beginning', resuming(THREE, THREE), /the event that the client names, once more/],
    ['without an event', resuming(THREE, {}), /got no event/],
    ['without the second', resuming(THREE, eventsOf('3')), /events that are missing, or out of order/],
    ['with the second one twice', resuming(THREE, eventsOf('2', '2')), /other events|missing/],
    ['with others', resuming(THREE, eventsOf('7', '8')), /other events/],
    [
      'with events between that have no id',
      resuming(eventsOf('1', null, null, '2'), { ...eventsOf(null), later: `${event(null)}${event('2')}` }),
      /^pass/,
    ],
    [
      'with a greeting that has no id',
      resuming(eventsOf(null, '1', '2'), { ...eventsOf(null), later: event('2') }),
      /^pass/,
    ],
    ['of two events', resuming(eventsOf('1', '2'), eventsOf('2')), /^pass/],
    ['of one event', always(eventsOf('1')), /^skipped: fewer than two events/],
    ['of one event without an id', always(eventsOf(null)), /^skipped: fewer than two events/],
    ['of one event and a comment', always({ body: `: hello\n\n${event(null)}` }), /^skipped: fewer than two/],
    ['of two events without ids', always(eventsOf(null, null)), /got events without an id/],
    ['of two events, of which one has an id', always(eventsOf('1', null)), /^blocked: .*ids are not one/],
    ['of events with the same id', always(eventsOf('1', '2', '2')), /^blocked: .*ids are not one/],
    ...['a b', 'a'.repeat(201), ' é'].map(
      (id) =>
        [`of the id ${id.slice(0, 9)}`, always(eventsOf(id, '2')), /^blocked: .*fit in no header/] as const,
    ),
    ['of a long id', resuming(eventsOf('a'.repeat(200), '2'), eventsOf('2')), /^pass/],
    [
      'with a long first event',
      resuming(THREE, { body: `data: ${LONG}`, end: 'never' }),
      /^blocked: .*first part is longer/,
    ],
    ['of JSON', always({ type: LINES, body: '{"id":1}\n{"id":2}\n' }), /^skipped: fewer than two/, LOG],
    [
      'beside one in gzip',
      at({ '/changes': THREE, '/later': { ...THREE, fields: { 'Content-Encoding': 'gzip' } } }),
      /^fail: .*once more/,
      TWO,
    ],
    [
      'as it should, beside one in gzip',
      ({ path, seen }) =>
        path === '/later'
          ? { ...THREE, fields: { 'Content-Encoding': 'gzip' } }
          : seen === null
            ? THREE
            : eventsOf('2', '3'),
      /^blocked: .*content coding/,
      TWO,
    ],
    ['in gzip', always({ ...THREE, fields: { 'Content-Encoding': 'gzip' } }), /^blocked: .*content coding/],
  ],
};

describe.concurrent.each(Object.entries(SAID))('a stream, for %s,', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, answering, said, ...setting] }) => {
    expect(saidOf(await judgedOf(answering, ...setting), id)).toMatch(said);
  });
});

describe.concurrent('the streams that were heard', () => {
  const seenOf = async (...setting: Parameters<typeof judgedOf>) =>
    (await judgedOf(...setting)).observations['events.streams'];

  it.each([
    [eventsOf('1'), { ids: true, cacheControl: null }],
    [eventsOf(null), { ids: false, cacheControl: null }],
    [
      { ...THREE, fields: { 'Cache-Control': 'no-store' } },
      { ids: true, cacheControl: 'no-store' },
    ],
  ])('are observed: %j', async (answer, seen) => {
    expect(await seenOf(always(answer))).toEqual({ 'GET /changes': { mediaType: EVENTS, ...seen } });
  });

  it('may be none, for one reason or another', async () => {
    const saidOfStreams = async (answer: Answer) => saidOf(await judgedOf(always(answer)), 'events.streams');
    expect(await saidOfStreams({ status: 204 })).toBe('skipped: no stream was heard');
    expect(await saidOfStreams({ status: 404 })).toMatch(/^skipped: Not exercised: .*is no stream/);
  });
});

it.each<readonly [string, Streams, readonly string[]]>([
  [
    'three of four',
    Object.fromEntries(['/a', '/b', '/c', '/d'].map((path) => [path, { get: EVENTS }])),
    ['/a', '/b', '/c'],
  ],
  ['none by POST', { '/a': { post: EVENTS }, '/b': { get: EVENTS } }, ['/b']],
  [
    'those that can be called',
    Object.fromEntries(['/a/{id}', '/b/{id}', '/c/{id}', '/d'].map((path) => [path, { get: EVENTS }])),
    ['/d'],
  ],
])('the head is asked for of %s', async (_, streams, heads) => {
  const asked: string[] = [];
  const noting: Answering = ({ method, path }) => {
    if (method === 'HEAD') asked.push(path);
    return THREE;
  };
  const all = await judgedOf(noting, streams, 'safety: { unsafeMethods: true }\n');
  expect(saidOf(all, 'events.head')).toMatch(/^pass/);
  expect(asked).toEqual(heads);
});
