import { expect, it } from 'vitest';
import { configOf, type GivenRow, type GivenRows, rowsOf, saidOf } from './fixtures/said.ts';
import { talk } from './fixtures/talk.ts';

const OWN = configOf({ dialect: 'own', echo: false });
const PAIRS = configOf({ echo: false, exchange: [{ send: 'ask', expect: {} }] });
const LOGIN = configOf({ login: { send: 'log in', expect: {} } });
const SCHEMAS = configOf({ echo: false, messages: { made: {}, gone: {} } });

const FULL = {
  greeting: 'hello',
  heartbeat: { send: 'ping', answer: 'pong' },
  subscribe: { channel: 'a', send: () => 'join', answer: 'joined' },
};
const heard = (dialect: object, ...events: readonly string[]) => ({
  'websocket-dialect': dialect,
  'websocket-dialect-heard': { to: 'a client', evidence: 'e1', events },
});
const answers = (wanted: string, otherwise: string): readonly GivenRow[] => [
  ['its answer', heard(FULL, 'hello', wanted), /^pass/, OWN],
  ['another', heard(FULL, 'hello', 'no'), new RegExp(`expected ${wanted}, got only hello, no`), OWN],
  ['nothing', heard(FULL), new RegExp(`expected ${wanted}, got no event`), OWN],
  ['nothing, and none is known', heard({}), new RegExp(`^skipped: ${otherwise}`), OWN],
  ['nothing of no dialect', heard(FULL), /^skipped: no dialect of its own is configured/],
];
const answer = (fault: string | null) => ({ to: 'a message', evidence: 'e1', fault });
const view = talk([], { id: 2 });
const event = (name: string, fault: string | null = null, unjudged: string | null = null) => ({
  event: name,
  data: {},
  conversation: view,
  fault,
  unjudged,
});
const events = (unread: string | null, ...all: readonly object[]) => ({
  'websocket-judged-events': { all, unread },
});

const SAID: GivenRows = {
  'websocket.login': [
    ['its answer', { 'websocket-login': answer(null) }, /^pass/, LOGIN],
    [
      'another',
      { 'websocket-login': answer('no message') },
      /expected an answer that fits its schema, got no message/,
      LOGIN,
    ],
  ],
  'websocket.exchange': [
    ['its answer', { 'websocket-exchange': [answer(null)] }, /^pass/, PAIRS],
    ['another', { 'websocket-exchange': [answer(null), answer('no message')] }, /got no message/, PAIRS],
  ],
  'websocket.exchange-fragments': [
    [
      'its answer',
      { 'websocket-exchange': [answer(null)], 'websocket-exchange-fragments': [answer(null)] },
      /^pass/,
      PAIRS,
    ],
    [
      'another',
      { 'websocket-exchange': [answer(null)], 'websocket-exchange-fragments': [answer('no message')] },
      /got no message/,
      PAIRS,
    ],
    [
      'another, as the whole message does',
      {
        'websocket-exchange': [answer(null), answer('no message')],
        'websocket-exchange-fragments': [answer('no message')],
      },
      /^blocked: a message that comes whole is not answered as configured/,
      PAIRS,
    ],
  ],
  'websocket.message-schema': [
    ['one of two events', events(null, event('made'), event('made')), /^pass: 1 of 2 events came/, SCHEMAS],
    ['both events', events(null, event('made'), event('gone')), /^pass: 2 of 2 events came/, SCHEMAS],
    ['no event', events(null), /^skipped: none of the events with a schema came/, SCHEMAS],
    [
      'an event that does not fit',
      events('a message is too long', event('gone', null, 'it has no end'), event('made', 'it is empty')),
      /^(?:fail|warning) \(e2\): expected made to fit its schema, got one in which it is empty/,
      SCHEMAS,
    ],
    [
      'an event that cannot be judged',
      events(null, event('gone', null, 'it has no end'), event('made', null, 'another')),
      /^blocked: gone: it has no end/,
      SCHEMAS,
    ],
    [
      'a message that was not read',
      events('a message is too long', event('made')),
      /^blocked: a message is too long/,
      SCHEMAS,
    ],
  ],
  'websocket.message-shapes': [
    ['events', { 'websocket-event-shapes': { a: null, b: null } }, /^observed: a, b$/],
    ['no event', { 'websocket-event-shapes': {} }, /^observed: no event without a schema came$/],
  ],
  'websocket.dialect-greeting': [
    ['its greeting', heard(FULL, 'hello', 'a'), /^pass/, OWN],
    ['another first', heard(FULL, 'a', 'hello'), /expected hello first, got a /, OWN],
    ['nothing', heard(FULL), /expected hello first, got no event/, OWN],
    ['nothing, and none is known', heard({}), /^skipped: the dialect has no greeting/, OWN],
  ],
  'websocket.dialect-heartbeat': answers('pong', 'the dialect has no heartbeat'),
  'websocket.dialect-subscribe': answers('joined', 'the dialect has no subscriptions'),
};

it.each(rowsOf(SAID))('$id, where a client gets $what', async ({ id, given, said, config }) => {
  expect(await saidOf(id, given, config)).toMatch(said);
});
