import { describe, expect, it } from 'vitest';
import { Blocked } from '../../../harness/base/verdict.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import { probe } from '../../../harness/engine/session/probe.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { probed } from '../fixtures/probed.ts';
import { configOf } from '../fixtures/said.ts';
import { at, client, server, type TalkEvents, talk } from '../fixtures/talk.ts';
import * as errands from './errand.ts';

const PAIRS = configOf({ exchange: [{ send: 'ask', expect: { const: 'yes' } }] });
const NONE = configOf({ echo: false });

/** Whether a conversation in which this happened is the result of the errand; otherwise it is run alone. */
async function isTaken(errand: errands.Errand, view: ConversationView, config = configOf()) {
  const alone = talk([]);
  const { result, purposes } = await probed(
    {
      send: (port: Port) =>
        errands.runErrand(
          port,
          errand,
          errands.rideOf(
            probe('given', async () => view),
            (each) => each,
          ),
        ),
    },
    { given: { given: view }, config, conversation: () => alone },
  );
  expect(result).toBe(purposes.length === 0 ? view : alone);
  return purposes.length === 0;
}

const CLOSED = [client.close(1000), server.close(1000), server.ends()];
const PINGED = [client.ping('still there?'), server.pong('still there?')];
const BARE = [client.close(), server.close(), server.ends()];
const PIECE = client.text('conform', { fin: false });
const BETWEEN = [client.ping('between'), server.pong('between')];
const BYE = [client.close(4999, 'conform'), server.close(4999), server.ends()];
const BURST = Array.from({ length: 10 }, (_, index) => `conform ${index}`);
const LAST = [server.pong('conform 9')];

type Case = readonly [what: string, errand: errands.Errand, events: TalkEvents, isInOrder: boolean];

