import { expect, it } from 'vitest';
import { type GivenRows, rowsOf, saidOf, selected } from './fixtures/said.ts';
import { client, server, type TalkEvents, talk } from './fixtures/talk.ts';

const TWICE_CLOSED = [client.close(1000), server.close(1000)];
const answeredWith = (code?: number) => talk([client.close(1001), server.close(code), server.ends()]);
const malformed = (code?: number) => [talk([client.frame(8, Uint8Array.of(3)), server.close(code)])];
const kept = (...events: TalkEvents) => ({
  'websocket-kept': talk(events),
  'websocket-closes': [],
});

/** RFC 6455 §5.5.1 and §7, on conversations as they were recorded. */
const SAID: GivenRows = {
  'websocket.tcp-closed': [
    ['the end of TCP', kept(...TWICE_CLOSED, server.ends()), /^pass/],
    ['a reset', kept(...TWICE_CLOSED, server.ends('reset')), /^pass/],
    [
      'neither',
      kept(...TWICE_CLOSED, client.waits(2_000)),
      /^fail .*the end of TCP, got an open connection after 2000 ms/,
    ],
    ['an end without a Close', kept(client.close(1000), server.ends()), /^pass/],
    ['no answer', kept(client.close(1000), client.waits(2_000)), /^skipped: the Close was not answered/],
  ],
  'websocket.close-answered': [
    ['a Close', kept(...TWICE_CLOSED), /^pass/],
    ['a reset, which may have overtaken it', kept(client.close(1000), server.ends('reset')), /^pass/],
    ['the end of TCP alone', kept(client.close(1000), server.ends()), /^fail .*got the end of TCP/],
    [
      'nothing',
      kept(client.close(1000), client.waits(2_000)),
      /^fail .*got an open connection after 2000 ms/,
    ],
    [
      'nothing to another one',
      { ...kept(...TWICE_CLOSED), 'websocket-closes': [talk([client.close()], { id: 2 })] },
      /^fail \(e2\)/,
    ],
  ],
  'websocket.close-code-echoed': [
    ...[1000, 1001, undefined].map(
      (code) =>
        [`with ${code}`, { 'websocket-kept': answeredWith(code), 'websocket-closes': [] }, /^pass/] as const,
    ),
    [
      'with another code',
      { 'websocket-kept': answeredWith(1011), 'websocket-closes': [] },
      /^warning .*expected the same close code, 1000 or none, got 1011/,
    ],
    [
      'with a code that may not be sent, which is another finding',
      { 'websocket-kept': answeredWith(1005), 'websocket-closes': [] },
      /^pass/,
    ],
  ],
  'websocket.unanswered-close': [
    ['the end of TCP', { 'websocket-unanswered-close': talk([server.close(1002), server.ends()]) }, /^pass/],
    [
      'an open connection',
      { 'websocket-unanswered-close': talk([server.close(1002), client.waits(35_000)]) },
      /^(?:warning|fail) .*got an open connection after 35000 ms/,
    ],
    [
      'no Close',
      { 'websocket-unanswered-close': talk([client.waits(35_000)]) },
      /^skipped: the service sends no Close by itself/,
    ],
  ],
  'websocket.half-closed': [
    ['the end of TCP', { 'websocket-half-closed': [talk([client.leaves, server.ends()])] }, /^pass/],
    [
      'a Close alone',
      { 'websocket-half-closed': [talk([client.leaves, server.close(1000), client.waits(900)])] },
      /^(?:warning|fail) .*the end of TCP, got an open connection after 900 ms/,
    ],
  ],
  'websocket.bad-close-reason': [
    ...[1002, 1007, undefined].map(
      (code) => [`with ${code}`, { 'websocket-bad-reason-close': malformed(code) }, /^pass/] as const,
    ),
    ['with 1000', { 'websocket-bad-reason-close': malformed(1000) }, /^fail .*got 1000, as to a right Close/],
    [
      'not at all',
      { 'websocket-bad-reason-close': [talk([client.waits(900)])] },
      /^fail .*expected the connection to end/,
    ],
  ],
  'websocket.bad-close-code': [
    ...[1002, 1007, undefined].map(
      (code) =>
        [
          `with ${code}`,
          { 'websocket-one-octet-close': malformed(code), 'websocket-forbidden-codes': malformed(code) },
          /^pass/,
        ] as const,
    ),
    ...[1000, 1003, 1008].map(
      (code) =>
        [
          `with ${code}`,
          { 'websocket-one-octet-close': malformed(1002), 'websocket-forbidden-codes': malformed(code) },
          new RegExp(`^warning .*got ${code}`),
        ] as const,
    ),
  ],
  'websocket.unassigned-close-codes': [
    ...[1002, 1007, undefined].map(
      (code) => [`with ${code}`, { 'websocket-unassigned-codes': malformed(code) }, /^pass/] as const,
    ),
    ...[1000, 1003, 1008].map(
      (code) =>
        [
          `with ${code}`,
          { 'websocket-unassigned-codes': malformed(code) },
          new RegExp(`^warning .*got ${code}`),
        ] as const,
    ),
  ],
  'websocket.forbidden-close-codes': [1005, 1006, 1015, 999].map(
    (code) =>
      [
        `of ${code}`,
        {
          'websocket-forbidden-codes': [],
          'websocket-every-conversation': selected(talk([server.close(code)])),
        },
        /^fail/,
      ] as const,
  ),
  'websocket.server-close-payload': [
    [
      'of one octet',
      { 'websocket-every-conversation': selected(talk([server.frame(8, Uint8Array.of(3))])) },
      /^fail/,
    ],
    [
      'with a reason that is not UTF-8',
      {
        'websocket-every-conversation': selected(talk([server.frame(8, Uint8Array.of(3, 232, 255))])),
      },
      /^fail/,
    ],
    [
      'with a reason that the client had sent',
      {
        'websocket-every-conversation': selected(
          talk([client.frame(8, Uint8Array.of(3, 232, 255)), server.frame(8, Uint8Array.of(3, 232, 255))]),
        ),
      },
      /^skipped/,
    ],
    ['that is empty', { 'websocket-every-conversation': selected(talk([server.close()])) }, /^pass/],
  ],
  'websocket.message-after-close': [
    [
      'it came back',
      {
        'websocket-text-echo': talk([client.text('a'), server.text('a')]),
        'websocket-message-after-close': talk([server.text('conform: after the Close')]),
      },
      /^fail .*expected no answer to it, got the message back/,
    ],
    [
      'it came back after a greeting',
      {
        'websocket-text-echo': talk([client.text('a'), server.text('a')]),
        'websocket-message-after-close': talk([
          server.text('welcome'),
          server.text('conform: after the Close'),
        ]),
      },
      /^fail .*got the message back/,
    ],
    [
      'one of two messages comes back as it was',
      {
        'websocket-text-echo': talk([client.text('a'), server.text('a'), client.text('b'), server.text('c')]),
        'websocket-message-after-close': talk([server.text('conform: after the Close')]),
      },
      /^skipped: messages are not sent back anyway/,
    ],
    [
      'a greeting came',
      {
        'websocket-text-echo': talk([client.text('a'), server.text('a')]),
        'websocket-message-after-close': talk([server.text('welcome'), server.close()]),
      },
      /^pass/,
    ],
    [
      'no message comes back as it was',
      {
        'websocket-text-echo': talk([client.text('a'), server.text('b')]),
        'websocket-message-after-close': talk([server.text('conform: after the Close')]),
      },
      /^skipped: messages are not sent back anyway/,
    ],
  ],
};

it.each(rowsOf(SAID))('$id, of a connection: $what', async ({ id, given, said, config }) => {
  expect(await saidOf(id, given, config)).toMatch(said);
});
