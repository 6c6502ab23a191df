import { expect, it } from 'vitest';
import { type GivenRows, rowsOf, saidOf } from './fixtures/said.ts';
import { client, server, type TalkEvents, talk } from './fixtures/talk.ts';

const textBack = talk([client.text('a'), server.text('a')]);
const binaryBack = talk([client.binary('a'), server.binary('a')]);
const kinds = (text: ReturnType<typeof talk>, binary: ReturnType<typeof talk>) => ({
  'websocket-text-echo': text,
  'websocket-binary-echo': binary,
});
const LONG = 'x'.repeat(65_535);
const LONGER = 'y'.repeat(65_536);
const MIB = 'z'.repeat(1 << 20);
const long = (...events: TalkEvents) => ({ 'websocket-long-echoes': talk(events) });
const many = (code: number | null) => ({
  'websocket-many-fragments-echo':
    code === null
      ? talk([client.text('a'), server.text('a')])
      : talk([client.text('a'), server.close(code), server.ends()]),
});

/** Steps in which a long message was sent alone, and how the connection ended. */
const inSteps = (pieces: number, ...ends: TalkEvents) =>
  talk([...Array.from({ length: pieces }, () => client.octets('a piece')), ...ends], { id: 3 });
const tooLong = (whole: TalkEvents, fragments: TalkEvents, steps?: ReturnType<typeof talk>) => ({
  'websocket-long-echoes': talk([client.text(LONG), ...whole], { id: 1 }),
  'websocket-long-fragmented-echo': talk([client.text(LONG), ...fragments], { id: 2 }),
  ...(steps && { 'websocket-long-in-steps': steps }),
});
const END = [server.ends()];
const RESET = [server.ends('reset')];

