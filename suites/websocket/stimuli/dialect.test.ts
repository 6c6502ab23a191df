import { describe, expect, it } from 'vitest';
import { probed, resultOf } from '../fixtures/probed.ts';
import { configOf, selected } from '../fixtures/said.ts';
import { at, client, server, type TalkEvents, talk } from '../fixtures/talk.ts';
import { eventShapes, exchanged, heardByClient, judgedEvents, loggedIn } from './dialect.ts';

/** Events of a dialect of the user: `name data`. */
const DIALECT = {
  name: 'chat',
  read: (text: string) => {
    const [event = '', data] = text.split(' ');
    return data === undefined ? null : { event, data: JSON.parse(data) as unknown };
  },
};
const SCHEMAS = configOf({ messages: { made: { type: 'number' } } });
const said = (...events: TalkEvents) => talk(events);
const judged = (...all: readonly ReturnType<typeof talk>[]) =>
  resultOf(judgedEvents, {
    config: SCHEMAS,
    given: {
      'websocket-dialect': DIALECT,
      'websocket-talks': [],
      'websocket-every-conversation': selected(...all),
    },
  });

describe('events that the config has schemas for', () => {
  it('are judged by them, heartbeats too', async () => {
    const view = said(
      server.text('made 1'),
      server.text('made "a"'),
      server.text('other 1'),
      server.text('nothing'),
      server.binary('made 2'),
      server.text('made 3', { heartbeat: true }),
    );
    expect(await judged(view)).toMatchObject({
      all: [
        { event: 'made', data: 1, fault: null, unjudged: null },
        { event: 'made', data: 'a', fault: expect.stringContaining('must be number'), unjudged: null },
        { event: 'made', data: 3, fault: null },
      ],
      unread: null,
    });
  });

  it('may be too long to be read, unless one of ours is', async () => {
    const cut = server.text('made', { truncated: true });
    const unread = 'a message for opening handshake is too long to be judged';
    expect(await judged(said(server.text('made 1')), said(cut))).toMatchObject({ unread });
    expect(await judged(said(client.text('a', { truncated: true }), cut))).toMatchObject({ unread: null });
    expect(await judged(said(client.text('a'), cut))).toMatchObject({ unread });
    expect(await judged(said(server.binary('made', { truncated: true })))).toMatchObject({ unread: null });
  });
});

it('the shapes of events without a schema are those of the first of each name, by name', async () => {
  const shapes = await resultOf(eventShapes, {
    config: SCHEMAS,
    given: {
      'websocket-dialect': DIALECT,
      'websocket-talks': [
        said(server.text('b 1'), server.text('made 1'), server.text('a "x"'), server.text('a 2')),
        said(server.text('c 1', { heartbeat: true }), server.text('b "x"')),
      ],
    },
  });
  expect(Object.entries(shapes)).toEqual([
    ['a', { type: 'string' }],
    ['b', { type: 'number' }],
  ]);
});

it('the client of a dialect has heard what it can read, in its order', async () => {
  const given = {
    'websocket-dialect': DIALECT,
    'websocket-dialect-client': said(server.text('b 1'), server.text('?'), server.text('a 1')),
  };
  expect(await resultOf(heardByClient, { given })).toMatchObject({ events: ['b', 'a'] });
});

const ALIVE = { 'websocket-alive': talk([]) };
const CLOSED = [client.close(1000), server.close(1000), server.ends()];
const answered = (answer: string) => said(client.text('ask'), server.text(answer), ...CLOSED);

describe('messages of the config', () => {
  const pairs = (...expected: readonly object[]) =>
    configOf({ exchange: expected.map((expect) => ({ send: 'ask', expect })) });

  it('are sent one by one, unless the first went along', async () => {
    const config = pairs({ const: 'yes' }, { const: 'no' }, { const: 'perhaps' });
    const rode = answered('yes');
    const beside = Array.from({ length: 12 }, () => ({ said: '', isServed: true, conversation: rode }));
    const { result, purposes } = await probed(exchanged, {
      config,
      given: { ...ALIVE, 'websocket-many-connections': beside },
      conversation: () => answered('no'),
    });
    expect(result).toMatchObject([
      { conversation: rode, fault: null },
      { fault: null },
      { fault: 'one in which the whole must be equal to constant (const)' },
    ]);
    expect(purposes).toEqual(Array(2).fill('a WebSocket with a message of the config'));
  });

  it('are answered by a greeting in no case', async () => {
    const loose = pairs({ type: 'string' });
    const asked = [at(10, client.text('ask')), at(20, server.text('hello'))];
    const quiet =
      (...events: TalkEvents) =>
      async () => {
        const { result, purposes } = await probed(exchanged, {
          config: loose,
          given: ALIVE,
          conversation: (purpose) =>
            purpose.includes('nothing is said')
              ? said(...events)
              : purpose.includes('after its greeting')
                ? said(server.text('hello'), client.text('ask'), ...CLOSED)
                : said(...asked, at(30, client.close(1000))),
        });
        return [purposes.length, (result as readonly { fault: string | null }[])[0]?.fault];
      };
    // It greets a client that says nothing, so the message is sent once more.
    expect(await quiet(server.text('hello'))()).toEqual([3, 'no message but the greeting']);
    expect(await quiet(client.waits(9))()).toEqual([2, null]);
    expect(await quiet(server.binary('hello'))()).toEqual([2, null]);
  });

  it.each<readonly [string, Parameters<typeof configOf>[0], TalkEvents]>([
    [
      'where its schema takes no greeting',
      { exchange: [{ send: 'ask', expect: { const: 'hello' } }] },
      [client.text('ask'), server.text('hello')],
    ],
    [
      'where the service has spoken before',
      { exchange: [{ send: 'ask', expect: { type: 'string' } }] },
      [server.text('hello'), client.text('ask'), server.text('hello')],
    ],
    [
      'where two messages fit',
      { exchange: [{ send: 'ask', expect: { type: 'string' } }] },
      [client.text('ask'), server.text('hello'), server.text('hello')],
    ],
    ['where nothing came', { exchange: [{ send: 'ask', expect: { type: 'string' } }] }, [client.text('ask')]],
    [
      'after a login',
      { exchange: [{ send: 'ask', expect: { type: 'string' } }], login: { send: 'log in', expect: {} } },
      [client.text('ask'), server.text('hello')],
    ],
  ])('are answered beyond doubt %s', async (_, config, events) => {
    const { purposes } = await probed(exchanged, {
      config: configOf(config),
      given: ALIVE,
      conversation: () => said(...events, ...CLOSED),
    });
    expect(purposes).toHaveLength(1);
  });
});

describe('the login of the config', () => {
  it('is judged by its answer', async () => {
    const config = configOf({ login: { send: 'ask', expect: { const: 'yes' } } });
    const loggedInBy = (answer: string) =>
      resultOf(loggedIn, { config, given: ALIVE, conversation: () => answered(answer) });
    expect(await loggedInBy('yes')).toMatchObject({ fault: null });
    expect(await loggedInBy('no')).toMatchObject({ fault: expect.stringContaining('constant') });
  });

  it('may be missing', async () => {
    expect(await resultOf(loggedIn, { given: ALIVE })).toBe(
      'skipped: no login is configured (websocket.login)',
    );
  });
});
