import { expect, it } from 'vitest';
import { configOf, type GivenRow, type GivenRows, rowsOf, saidOf } from './fixtures/said.ts';
import { at, client, server, type TalkEvents, talk } from './fixtures/talk.ts';

const PUSHER = configOf({ dialect: 'pusher', echo: false });
const KEYLESS = configOf(
  { dialect: 'pusher', echo: false },
  { credentials: { ...PUSHER.credentials, app: null } },
);

const event = (name: string, more: object = {}) => server.json({ event: name, data: '{}', ...more });
const established = (data: unknown) =>
  server.json({
    event: 'pusher:connection_established',
    data: typeof data === 'string' ? data : JSON.stringify(data),
  });
const subscribed = (channel: string, more: object = {}) =>
  event('pusher_internal:subscription_succeeded', { channel, ...more });
const PONG = event('pusher:pong');
const asked = (channel: string) => client.json({ event: 'pusher:subscribe', data: { channel } });

const greets = (...events: TalkEvents) => ({ 'websocket-pusher-client': talk(events) });
const says = (...events: TalkEvents) => ({ 'websocket-pusher-established': talk(events) });

/** Error codes of the protocol, by pusher:error or by the Close. */
const refusedWith = (probe: string, code: number, more: GivenRow[1] = {}): readonly GivenRow[] => [
  ['a Close', { ...more, [probe]: talk([server.close(code)]) }, /^pass/],
  ['pusher:error', { ...more, [probe]: talk([event('pusher:error', { data: { code } })]) }, /^pass/],
  ['an HTTP error', { ...more, [probe]: talk([], { status: 404 }) }, /^pass/],
  [
    'no answer',
    { ...more, [probe]: talk([], { status: null }) },
    new RegExp(`expected the code ${code}, got no answer`),
  ],
  ['another Close', { ...more, [probe]: talk([server.close(code + 1)]) }, new RegExp(`got ${code + 1}`)],
  ['the end of TCP', { ...more, [probe]: talk([server.ends()]) }, /got the end of TCP/],
  ['an open connection', { ...more, [probe]: talk([client.waits(9)]) }, /got an open connection after 9 ms/],
];

const PRESENCE = 'presence-conform';
const present = (ids: unknown) => ({
  'websocket-pusher-present': talk([subscribed(PRESENCE, { data: JSON.stringify({ presence: { ids } }) })]),
});

const malformed = (...events: TalkEvents) => ({
  'websocket-pusher-malformed-events': talk(events),
});
const FORGED = 'private-conform-other-secret';
const FORGERIES = [
  'private-conform-other-app',
  FORGED,
  'private-conform-other-socket',
  'private-conform-other-channel',
  'private-conform-empty-signature',
  'presence-conform-other-user',
];
const refusedBy = (channels: readonly string[]) =>
  channels.map((channel) => event('pusher:subscription_error', { channel }));
const forged = (...events: TalkEvents) => ({
  'websocket-pusher-forged-subscriptions': [talk(events)],
});
const twice = (...events: TalkEvents) => ({
  'websocket-pusher-repeated-subscription': talk(events),
});
const ONCE = event('client-conform-once');
const forbidden = (unsent: string | null, ...events: TalkEvents) => ({
  'websocket-pusher-forbidden-client-events': { subscriber: talk(events), unsent },
});

