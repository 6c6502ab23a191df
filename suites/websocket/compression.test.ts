import { expect, it } from 'vitest';
import { deflatedRepeatedly } from '../../harness/wire/conversation/inflation.ts';
import { configOf, type GivenRows, rowsOf, saidOf } from './fixtures/said.ts';
import { client, server, type TalkEvents, talk } from './fixtures/talk.ts';

const NAME = 'permessage-deflate';
const answered = (extension: string | null, status: number | null = 101, offer = NAME) =>
  talk([], {
    status,
    offers: [['Sec-WebSocket-Extensions', offer]],
    fields: extension === null ? [] : [['Sec-WebSocket-Extensions', extension]],
  });
const DEFLATED = deflatedRepeatedly(Buffer.from('conform'), 1);
const NO_DEFLATE = Uint8Array.of(0xff, 0xff, 0xff);
const deflating = (...events: TalkEvents) => talk(events, { fields: [['Sec-WebSocket-Extensions', NAME]] });
const deflated = (payload: Uint8Array) => deflating(server.text(payload, { rsv: 4 }));
const both = (one: ReturnType<typeof talk>) => ({
  'websocket-deflate-echo': one,
  'websocket-deflate-context': deflated(DEFLATED),
});
const RULES: GivenRows[string] = [
  [
    'the offer declined',
    { 'websocket-deflate-without-context': talk([server.text(NO_DEFLATE, { rsv: 4 })]) },
    /^skipped: the offer without context is declined/,
  ],
  [
    'no compressed message',
    { 'websocket-deflate-without-context': deflating(server.text('conform')) },
    /^skipped: the service compresses no message of its own/,
  ],
  ['a compressed message', { 'websocket-deflate-without-context': deflated(DEFLATED) }, /^pass/],
  ['no DEFLATE', { 'websocket-deflate-without-context': deflated(NO_DEFLATE) }, /^fail/],
];
const bomb = (...events: TalkEvents) => ({
  'websocket-deflate-bomb': deflating(...events),
});
const SPARED = configOf({}, { safety: { ...configOf().safety, findSizeLimits: false } });
const bulk = (length: number) => server.frame(2, 'x'.repeat(length), { rsv: 4 });

/** RFC 7692 §5 to §7, on conversations as they were recorded. */
const SAID: GivenRows = {
  'websocket.deflate-unfit-offer': [
    ['none', { 'websocket-deflate-unfit-offers': [answered(null)] }, /^pass/],
    [NAME, { 'websocket-deflate-unfit-offers': [answered(NAME)] }, /^fail .*got permessage-deflate/],
    ['an error', { 'websocket-deflate-unfit-offers': [answered(NAME, 400)] }, /^pass/],
    ['nothing', { 'websocket-deflate-unfit-offers': [answered(null, null)] }, /^pass/],
  ],
  'websocket.deflate-server-context': [
    ['as offered', { 'websocket-deflate-server-context-offer': [answered(null)] }, /^pass/],
    [
      'another',
      { 'websocket-deflate-server-context-offer': [answered(`${NAME}; server_max_window_bits=77`)] },
      /^fail/,
    ],
  ],
  'websocket.deflate-fallback': [
    ['none', { 'websocket-deflate-fallback-offer': [answered(null)] }, /^observed: declined/],
    ['one', { 'websocket-deflate-fallback-offer': [answered(NAME)] }, /^observed: permessage-deflate/],
    ['an error', { 'websocket-deflate-fallback-offer': [answered(NAME, 400)] }, /^observed: status 400/],
    ['nothing', { 'websocket-deflate-fallback-offer': [answered(null, null)] }, /^observed: status none/],
    ['no handshake', { 'websocket-deflate-fallback-offer': [] }, /^observed: status none/],
  ],
  'websocket.deflate-server-data': [
    ['DEFLATE', both(deflated(DEFLATED)), /^pass/],
    ['no DEFLATE', both(deflated(NO_DEFLATE)), /^fail/],
    [
      'no DEFLATE after a plain message',
      both(deflating(server.text('a'), server.text(NO_DEFLATE, { rsv: 4 }))),
      /^fail/,
    ],
    [
      'nothing compressed',
      {
        'websocket-deflate-echo': deflating(server.text('a')),
        'websocket-deflate-context': deflating(server.ping(), server.text('a', { rsv: 2 })),
      },
      /^skipped: the service compresses no message of its own/,
    ],
  ],
  'websocket.deflate-without-context': RULES,
  'websocket.deflate-window-kept': RULES.map(([what, given, said]) => [
    what,
    { 'websocket-deflate-small-window': Object.values(given)[0] },
    new RegExp(said.source.replace('the offer without context', 'the offer of a small window')),
  ]),
  'websocket.deflate-bomb': [
    ['a Close with 1009', bomb(server.close(1009), server.ends()), /^pass/],
    ['the answer to the Close alone', bomb(client.close(1000), server.close(1000)), /^pass/],
    ['nothing in time', bomb(client.close(1000), client.waits(9)), /^blocked: the service was not done/],
    ['a short message', bomb(bulk(1023), client.close(1000), server.close(1000)), /^pass/],
    [
      'a long message',
      bomb(bulk(1024), client.close(1000), server.close(1000)),
      /^warning .*the end of the connection, got a message of 1024 octets on the wire back/,
    ],
    [
      'a short message and a long one',
      bomb(server.text('a'), bulk(2000), server.close(1000)),
      /^warning .*got a message of 2000 octets/,
    ],
    ['two long messages', bomb(bulk(2000), bulk(3000)), /^warning .*got a message of 2000 octets/],
    ['a long Ping', bomb(server.ping('x'.repeat(1024)), client.close(1000), server.close(1000)), /^pass/],
    [
      'a failure',
      {
        'websocket-deflate-bomb': talk([], {
          failure: { kind: 'body-too-large', message: 'too long to be read' },
        }),
      },
      /^warning .*got too long to be read/,
    ],
    [
      'a Close where sizes may not be tried',
      bomb(server.close(1009)),
      /^skipped: sizes may not be tried/,
      SPARED,
    ],
  ],
};

it.each(rowsOf(SAID))('$id, where an offer or a message gets $what', async ({ id, given, said, config }) => {
  expect(await saidOf(id, given, config)).toMatch(said);
});