/** A result beyond doubt is taken from a connection that others have used; any other shows on a connection of its own. */
const CASES: readonly Case[] = [
  ['its code back', errands.GOING_AWAY, [client.close(1001), server.close(1001), server.ends()], true],
  ['1000 back', errands.GOING_AWAY, [client.close(1001), server.close(1000), server.ends()], true],
  ['another code back', errands.GOING_AWAY, [client.close(1001), server.close(1002), server.ends()], false],
  ['no code back', errands.GOING_AWAY, [client.close(1001), server.close(), server.ends()], false],
  ['no end', errands.GOING_AWAY, [client.close(1001), server.close(1001)], false],
  ['no Close', errands.GOING_AWAY, [client.close(1001), server.ends()], false],
  [
    'the Close of the service',
    errands.GOING_AWAY,
    [server.close(1001), client.close(1001), server.ends()],
    false,
  ],
  ['another Close', errands.GOING_AWAY, CLOSED, false],
  ['no code', errands.CLOSED, BARE, true],
  ['1000 for none', errands.CLOSED, [client.close(), server.close(1000), server.ends()], true],
  ['1001 for none', errands.CLOSED, [client.close(), server.close(1001), server.ends()], false],
  [
    'its own code',
    errands.CLOSED_WITH_REASON,
    [client.close(3000, 'conform'), server.close(3000), server.ends()],
    true,
  ],
  ['a reserved bit', errands.CLOSED, [client.close(), server.frame(8, '', { rsv: 2 }), server.ends()], false],

  ['a Ping before', errands.CLOSED, [client.ping('a'), server.pong('a'), ...BARE], true],
  ['an empty Ping, and another Close', errands.CLOSED, [client.ping(''), server.pong(''), ...CLOSED], false],
  [
    'a Close within a second message',
    errands.CLOSE_WITHIN_MESSAGE,
    [client.text('a'), PIECE, ...CLOSED],
    true,
  ],
  ['no end within a message', last(errands.HALF_CLOSES), [PIECE, client.leaves], false],
  [
    'an end before, within a message',
    last(errands.HALF_CLOSES),
    [PIECE, server.ends(), client.leaves],
    false,
  ],
  [
    '1000 for none after a Pong',
    errands.UNSOLICITED_PONG,
    [client.pong('unasked'), ...PINGED, client.close(), server.close(1000)],
    true,
  ],
  [
    'nine Pongs',
    errands.PING_BURST,
    [...BURST.slice(1), ''].flatMap((_, at) =>
      at < 9 ? [client.ping(BURST[at]), server.pong(BURST[at])] : BARE,
    ),
    false,
  ],

  ['a Close within a message', errands.CLOSE_WITHIN_MESSAGE, [PIECE, ...CLOSED], true],
  ['a Close after a message', errands.CLOSE_WITHIN_MESSAGE, [client.text('conform'), ...CLOSED], false],
  ['a Close without a message', errands.CLOSE_WITHIN_MESSAGE, CLOSED, false],
  ['no answer', errands.CLOSE_WITHIN_MESSAGE, [PIECE, client.close(1000), server.ends()], false],
  ['another code', errands.CLOSE_WITHIN_MESSAGE, [PIECE, client.close(1000), server.close(1002)], false],

  ['an end upon an end', first(errands.HALF_CLOSES), [client.leaves, server.ends()], true],
  ['an end at that moment', first(errands.HALF_CLOSES), [at(5, client.leaves), at(5, server.ends())], true],
  ['an end before', first(errands.HALF_CLOSES), [server.ends(), client.leaves], false],
  ['no end', first(errands.HALF_CLOSES), [client.leaves], false],
  ['an end without ours', first(errands.HALF_CLOSES), [server.ends()], false],
  [
    'an end behind a Close',
    first(errands.HALF_CLOSES),
    [client.close(), client.leaves, server.ends()],
    false,
  ],
  ['an end within a message', first(errands.HALF_CLOSES), [PIECE, client.leaves, server.ends()], false],
  ['an end within a message', last(errands.HALF_CLOSES), [PIECE, client.leaves, server.ends()], true],
  ['an end without a message', last(errands.HALF_CLOSES), [client.leaves, server.ends()], false],

  ['a Pong', errands.UNSOLICITED_PONG, [client.pong('unasked'), ...PINGED, ...BARE], true],
  ['no Pong of ours', errands.UNSOLICITED_PONG, [...PINGED, ...BARE], false],
  [
    'no Pong to the Ping',
    errands.UNSOLICITED_PONG,
    [client.pong('unasked'), client.ping('still there?'), ...BARE],
    false,
  ],
  [
    'a Close of the service',
    errands.UNSOLICITED_PONG,
    [client.pong('unasked'), ...PINGED, server.close(), client.close()],
    false,
  ],
  ['another Close of ours', errands.UNSOLICITED_PONG, [client.pong('unasked'), ...PINGED, ...CLOSED], false],

  [
    'all ten Pongs',
    errands.PING_BURST,
    [...BURST.map((each) => client.ping(each)), ...BURST.map((each) => server.pong(each)), ...BARE],
    true,
  ],
  [
    'the last Pong alone',
    errands.PING_BURST,
    [...BURST.map((each) => client.ping(each)), ...LAST, ...BARE],
    false,
  ],
  ['no Pings', errands.PING_BURST, BARE, false],

  ['a Pong between fragments', errands.PING_BETWEEN_FRAGMENTS, [PIECE, ...BETWEEN, ...BYE], true],
  ['a Pong after a message', errands.PING_BETWEEN_FRAGMENTS, [client.text('a'), ...BETWEEN, ...BYE], false],
  ['no Pong', errands.PING_BETWEEN_FRAGMENTS, [PIECE, client.ping('between'), ...BYE], false],
  ['no Ping', errands.PING_BETWEEN_FRAGMENTS, [PIECE, ...BYE], false],

  ['a message', errands.LAWFUL_MESSAGE, [client.text('a'), ...CLOSED], true],
  ['no message', errands.LAWFUL_MESSAGE, CLOSED, false],
  [
    'a message and a Close',
    errands.LAWFUL_MESSAGE,
    [client.text('a'), server.close(1003), client.close(1000)],
    false,
  ],

  ['messages in traffic', errands.CLOSED_IN_TRAFFIC, [client.octets(), ...CLOSED], true],
  ['no messages in traffic', errands.CLOSED_IN_TRAFFIC, CLOSED, false],
  ['no Close in traffic', errands.CLOSED_IN_TRAFFIC, [client.octets(), client.close(1000)], false],
];

