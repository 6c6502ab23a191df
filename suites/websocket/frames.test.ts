import { expect, it } from 'vitest';
import { type GivenRows, rowsOf, saidOf, selected } from './fixtures/said.ts';
import { client, server, type TalkEvents, talk } from './fixtures/talk.ts';

const badFrame = (code?: number) => [talk([client.ping(), server.close(code), server.ends()])];
/** After a lawful message the service sends no Close, or one with this code. */
const lawful = (code?: number | null) => ({
  'websocket-lawful-message':
    code === null
      ? talk([client.text('a'), client.close(1000), server.close(1000)])
      : talk([client.text('a'), server.close(code)]),
});
const CODES: Readonly<Record<string, readonly [probes: readonly string[], lawful: readonly number[]]>> = {
  'reserved-bits-code': [['reserved-bits', 'reserved-bit-on-ping'], [1002]],
  'reserved-opcode-code': [['reserved-data-opcodes', 'reserved-control-opcodes'], [1002]],
  'control-frame-code': [
    ['fragmented-ping', 'overlong-ping'],
    [1002, 1009],
  ],
  'fragmentation-code': [['stray-continuation', 'interleaved'], [1002]],
  'bad-utf8-code': [['bad-utf8', 'bad-utf8-in-fragments'], [1007]],
};

/** RFC 6455 §7.1.7 and §7.4.1: a code for the fault, none, or the one that each message gets. */
const codes = Object.entries(CODES).map(([name, [probes, right]]) => {
  const evidence = (last: number | undefined) =>
    Object.fromEntries(
      probes.map((each, at) => [`websocket-${each}`, badFrame(at === 1 ? last : undefined)]),
    );
  const wrong = [1002, 1003, 1007, 1008, 1009, 1010].filter((code) => !right.includes(code));
  return [
    `websocket.${name}`,
    [
      ...[...right, undefined].map(
        (code) => [`it closes with ${code}`, { ...lawful(null), ...evidence(code) }, /^pass/] as const,
      ),
      ...wrong.map(
        (code) =>
          [
            `it closes with ${code}`,
            { ...lawful(null), ...evidence(code) },
            new RegExp(`^warning .*got ${code} `),
          ] as const,
      ),
      ['it says so to each message', { ...lawful(1003), ...evidence(1003) }, /^pass/],
      ['it says another code to each', { ...lawful(1003), ...evidence(1008) }, /^warning .*got 1008/],
      ['it ends each without a code', { ...lawful(undefined), ...evidence(1008) }, /^warning .*got 1008/],
    ],
  ] as const;
});

const record = (...events: TalkEvents) => ({
  'websocket-every-conversation': selected(talk(events)),
});
const NO_TEXT = Uint8Array.of(0x63, 0xff);
const PINGS = ['1', '2', '3'].map((payload) => client.ping(payload));
const kept = (...events: TalkEvents) => ({ 'websocket-kept': talk(events) });
const between = (...events: TalkEvents) => ({
  'websocket-ping-between-fragments': talk(events),
});

