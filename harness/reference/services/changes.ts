import { bare, type HttpAnswer, type StreamPiece } from '../http/answer.ts';
import { fieldValue, type ReceivedRequest, type RequestCondition } from '../http/message.ts';
import type { Route } from '../http/routes.ts';

export const CHANGES = '/v1/changes';
export const CHANGE_LOG = `${CHANGES}/log`;
export const CHANGE_SEQUENCE = `${CHANGES}/sequence`;

const INDEXES = ['products', 'articles', 'prices', 'orders'] as const;
const RECORDS = INDEXES.map((index) => JSON.stringify({ index, at: '2026-03-02' }));

/** Milliseconds between signs of life, and how many of them are sent before the stream falls silent. */
const HEARTBEAT_MS = 4_000;
const HEARTBEATS = 40;

export const asksForChanges: RequestCondition = ({ path, method }) => path === CHANGES && method === 'GET';
export const asksForLog: RequestCondition = ({ path, method }) => path === CHANGE_LOG && method === 'GET';
export const asksForSequence: RequestCondition = ({ path, method }) =>
  path === CHANGE_SEQUENCE && method === 'GET';

/** The number of the last change that a client has seen; 0 for none. */
export function seenBy(request: ReceivedRequest): number {
  const id = fieldValue(request, 'last-event-id') ?? '';
  return /^\d{1,3}$/.test(id) ? Number(id) : 0;
}

export const changeEvent = (number: number): string =>
  `id: ${number}\nevent: changed\ndata: {"index":"${INDEXES[(number - 1) % INDEXES.length]}"}\n\n`;

export const piece = (text: string, afterMs = 10): StreamPiece => ({ afterMs, octets: Buffer.from(text) });

/** The changes so far but for those that the client has seen, and then signs of life. */
export function changesAfter(seen: number): readonly StreamPiece[] {
  const numbers = INDEXES.map((_, at) => at + 1).filter((number) => number > seen);
  const beats = Array.from({ length: HEARTBEATS }, () => piece(': nothing new\n\n', HEARTBEAT_MS));
  return [piece('retry: 3000\n\n'), ...numbers.map((number) => piece(changeEvent(number))), ...beats];
}

/** The answer with other octets in each piece of its stream. */
export const streamed =
  (change: (text: string) => string | Buffer) =>
  (answer: HttpAnswer): HttpAnswer => ({
    ...answer,
    ...(answer.stream && {
      stream: {
        ...answer.stream,
        pieces: answer.stream.pieces.map(({ afterMs, octets }) => ({
          afterMs,
          octets: Buffer.from(change(octets.toString('utf8'))),
        })),
      },
    }),
  });

export function streaming(
  mediaType: string,
  pieces: readonly StreamPiece[],
  end: NonNullable<HttpAnswer['stream']>['end'],
): HttpAnswer {
  return { ...bare('served', 200, [['Content-Type', mediaType]]), stream: { pieces, end } };
}

/** What goes on while the client listens: each change as an event, and the log of today. */
export function changes(): readonly Route[] {
  const records = (write: (record: string) => string) => RECORDS.map((record) => piece(write(record)));
  return [
    {
      template: CHANGES,
      methods: {
        GET: ({ request }) => streaming('text/event-stream', changesAfter(seenBy(request)), null),
      },
    },
    {
      template: CHANGE_LOG,
      methods: {
        GET: () =>
          streaming(
            'application/x-ndjson',
            records((each) => `${each}\n`),
            'whole',
          ),
      },
    },
    {
      template: CHANGE_SEQUENCE,
      methods: {
        GET: () =>
          streaming(
            'application/json-seq',
            records((each) => `\x1e${each}\n`),
            'whole',
          ),
      },
    },
  ];
}