function first<T>(all: readonly T[]): T {
  return all[0] as T;
}

function last<T>(all: readonly T[]): T {
  return all.at(-1) as T;
}

describe('an errand that went along', () => {
  it.each(CASES)('%s, for a WebSocket $1.what: $3', async (_, errand, events, isInOrder) => {
    expect(await isTaken(errand, talk(events))).toBe(isInOrder);
  });

  it('is in doubt on a connection that was not opened, or not heard to its end', async () => {
    const { kind, message } = { kind: 'body-too-large', message: 'too long' } as const;
    expect(await isTaken(errands.CLOSED, talk(BARE, { status: 200 }))).toBe(false);
    expect(await isTaken(errands.CLOSED, talk(BARE, { failure: { kind, message } }))).toBe(false);
  });

  it('is that of the config, with its answer', async () => {
    const said = (answer: string) => talk([client.text('ask'), server.text(answer), ...CLOSED]);
    for (const errand of [errands.EXCHANGE, errands.EXCHANGE_IN_FRAGMENTS]) {
      expect(await isTaken(errand, said('yes'), PAIRS)).toBe(true);
      expect(await isTaken(errand, said('no'), PAIRS)).toBe(false);
      expect(await isTaken(errand, said('yes'), NONE)).toBe(false);
    }
    expect(await isTaken(errands.exchangeAt(1), said('yes'), PAIRS)).toBe(false);
    const open = talk([client.text('ask'), server.text('yes'), client.close(1000)]);
    expect(await isTaken(errands.EXCHANGE, open, PAIRS)).toBe(false);
  });
});

describe('an errand goes along', () => {
  const along = async (errand: errands.Errand, config = configOf(), closeTimedOut = false) => {
    const { result } = await probed(
      { send: async (port: Port) => errands.mayGoAlong(port, errand) },
      { config, websocket: { closeTimedOut } },
    );
    return result;
  };

  it.each<readonly [string, errands.Errand, Parameters<typeof configOf>[0], boolean]>([
    ['whatever the config says', errands.CLOSED, { echo: false }, true],
    ['where messages come back', errands.CLOSED_IN_TRAFFIC, { echo: true }, true],
    ['and not where nothing comes back', errands.CLOSED_IN_TRAFFIC, { echo: false }, false],
    ['where the config has messages', errands.EXCHANGE, { exchange: [{ send: 'a', expect: {} }] }, true],
    ['and not where it has none', errands.EXCHANGE, {}, false],
    ['and not at a second place', errands.exchangeAt(1), { exchange: [{ send: 'a', expect: {} }] }, false],
  ])('%s', async (_, errand, config, isIt) => {
    expect(await along(errand, configOf(config))).toBe(isIt);
  });

  it('as long as the service ends its connections', async () => {
    expect(await along(errands.CLOSED, configOf(), true)).toBe(false);
  });

  it('with a handshake only after what has to be in order before it', async () => {
    let isSaid = false;
    const errand: errands.Errand = {
      ...errands.CLOSED,
      say: async () => {
        isSaid = true;
      },
      after: probe('before', async () => true),
    };
    const carried = async (before: unknown, closeTimedOut = false) => {
      isSaid = false;
      await probed(
        { send: (port: Port) => errands.carry(port, 'a WebSocket', errand) },
        {
          given: { before },
          websocket: {
            closeTimedOut,
            converse: async (_, conversing) => {
              await conversing?.({} as Parameters<typeof conversing>[0]);
              return talk([]);
            },
          },
        },
      );
      return isSaid;
    };
    expect(await carried(true)).toBe(true);
    expect(await carried(new Blocked('no'))).toBe(false);
    expect(await carried(true, true)).toBe(false);
    await expect(carried(new Error('a fault of the harness'))).rejects.toThrow('a fault');
  });
});
