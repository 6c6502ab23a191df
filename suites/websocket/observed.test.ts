import { expect, it } from 'vitest';
import type { ServiceConfig } from '../../harness/config/service.ts';
import type { GivenEvidence } from '../tests/fixtures/given.ts';
import { configOf, seenIn } from './fixtures/said.ts';
import { at, client, server, type TalkEvents, talk } from './fixtures/talk.ts';

const idle = (...events: TalkEvents) => ({ 'websocket-idle': talk(events) });
const FOR_5_S = configOf({ keepsIdleMs: 5_000 });
const QUERY = configOf({ credential: { in: 'query', name: 'key' } });
const answered = (status: number | null, extension: string | null) =>
  talk([], {
    status,
    fields: extension === null ? [] : [['Sec-WebSocket-Extensions', extension]],
  });
const heartbeat = server.text('{"type":"ping"}', { heartbeat: true });

type Row = readonly [id: string, what: string, given: GivenEvidence, seen: unknown, config?: ServiceConfig];

/** Values that are compared from run to run: nothing that differs from one run of a service to the next. */
const ROWS: readonly Row[] = [
  ['idle', 'kept for 40 s', idle(at(40_000, client.close(1000))), { keptMs: 1_000 }],
  ['idle', 'kept for 40 s', idle(at(40_000, client.close(1000))), { keptMs: 5_000 }, FOR_5_S],
  ['idle', 'closed within a second', idle(at(999, server.close(1001))), { closedWith: 1001 }],
  ['idle', 'closed after a second', idle(at(1_000, server.close(1001))), { keptMs: 1_000 }],
  ['idle', 'closed after a second', idle(at(1_000, server.close(1001))), { closedWith: 1001 }, FOR_5_S],
  ['heartbeat', 'no Ping', idle(), { pings: 0 }],
  ['heartbeat', 'early Pings', idle(at(999, server.ping()), at(1_000, server.ping())), { pings: 1 }],
  [
    'heartbeat',
    'early heartbeats',
    idle(at(5, heartbeat), at(999, heartbeat), at(1_000, heartbeat)),
    { pings: 0, heartbeats: 2 },
  ],
  ['heartbeat', 'a late heartbeat', idle(at(2_000, heartbeat)), { pings: 0 }],
  ['unmasked-code', 'a code', { 'websocket-unmasked': [talk([server.close(1002)])] }, 1002],
  ['unmasked-code', 'nothing', { 'websocket-unmasked': [] }, null],
  ['deflate', 'taken', { 'websocket-deflate-offer': answered(101, 'x') }, 'x'],
  ['deflate', 'declined', { 'websocket-deflate-offer': answered(101, null) }, null],
  ['deflate-fallback', 'taken', { 'websocket-deflate-fallback-offer': [answered(101, 'x')] }, 'x'],
  ['deflate-fallback', 'declined', { 'websocket-deflate-fallback-offer': [answered(101, null)] }, null],
  ['deflate-fallback', 'refused', { 'websocket-deflate-fallback-offer': [answered(400, null)] }, 400],
  ['deflate-fallback', 'not sent', { 'websocket-deflate-fallback-offer': [] }, null],
  ['key-needs-query', 'served', { 'websocket-key-in-header': talk([]) }, false, QUERY],
  ['key-needs-query', 'refused', { 'websocket-key-in-header': answered(401, null) }, true, QUERY],
  [
    'refusal',
    'a status and a code',
    {
      'websocket-without-credential': answered(401, null),
      'websocket-wrong-credential': talk([server.close(4401)]),
    },
    { missing: 401, wrong: '101, then close code 4401' },
  ],
  ['first-message', 'nothing', { 'websocket-taken': talk([]) }, null],
  [
    'first-message',
    'a text',
    { 'websocket-taken': talk([server.text('hello')]) },
    { kind: 'text', dialect: null, event: null },
  ],
  [
    'first-message',
    'an event',
    { 'websocket-taken': talk([server.json({ event: 'hello', data: {} })]) },
    { kind: 'text', dialect: null, event: 'hello' },
  ],
  [
    'max-message',
    'none',
    { 'websocket-long-echoes': talk([client.text('x'.repeat(65_535)), server.close(1009)]) },
    { taken: null, refused: 65_535 },
  ],
  [
    'max-message',
    'one of two',
    {
      'websocket-long-echoes': talk([
        client.text('a'),
        server.text('a'),
        client.text('bc'),
        server.close(1009),
      ]),
    },
    { taken: 1, refused: 2 },
  ],
  [
    'connections',
    'one of two',
    { 'websocket-many-connections': [{ conversation: talk([]) }, { conversation: null }] },
    { asked: 2, taken: 1 },
  ],
  [
    'latency',
    'of four messages',
    { 'websocket-latency': { path: 'a', tookMs: [1, 2.04, 3, 4] } },
    { path: 'a', messages: 4, p50Ms: 2, p95Ms: 4 },
  ],
];

it.each(ROWS.map((row) => ({ row })))(
  'websocket.$row.0: $row.1',
  async ({ row: [id, , given, seen, config] }) => {
    expect(await seenIn(`websocket.${id}`, given, config)).toEqual(seen);
  },
);
