import { expect, it } from 'vitest';
import { configOf, type GivenRows, rowsOf, saidOf } from './fixtures/said.ts';
import { client, server, type TalkEvents, talk } from './fixtures/talk.ts';
import { BURST } from './stimuli/liveness.ts';

const LONG = 'x'.repeat(65_535);
const MIB = 'z'.repeat(1 << 20);
const long = (...events: TalkEvents) => ({ 'websocket-long-echoes': talk(events) });

const texts = Array.from({ length: BURST }, (_, index) => `conform ${index}`);
const burst = (back: readonly string[], ...ends: TalkEvents) => ({
  'websocket-burst': talk([client.octets(), ...back.map((text) => server.text(text)), ...ends]),
});
const [first = '', second = '', ...others] = texts;
const beside = (conversation: ReturnType<typeof talk> | null) => ({ said: '', isServed: true, conversation });

const PUSHER = configOf({ dialect: 'pusher', echo: false });
const KEYLESS = configOf(
  { dialect: 'pusher', echo: false },
  { credentials: { ...PUSHER.credentials, app: null } },
);
const event = (name: string) => server.json({ event: name, data: {} });
const clientEvents = (tookMs: readonly number[], ...own: TalkEvents) => ({
  'websocket-pusher-client-events': {
    subscriber: talk([], { id: 1 }),
    sender: talk(own, { id: 2 }),
    latency: { path: 'published and received', tookMs },
  },
});
const latency = (tookMs: readonly number[]) => ({
  'websocket-latency': { path: 'sent and echoed', tookMs },
});

const SAID: GivenRows = {
  'websocket.reconnect': [
    [
      'at once',
      { 'websocket-comes-back': { conversation: talk([]), attempts: 1 } },
      /^pass: at the first attempt$/,
    ],
    ['later', { 'websocket-comes-back': { conversation: talk([]), attempts: 3 } }, /^pass: at attempt 3$/],
    [
      'never',
      { 'websocket-comes-back': { conversation: talk([], { status: 429 }), attempts: 3 } },
      /^warning .*expected status 101, got status 429/,
    ],
  ],
  'websocket.max-message': [
    ['all', long(client.text(MIB), server.text(MIB)), /^observed: 1048576 bytes accepted, nothing refused/],
    [
      'none but the first in time',
      long(client.text(LONG), server.text(LONG)),
      /^skipped: messages come back so slowly that none longer than 65535 bytes was tried/,
    ],
    [
      'the first alone',
      long(client.text(LONG), server.text(LONG), client.text(MIB), server.close(1009)),
      /^observed: 65535 bytes accepted, 1048576 refused/,
    ],
    ['none', long(client.text(LONG), server.close(1009)), /^observed: no bytes accepted, 65535 refused/],
  ],
  'websocket.burst-order': [
    ['in order', burst(texts), /^pass/],
    ['in order, with others between', burst([first, 'welcome', second, ...others]), /^pass/],
    ['in another order', burst([second, first, ...others]), /^fail .*got "conform 1" before "conform 0"/],
    ['without the second', burst([first, ...others]), /^fail .*got 199 of them, and not "conform 1"/],
    ['with one twice', burst([...texts, first]), /^fail .*got 201 of them, some twice/],
    ...[1008, 1009, 1013].map(
      (code) =>
        [
          `a Close with ${code}`,
          burst([first], server.close(code)),
          new RegExp(`^skipped: so many messages at once are refused with the close code ${code}`),
        ] as const,
    ),
    ['a Close with 1011', burst([first], server.close(1011)), /^fail/],
    ['a Close with 1010', burst([first], server.close(1010)), /^fail/],
  ],
  'websocket.close-in-traffic': [
    [
      'answered',
      {
        'websocket-closed-in-traffic': talk([client.octets(), client.close(), server.close(), server.ends()]),
      },
      /^pass/,
    ],
    [
      'not answered',
      { 'websocket-closed-in-traffic': talk([client.octets(), client.close(), client.waits(9)]) },
      /^fail .*expected the connection to end/,
    ],
    [
      'answered before data',
      { 'websocket-closed-in-traffic': talk([client.close(), server.close(), server.text('a')]) },
      /^fail .*expected no data frame after the Close/,
    ],
  ],
  'websocket.connections': [
    [
      'two of three',
      { 'websocket-many-connections': [beside(talk([])), beside(null), beside(talk([]))] },
      /^observed: 2 of 3 \(safety.maxConnections\)/,
    ],
  ],
  'websocket.connections-apart': [
    [
      'nothing foreign',
      { 'websocket-connections-apart': [{ to: 'a', evidence: 'e1', foreign: null }] },
      /^pass/,
    ],
    [
      'something foreign',
      { 'websocket-connections-apart': [{ to: 'a', evidence: 'e1', foreign: 'b' }] },
      /^fail .*expected nothing of other connections, got "b"/,
    ],
  ],
  'websocket.latency': [
    [
      'of an echo',
      latency([1, 2, 3, 40.04]),
      /^observed: sent and echoed: p50 2\.0 ms, p95 40\.0 ms over 4 messages/,
    ],
    [
      'of twenty messages',
      latency(Array.from({ length: 20 }, (_, index) => index + 1)),
      /^observed: sent and echoed: p50 10\.0 ms, p95 19\.0 ms over 20 messages/,
    ],
    ['of nothing', latency([]), /^observed: sent and echoed: p50 none ms, p95 none ms over 0 messages/],
    [
      'of a subscriber',
      { ...clientEvents([5]), ...latency([1]) },
      /^observed: published and received: p50 5\.0 ms, p95 5\.0 ms over 1 messages/,
      PUSHER,
    ],
    ['without an application', latency([1]), /^skipped: nothing shows which messages come back/, KEYLESS],
    [
      'of an echo without an application',
      latency([1]),
      /^observed: sent and echoed/,
      configOf({ dialect: 'pusher' }, { credentials: { ...PUSHER.credentials, app: null } }),
    ],
  ],
  'websocket.pusher-client-event': [
    ['to the other', clientEvents([1]), /^pass/, PUSHER],
    ['to none', clientEvents([]), /^(?:fail|warning) \(e1\): expected the event, got none/, PUSHER],
    [
      'to its sender',
      clientEvents([1], event('pusher:pong'), event('client-conform'), event('client-other')),
      /^(?:fail|warning) \(e2\): expected nothing of its own, got client-conform/,
      PUSHER,
    ],
    ['and others to its sender', clientEvents([1], event('pusher:client-x')), /^pass/, PUSHER],
  ],
};

it.each(rowsOf(SAID))('$id: $what', async ({ id, given, said, config }) => {
  expect(await saidOf(id, given, config)).toMatch(said);
});