/** RFC 6455 §5, on conversations as they were recorded. */
const SAID: GivenRows = {
  ...Object.fromEntries(codes),
  'websocket.unmasked-code': [
    ['a code', { 'websocket-unmasked': badFrame(1002) }, /^observed: the close code 1002/],
    ['no code', { 'websocket-unmasked': badFrame() }, /^observed: no code/],
    ['nothing', { 'websocket-unmasked': [talk([client.waits(9)])] }, /^observed: no code/],
  ],
  'websocket.unsolicited-pong': [
    [
      'a later Ping is answered',
      { 'websocket-unsolicited-pong': talk([client.pong('x'), client.ping('y'), server.pong('y')]) },
      /^pass/,
    ],
    [
      'it closes',
      { 'websocket-unsolicited-pong': talk([client.pong('x'), client.ping('y'), server.close(1002)]) },
      /^(?:fail|warning) .*expected the connection to go on, got the close code 1002/,
    ],
    [
      'it closes without a code',
      { 'websocket-unsolicited-pong': talk([client.ping('y'), server.close(), server.ends()]) },
      /got the close code none/,
    ],
    [
      'it ends',
      { 'websocket-unsolicited-pong': talk([client.ping('y'), server.ends()]) },
      /got the end of TCP/,
    ],
    [
      'it is silent',
      { 'websocket-unsolicited-pong': talk([client.ping('y'), client.waits(9)]) },
      /got no Pong to a later Ping/,
    ],
  ],
  'websocket.ping-burst': [
    ['the last is answered', { 'websocket-ping-burst': talk([...PINGS, server.pong('3')]) }, /^pass/],
    [
      'all but the last are answered',
      { 'websocket-ping-burst': talk([...PINGS, server.pong('1'), server.pong('2')]) },
      /^fail .*expected a Pong for the last Ping, got 2 others/,
    ],
    ['none is sent', { 'websocket-ping-burst': talk([server.close()]) }, /^fail .*got 0 others/],
  ],
  'websocket.failure-announced': [
    ['a Close', { ...lawful(null), 'websocket-failures': [talk([server.close(), server.ends()])] }, /^pass/],
    [
      'the end of TCP alone',
      { ...lawful(null), 'websocket-failures': [talk([server.ends()])] },
      /^warning .*expected a Close frame, got the end of TCP/,
    ],
    [
      'a reset, which may have destroyed the Close',
      { ...lawful(null), 'websocket-failures': [talk([server.ends('reset')])] },
      /^pass/,
    ],
    ['none, and no end', { ...lawful(null), 'websocket-failures': [talk([client.waits(9)])] }, /^pass/],
    [
      'an endpoint that drops each message',
      {
        'websocket-lawful-message': talk([client.text('a'), server.ends()]),
        'websocket-failures': [talk([server.ends()])],
      },
      /^skipped: the endpoint closes the connection after a lawful message, too/,
    ],
    [
      'an endpoint that answers no Close',
      {
        'websocket-lawful-message': talk([client.text('a'), client.close(1000), client.waits(9)]),
        'websocket-failures': [talk([server.ends()])],
      },
      /^warning .*got the end of TCP/,
    ],
    [
      'an endpoint that closes after each message',
      { ...lawful(1003), 'websocket-failures': [talk([server.ends()])] },
      /^warning .*got the end of TCP/,
    ],
  ],
  'websocket.ping': [
    ['its Pong', kept(client.ping('a'), server.pong('a')), /^pass/],
    ['another Pong', kept(client.ping('a'), server.pong('ab')), /^fail .*got one with 2 other octets/],
  ],
  'websocket.ping-between-fragments': [
    ['its Pong', { ...lawful(null), ...between(client.ping('a'), server.pong('a')) }, /^pass/],
    ['no Pong', { ...lawful(null), ...between(client.ping('a'), client.waits(9)) }, /^fail .*got no Pong/],
    [
      'an endpoint that takes no messages',
      { ...lawful(1003), ...between(client.ping('a'), server.ends()) },
      /^skipped: the endpoint closes/,
    ],
  ],
  'websocket.server-unmasked': [
    ['masked', record(server.text('a', { masked: true })), /^fail/],
    ['not masked', record(server.text('a')), /^pass/],
    ['with a reserved bit', record(server.text('a', { rsv: 4 })), /^pass/],
  ],
  'websocket.server-lengths': [
    ['of 2 octets for 1', record(server.text('a', { lengthOctets: 2 })), /^fail/],
    ['masked', record(server.text('a', { masked: true })), /^pass/],
  ],
  'websocket.server-reserved': [
    ['with a reserved bit', record(server.text('a', { rsv: 2 })), /^fail/],
    ['of a reserved opcode', record(server.frame(3, 'a')), /^fail/],
    ['masked', record(server.text('a', { masked: true })), /^pass/],
  ],
  'websocket.server-control-frames': [
    ['of 126 octets', record(server.ping('x'.repeat(126))), /^fail/],
    ['in fragments', record(server.frame(9, 'x', { fin: false })), /^fail/],
    ['of 125 octets', record(server.ping('x'.repeat(125))), /^pass/],
  ],
  'websocket.server-fragments': [
    ['that continue nothing', record(server.frame(0, 'x')), /^fail/],
    ['that belong together', record(server.text('x', { fin: false }), server.frame(0, 'y')), /^pass/],
  ],
  'websocket.server-utf8': [
    ['that is not', record(server.text(NO_TEXT)), /^fail/],
    ['that the client had sent', record(client.text(NO_TEXT), server.text(NO_TEXT)), /^skipped/],
  ],
};

it.each(rowsOf(SAID))('$id, of frames: $what', async ({ id, given, said, config }) => {
  expect(await saidOf(id, given, config)).toMatch(said);
});
