import { describe, expect, it } from 'vitest';
import { configOf, type GivenRow, type GivenRows, rowsOf, saidOf } from './fixtures/said.ts';
import { at, client, server, type TalkEvents, talk } from './fixtures/talk.ts';

const idle = (events: TalkEvents, more?: Parameters<typeof talk>[1]) => ({
  'websocket-idle': talk(events, more),
});
/** A service that pings each 10 s, and a client that answers. */
const PINGS = [
  at(10_000, server.ping('a')),
  at(10_001, client.pong('a')),
  at(20_000, server.ping('b')),
  at(20_001, client.pong('b')),
];
const KEPT = [at(40_000, client.close(1000)), at(40_001, server.close(1000))];

const DOCUMENTED = configOf({ keepsIdleMs: 30_000 });
const LOGIN = { send: 'log in', expect: {} };
const GRAPHQL = [['Sec-WebSocket-Protocol', 'graphql-transport-ws']] as const;
const PUSHER = configOf({ dialect: 'pusher', echo: false });
const established = (seconds: number) =>
  server.json({
    event: 'pusher:connection_established',
    data: JSON.stringify({ socket_id: '1.2', activity_timeout: seconds }),
  });
const silent = (endMs: number, ...ends: TalkEvents): TalkEvents => [
  at(1, established(30)),
  ...ends.map((end) => at(endMs, end)),
];
const heartbeat = (atMs: number): TalkEvents => [
  at(atMs, server.text('{"type":"ping"}', { heartbeat: true })),
  at(atMs + 1, client.text('{"type":"pong"}', { heartbeat: true })),
];

const asked = (isAnswered: boolean, events: readonly string[]) => ({
  'websocket-asked-after-silence': {
    to: 'a WebSocket',
    evidence: 'e1',
    wanted: 'pusher:pong',
    isAnswered,
    events,
  },
});