/** The Pusher Channels protocol, version 7, on conversations as they were recorded. */
const SAID: GivenRows = {
  'websocket.pusher-ping': [
    ['pusher:pong', says(established({}), PONG), /^pass/],
    ['another event', says(established({}), event('a')), /got only pusher:connection_established, a for /],
  ],
  'websocket.pusher-private-channel': [
    ['an error', says(asked('private-conform'), ...refusedBy(['private-conform'])), /^pass/],
    [
      'a subscription',
      says(asked('private-conform'), subscribed('private-conform')),
      /expected a subscription error, got subscription_succeeded/,
    ],
    [
      'nothing, where a public one was confirmed',
      says(subscribed('conform-public'), asked('private-conform'), client.waits(9)),
      /^pass/,
    ],
    [
      'nothing, where a signed one was confirmed',
      says(asked('private-conform'), subscribed('private-conform-signed')),
      /^pass/,
    ],
    [
      'nothing, as each subscription',
      says(asked('private-conform'), client.waits(9)),
      /^blocked: no subscription was answered, so silence would prove nothing/,
    ],
    [
      'an error for another channel',
      says(asked('private-conform'), ...refusedBy(['private-other'])),
      /^blocked: no subscription was answered/,
    ],
    [
      'no question',
      says(subscribed('conform-public'), server.close(4000)),
      /^blocked: the connection ended before a subscription to private-conform was sent/,
    ],
  ],
  'websocket.pusher-established': [
    ['its greeting', greets(established({ socket_id: '1.2' })), /^pass/],
    ['nothing', greets(client.ping()), /got no event/],
    ['another greeting', greets(event('hello')), /got hello/],
    ['no socket_id', greets(established({})), /got the socket_id none/],
    ['a socket_id that is a number', greets(established({ socket_id: 1.2 })), /got the socket_id 1\.2/],
    ...['x1.2', '1.2x', '12', '1.', 'a.b'].map(
      (id) => [`the socket_id ${id}`, greets(established({ socket_id: id })), /got the socket_id "/] as const,
    ),
    ['data that is no JSON', greets(established('{')), /got (?!the socket_id).*JSON/],
  ],
  'websocket.pusher-activity-timeout': [
    ['seconds', says(established({ activity_timeout: 120 })), /^pass/],
    ['a part of a second', says(established({ activity_timeout: 0.5 })), /^pass/],
    ['no seconds', says(established({ activity_timeout: 0 })), /got 0 for /],
    ['a text', says(established({ activity_timeout: '120' })), /got "120" for /],
    ['nothing', says(established({})), /got none for /],
    [
      'seconds twice',
      says(established({ activity_timeout: 'x' }), established({ activity_timeout: 5 })),
      /got "x" for /,
    ],
    [
      'seconds in another event',
      says(server.json({ event: 'a', data: { activity_timeout: 5 } }), established({})),
      /got none for /,
    ],
  ],
  'websocket.pusher-subscribe': [
    ['confirmed', says(subscribed('conform-public')), /^pass/],
    [
      'another channel confirmed',
      says(subscribed('conform')),
      /got only pusher_internal:subscription_succeeded for /,
    ],
  ],
  'websocket.pusher-signed-channel': [
    ['no application', says(), /^skipped: no application/, KEYLESS],
    ['confirmed', says(subscribed('private-conform-signed')), /^pass/],
    ['refused', says(PONG, event('pusher:subscription_error')), /got pusher:subscription_error for /],
    ['not answered', says(client.ping()), /got nothing for /],
  ],
  'websocket.pusher-unknown-app': refusedWith('websocket-pusher-unknown-app', 4001),
  'websocket.pusher-protocol-version': [
    ...refusedWith('websocket-pusher-unsupported-protocol', 4007, {
      'websocket-pusher-missing-protocol': talk([server.close(4008)]),
    }),
    ...refusedWith('websocket-pusher-missing-protocol', 4008, {
      'websocket-pusher-unsupported-protocol': talk([server.close(4007)]),
    }),
  ],
  'websocket.pusher-refusal-range': [
    ['4099', { 'websocket-pusher-refused-clients': [talk([server.close(4099)])] }, /^pass/],
    ['4100', { 'websocket-pusher-refused-clients': [talk([server.close(4100)])] }, /got 4100 \(/],
    [
      '1008',
      { 'websocket-pusher-refused-clients': [talk([server.close(1008)])] },
      /got 1008 \(no code of the protocol\)/,
    ],
    [
      'no code',
      { 'websocket-pusher-refused-clients': [talk([server.close()])] },
      /^skipped: no client was refused/,
    ],
  ],
  'websocket.pusher-presence': [
    ['itself', present(['a', 'conform']), /^pass/],
    ['others alone', present(['a']), /got \["a"\] as ids/],
    ['a text', present('conform'), /got "conform" as ids/],
    ['no list', { 'websocket-pusher-present': talk([subscribed(PRESENCE)]) }, /got null as ids/],
    ['a refusal', { 'websocket-pusher-present': talk([event('pusher:error')]) }, /got pusher:error for /],
    ['nothing', { 'websocket-pusher-present': talk([]) }, /got no event for /],
    ['no application', present(['a']), /^skipped: no application/, KEYLESS],
  ],
  'websocket.pusher-malformed': [
    ['pusher:pong', malformed(event('pusher:error'), PONG), /^pass/],
    ['a Close', malformed(server.close(4000)), /^pass/],
    ['a Close before ours', malformed(server.close(4000), client.close(1000)), /^pass/],
    ['a Close without a code', malformed(server.close()), /got a Close without a code/],
    [
      'the answer to our Close alone',
      malformed(client.close(1000), server.close(1000), server.ends()),
      /got no pusher:pong, and an open connection/,
    ],
    ['another event alone', malformed(event('pusher:error'), client.waits(9)), /got no pusher:pong, and/],
    [
      'a Close at the time of ours',
      malformed(at(5, client.close(1000)), at(5, server.close(4000))),
      /got no pusher:pong, and/,
    ],
    ['the end of TCP', malformed(server.ends()), /got the end of TCP/],
    ['nothing', malformed(client.waits(9)), /got no pusher:pong, and an open connection after 9 ms/],
  ],
  'websocket.pusher-unasked-pong': [
    ['pusher:pong', { 'websocket-pusher-unasked-pong': talk([established({}), PONG]) }, /^pass/],
    [
      'an error',
      { 'websocket-pusher-unasked-pong': talk([established({}), event('pusher:error')]) },
      /got pusher:error for /,
    ],
    ['nothing', { 'websocket-pusher-unasked-pong': talk([]) }, /got no event for /],
  ],
  'websocket.pusher-forbidden-event': [
    ['no application', forbidden(null), /^skipped: no application/, KEYLESS],
    ['no event', forbidden(null, PONG), /^pass/],
    [
      'a public one',
      forbidden(null, PONG, event('client-conform-public')),
      /got a client event on a public channel/,
    ],
    [
      'a foreign one',
      forbidden(null, event('client-conform-foreign')),
      /got a client event on a channel that its sender has not entered/,
    ],
    [
      'an unmarked one',
      forbidden(null, event('conform-unmarked')),
      /got an event of a client without client-/,
    ],
    ['no question', forbidden('an event'), /^blocked: a connection ended before an event could show/],
    ['an event and its end', forbidden('an event', event('conform-unmarked')), /got an event of a client/],
  ],
  'websocket.pusher-forged-signature': [
    ['no application', forged(), /^skipped: no application/, KEYLESS],
    ['an error each', forged(...FORGERIES.map(asked), ...refusedBy(FORGERIES)), /^pass/],
    [
      'a subscription',
      forged(...FORGERIES.map(asked), ...refusedBy(FORGERIES.slice(2)), subscribed(FORGED)),
      /expected no subscription, got a subscription with the \[redacted\] of another application/,
    ],
    [
      'two subscriptions',
      forged(subscribed(FORGED), subscribed('presence-conform-other-user')),
      /got a subscription with the \[redacted\] of another application, the signature of another user/,
    ],
    [
      'nothing for one of them',
      forged(...FORGERIES.map(asked), ...refusedBy(FORGERIES.slice(1))),
      /^blocked: the key of another application was not judged: no subscription was answered/,
    ],
  ],
  'websocket.pusher-repeated-subscription': [
    ['no application', twice(), /^skipped: no application/, KEYLESS],
    ['the event once', twice(ONCE, PONG), /^pass/],
    ['the event twice', twice(ONCE, ONCE, PONG), /got it 2 times/],
    ['no event', twice(PONG, client.close(1000), server.close(1000)), /got it 0 times/],
    ['the end of the connection', twice(server.close(4009)), /^pass/],
    ['the event twice and the end', twice(ONCE, ONCE, server.close(4009)), /got it 2 times/],
  ],
};

it.each(rowsOf(SAID))('$id, where a client gets $what', async ({ id, given, said, config = PUSHER }) => {
  expect(await saidOf(id, given, config)).toMatch(said);
});