/** RFC 6455 §5.6 and §7.4.1, on conversations as they were recorded. */
const SAID: GivenRows = {
  'websocket.echo-kind': [
    ['each as it was', kinds(textBack, binaryBack), /^pass/],
    [
      'text as binary',
      kinds(talk([client.text('a'), server.binary('a')]), binaryBack),
      /^fail .*a message of the same kind back/,
    ],
    [
      'binary as text',
      kinds(textBack, talk([client.binary('a'), server.text('a')])),
      /^fail .*a message of the same kind back/,
    ],
    [
      'another binary message',
      kinds(textBack, talk([client.binary('a'), server.binary('b')])),
      /^fail .*each message back as it was/,
    ],
    [
      'no binary message, for its kind',
      kinds(textBack, talk([client.binary('a'), server.close(1003)])),
      /^skipped: binary messages are not accepted: they are refused with the close code 1003/,
    ],
    [
      'no binary message, for another reason',
      kinds(textBack, talk([client.binary('a'), server.close(1011)])),
      /^fail/,
    ],
    [
      'text as binary, and no binary message',
      kinds(talk([client.text('a'), server.binary('a')]), talk([client.binary('a'), server.close(1003)])),
      /^fail .*a message of the same kind back/,
    ],
  ],
  'websocket.first-message': [
    ['nothing', { 'websocket-taken': talk([client.ping()]) }, /^observed: nothing$/],
    [
      'a message of no dialect',
      { 'websocket-taken': talk([server.text('hello')]) },
      /^observed: a text message \(of no known dialect\)/,
    ],
    [
      'that of Pusher',
      {
        'websocket-taken': talk([
          server.json({ event: 'pusher:connection_established', data: '{"socket_id":"1.2"}' }),
        ]),
      },
      /^observed: a text message \(pusher\)/,
    ],
  ],
  'websocket.echo-text': [
    ['the same', { ...kinds(textBack, binaryBack), 'websocket-instead-of-echo': null }, /^pass/],
    [
      'another one',
      {
        'websocket-text-echo': talk([client.text('a'), server.text('b')]),
        'websocket-instead-of-echo': null,
      },
      /^fail/,
    ],
    [
      'something else',
      { 'websocket-text-echo': textBack, 'websocket-instead-of-echo': 'it speaks first' },
      /^blocked: websocket.echo is set, and the endpoint does not echo: it speaks first/,
    ],
  ],
  'websocket.echo-binary-lengths': [
    ['the same', { ...kinds(textBack, binaryBack), 'websocket-binary-length-echoes': binaryBack }, /^pass/],
    [
      'others',
      {
        ...kinds(textBack, binaryBack),
        'websocket-binary-length-echoes': talk([client.binary('aa'), server.binary('a')]),
      },
      /^fail/,
    ],
    [
      'none, for their kind',
      {
        'websocket-binary-echo': talk([client.binary('a'), server.close(1003)]),
        'websocket-binary-length-echoes': talk([client.binary('a'), server.close(1003)]),
      },
      /^skipped: binary messages are not accepted/,
    ],
    [
      'none, for another reason',
      {
        'websocket-binary-echo': talk([client.binary('a'), server.close(1011)]),
        'websocket-binary-length-echoes': talk([client.binary('a'), server.close(1011)]),
      },
      /^blocked: websocket.echo-kind fails/,
    ],
  ],
  'websocket.echo-many-fragments': [
    ['the whole', many(null), /^pass/],
    ...[1008, 1009].map(
      (code) =>
        [`a Close with ${code}`, many(code), new RegExp(`^skipped: so many .* close code ${code}`)] as const,
    ),
    ...[1002, 1010].map((code) => [`a Close with ${code}`, many(code), /^fail/] as const),
  ],
  'websocket.echo-long': [
    ['all', long(client.text(MIB), server.text(MIB)), /^pass: $/],
    [
      'all that it has time for',
      long(client.text(LONG), server.text(LONG)),
      /^pass: messages come back so slowly that none longer than 65535 bytes was tried/,
    ],
    [
      'a Close for the first',
      long(client.text(LONG), server.close(1009)),
      /^skipped: a message of 65535 bytes is too long for it/,
    ],
    [
      'a Close for the second',
      long(client.text(LONG), server.text(LONG), client.text(LONGER), server.close(1009)),
      /^pass: a message of 65536 bytes is too long for it/,
    ],
    [
      'another message',
      long(client.text(LONG), server.text(LONGER.slice(1))),
      /^fail .*each message back as it was/,
    ],
    ['nothing at all', long(client.close(1000), server.close(1000)), /^pass/],
  ],
  'websocket.too-big-code': [
    ['1009', tooLong([server.close(1009)], [server.close(1009)]), /^pass/],
    ['1008 to fragments', tooLong([server.close(1009)], [server.close(1008)]), /^pass/],
    ['1008 to one frame', tooLong([server.close(1008)], [server.close(1009)]), /^warning \(e1\).*got 1008/],
    ['1002 to fragments', tooLong([server.close(1009)], [server.close(1002)]), /^warning \(e2\).*got 1002/],
    ['no code', tooLong([server.close()], [server.close(1009)]), /^warning \(e1\).*got none/],
    ['a reset, and 1009 in steps', tooLong(RESET, RESET, inSteps(4, server.close(1009))), /^pass/],
    [
      'a reset, and another code in steps',
      tooLong(RESET, RESET, inSteps(4, server.close(1002))),
      /^warning \(e3\).*got 1002/,
    ],
    [
      'a reset with nothing unread',
      tooLong(RESET, RESET, inSteps(4, server.ends('reset'))),
      /^warning \(e3\).*got a reset with nothing unread/,
    ],
    [
      'the end with nothing unread',
      tooLong(END, [server.close(1009)], inSteps(2, server.ends())),
      /^warning \(e3\).*got the end of TCP alone/,
    ],
    [
      'a reset, an end and a reset with nothing unread',
      tooLong(RESET, END, inSteps(4, server.ends('reset'))),
      /^warning \(e3\): expected the close code 1009, got a reset with nothing unread for .*none for (?!.*none)/,
    ],
    [
      'an end, and a reset with nothing unread',
      tooLong(END, [server.close(1009)], inSteps(4, server.ends('reset'))),
      /^warning \(e3\): expected the close code 1009, got a reset with nothing unread for .*none for/,
    ],
    [
      'a reset while something may be unread',
      tooLong(RESET, RESET, inSteps(3, server.ends('reset'))),
      /^pass/,
    ],
    [
      'the end, which may be an accident',
      tooLong(END, [server.close(1009)], inSteps(3, server.ends())),
      /^pass/,
    ],
    [
      'the end of fragments, which shows no code',
      tooLong([server.close(1009)], END),
      /^warning \(e2\).*got none/,
    ],
    [
      'all messages back',
      tooLong([server.text(LONG), client.close(), server.close()], [server.text(LONG), client.close()]),
      /^skipped: no message was too long for it/,
    ],
  ],
};

it.each(rowsOf(SAID))('$id, where a message gets $what', async ({ id, given, said, config }) => {
  expect(await saidOf(id, given, config)).toMatch(said);
});