const SAID: GivenRows = {
  'websocket.idle': [
    ['kept', idle(KEPT), /^observed: kept for at least 40 s$/],
    [
      'kept for less than 2 s',
      idle([at(1_999.4, client.close(1000))]),
      /^observed: kept for at least 1999 ms$/,
    ],
    ['kept for 2 s', idle([at(2_000, client.close(1000))]), /^observed: kept for at least 2 s$/],
    [
      'closed',
      idle([at(29_999, server.close(1001))]),
      /^observed: closed with 1001 after 29 s, without Ping$/,
    ],
    [
      'ended',
      idle([...PINGS, at(25_000, server.ends())]),
      /^observed: closed without a code after 25 s, after 2 Pings$/,
    ],
    [
      'closed after one Ping',
      idle([...PINGS.slice(0, 2), at(500, server.close(1000))]),
      /after 500 ms, after 1 Ping$/,
    ],
  ],
  'websocket.idle-kept': [
    ['kept', idle(KEPT), /^pass/, DOCUMENTED],
    ['ended in time', idle([at(30_000, server.ends())]), /^pass/, DOCUMENTED],
    [
      'ended before',
      idle([at(29_999.4, server.ends())]),
      /^fail .*expected an open connection, got its end after 29999 ms/,
      DOCUMENTED,
    ],
    [
      'kept, and deaf',
      idle([at(30_000, client.ping('?')), at(30_500, client.waits(500))]),
      /^fail .*got one that answers no Ping/,
      DOCUMENTED,
    ],
    ['of no documented time', idle(KEPT), /^skipped: nothing says how long/],
    [
      'closed for want of a login',
      idle([at(3_000, server.close(4408))], { fields: GRAPHQL }),
      /^skipped: the service keeps no connection whose client does not log in/,
      DOCUMENTED,
    ],
    [
      'closed although the client logged in',
      idle([at(3_000, server.close(4408))], { fields: GRAPHQL }),
      /^fail .*got its end after 3000 ms/,
      configOf({ keepsIdleMs: 30_000, login: LOGIN }),
    ],
  ],
  'websocket.heartbeat': [
    ['without Pings', idle(KEPT), /^observed: no Ping$/],
    ['with Pings', idle([...PINGS, ...KEPT]), /^observed: Pings after 10000, 20000 ms$/],
    [
      'with six Pings',
      idle([1, 2, 3, 4, 5, 6].map((ms) => at(ms, server.ping()))),
      /^observed: Pings after 1, 2, 3, 4, 5 ms$/,
    ],
    [
      'with Pings and heartbeats',
      idle([at(5, server.ping()), ...heartbeat(7.4)]),
      /^observed: Pings after 5 ms, heartbeats after 7 ms$/,
    ],
  ],
  'websocket.answered-pings': [
    ['without Pings', idle([at(9_000, server.close(1001))]), /^skipped: the service sent no Ping/],
    ['kept', idle([...PINGS, ...KEPT]), /^pass/],
    [
      'ended after the second Ping',
      idle([...PINGS, at(30_500, server.ends())]),
      /^warning .*expected an open connection, got the end of TCP after 30 s/,
    ],
    [
      'closed after the second Ping',
      idle([...PINGS, at(30_500, server.close(1011))]),
      /^warning .*got the close code 1011 after 30 s/,
    ],
    [
      'closed without a code',
      idle([...PINGS, at(30_500, server.close())]),
      /^warning .*got the close code none after 30 s/,
    ],
    ['closed for a restart', idle([...PINGS, at(30_500, server.close(1012))]), /^pass/],
  ],
  'websocket.answered-heartbeats': [
    ['without heartbeats', idle(KEPT), /^skipped: the service sent no heartbeat/],
    ['kept', idle([...heartbeat(10_000), ...KEPT]), /^pass/],
    [
      'closed with a reason',
      idle([...heartbeat(10_000), at(20_000, server.close(4000, 'no pong'))]),
      /got the close code 4000 "no pong" after 20 s/,
    ],
    [
      'closed with an error',
      idle([...heartbeat(10_000), at(15_000, server.close(1011))]),
      /got the close code 1011 after 15 s/,
    ],
  ],
  'websocket.pusher-silence': [
    ['without a time', idle([at(9_000, server.ends())]), /^skipped: no activity_timeout came/, PUSHER],
    ['kept', idle([at(1, established(30)), ...KEPT]), /^pass/, PUSHER],
    ['ended in time', idle(silent(30_000, server.ends())), /^pass/, PUSHER],
    ['ended before', idle(silent(29_999, server.ends())), /got the end of TCP after 29 s of 30 s/, PUSHER],
    [
      'closed before, for inactivity',
      idle(silent(20_000, server.close(4202))),
      /got the close code 4202 after 20 s of 30 s/,
      PUSHER,
    ],
    ['closed before, for a restart', idle(silent(20_000, server.close(1012))), /^pass/, PUSHER],
    ['of no Pusher', idle(silent(20_000, server.ends())), /^skipped: websocket.dialect is not pusher/],
  ],
  'websocket.heartbeat-after-silence': [
    ['answered', asked(true, ['a', 'pusher:pong']), /^pass/, PUSHER],
    ['not answered', asked(false, []), /^(?:fail|warning) .*expected pusher:pong, got nothing/, PUSHER],
    ['answered otherwise', asked(false, ['a', 'b']), /expected pusher:pong, got only a, b/, PUSHER],
    [
      'not asked',
      { 'websocket-asked-after-silence': null },
      /^skipped: no heartbeat was sent: there is none, or the connection had ended/,
      PUSHER,
    ],
  ],
};

const lost = (how: string | null): GivenRow[1] => ({
  'websocket-others-kept': { to: 'a WebSocket', evidence: 'e1', lost: how },
});

describe('a connection that is left alone', () => {
  it.each(rowsOf(SAID))('$id: $what', async ({ id, given, said, config }) => {
    expect(await saidOf(id, given, config)).toMatch(said);
  });

  it('is not to end over the frames of another one', async () => {
    expect(await saidOf('websocket.others-kept', lost(null))).toMatch(/^pass/);
    expect(await saidOf('websocket.others-kept', lost('the end of TCP on another one'))).toMatch(
      /got the end of TCP on another one/,
    );
  });
});
