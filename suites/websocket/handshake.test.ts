import { describe, expect, it } from 'vitest';
import type { FieldLine } from '../../harness/wire/exchange.ts';
import { configOf, type GivenRow, type GivenRows, rowsOf, saidOf, selected } from './fixtures/said.ts';
import { client, server, talk } from './fixtures/talk.ts';

/** A handshake whose answer has these fields instead of the usual ones of the same name. */
function answered(fields: readonly FieldLine[], more: Parameters<typeof talk>[1] = {}) {
  const usual = talk([], more);
  const names = fields.map(([name]) => name.toLowerCase());
  const { handshake } = usual.conversation;
  const others = (handshake.response?.fields ?? []).filter(([name]) => !names.includes(name.toLowerCase()));
  const kept = fields.filter(([, value]) => value !== '');
  return talk([], {
    ...more,
    handshake: {
      ...handshake,
      response: handshake.response && { ...handshake.response, fields: [...others, ...kept] },
    },
  });
}

const everyTaken = (...fields: readonly FieldLine[]) => ({
  'websocket-every-taken': selected(answered(fields)),
});
const PROTOCOL = 'Sec-WebSocket-Protocol';
const EXTENSIONS = 'Sec-WebSocket-Extensions';
const RIGHT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

const subprotocol = (offer: string, answer: string): Readonly<Record<string, unknown>> => ({
  'websocket-unknown-subprotocol': answered([]),
  'websocket-every-taken': selected(answered([[PROTOCOL, answer]], { offers: [[PROTOCOL, offer]] })),
});
const comesBack = (accept: string) => ({
  'websocket-comes-back': { conversation: answered([['Sec-WebSocket-Accept', accept]]), attempts: 1 },
});
const badWord = (answer: string, status = 101) => ({
  'websocket-bad-subprotocol': answered([[PROTOCOL, answer]], { status }),
});
const NAMED = configOf({ subprotocols: ['chat'] });

/** RFC 6455 §4.2.2, on handshakes as they were recorded. */
const ANSWERS: GivenRows = {
  'websocket.handshake': [
    ['101', { 'websocket-opening': talk([]) }, /^pass/],
    [
      '404',
      { 'websocket-opening': talk([], { status: 404 }) },
      /^fail .*expected status 101, got status 404/,
    ],
  ],
  'websocket.accept': [
    ['the right one', everyTaken(), /^pass/],
    ['another', everyTaken(['Sec-WebSocket-Accept', 'abc=']), /^fail .*got abc=/],
    ['none', everyTaken(['Sec-WebSocket-Accept', '']), /^fail .*got none/],
  ],
  'websocket.accept-per-connection': [
    ['another', { 'websocket-taken': talk([]), ...comesBack('abc=') }, /^pass/],
    [
      'the same',
      { 'websocket-taken': talk([]), ...comesBack(RIGHT) },
      /^fail .*expected another accept value, got that of the first connection/,
    ],
    [
      'none on either',
      { 'websocket-taken': answered([['Sec-WebSocket-Accept', '']]), ...comesBack('') },
      /^pass/,
    ],
  ],
  'websocket.upgrade-field': [
    ['websocket', everyTaken(['Upgrade', 'websocket']), /^pass/],
    ['in other letters', everyTaken(['Upgrade', 'WebSocket']), /^pass/],
    ['another protocol', everyTaken(['Upgrade', 'h2c']), /^fail .*got h2c/],
    ['none', everyTaken(['Upgrade', '']), /^fail .*got none/],
  ],
  'websocket.connection-field': [
    ['Upgrade', everyTaken(['Connection', 'Upgrade']), /^pass/],
    ['a list with it', everyTaken(['Connection', 'keep-alive, UPGRADE']), /^pass/],
    [
      'a list without it',
      everyTaken(['Connection', 'keep-alive, upgraded']),
      /^fail .*got keep-alive, upgraded/,
    ],
    ['none', everyTaken(['Connection', '']), /^fail .*got none/],
  ],
  'websocket.switching-length': [
    ['no length', everyTaken(), /^pass/],
    ['Content-Length', everyTaken(['Content-Length', '0']), /^fail .*got Content-Length: 0/],
    [
      'both',
      everyTaken(['Transfer-Encoding', 'chunked'], ['Content-Length', '0']),
      /^fail .*got Content-Length: 0/,
    ],
    [
      'Transfer-Encoding',
      everyTaken(['Transfer-Encoding', 'chunked']),
      /^fail .*got Transfer-Encoding: chunked/,
    ],
  ],
  'websocket.unoffered-subprotocol': [
    ['none', subprotocol('a, b', ''), /^pass/],
    ['an offered one', subprotocol('a, b', 'b'), /^pass/],
    ['another one', subprotocol('a, b', 'c'), /^fail .*got "c"/],
    ['one without an offer', subprotocol('', 'c'), /^fail .*got "c"/],
    ['a part of an offer that is none', subprotocol('a, b c', 'b'), /^pass/],
  ],
  'websocket.subprotocol-selected': [
    ['none', { 'websocket-taken': answered([]) }, /^fail .*got none/, NAMED],
    ['one', { 'websocket-taken': answered([[PROTOCOL, 'chat']]) }, /^pass/, NAMED],
    ['none, and none is wanted', { 'websocket-taken': answered([]) }, /^skipped: no subprotocols/],
  ],
  'websocket.bad-subprotocol': [
    ['none', badWord(''), /^pass/],
    ['one that is no word', badWord('conform bad'), /^fail .*got "conform bad"/],
    ['a word', badWord('conform'), /^pass/],
    ['a list', badWord('a,b'), /^fail/],
    ['a space before it', badWord(' conform'), /^(?:pass|fail)/],
    ['one that is no word, with a refusal', badWord('conform bad', 400), /^pass/],
  ],
  'websocket.unoffered-extension': [
    [
      'none',
      { 'websocket-deflate-offer': answered([]), 'websocket-every-taken': selected(answered([])) },
      /^pass/,
    ],
    [
      'two',
      {
        'websocket-deflate-offer': answered([]),
        'websocket-every-taken': selected(answered([[EXTENSIONS, 'foo, bar']])),
      },
      /^fail .*got foo, bar/,
    ],
  ],
  'websocket.deflate': [
    ['taken', { 'websocket-deflate-offer': answered([[EXTENSIONS, 'x']]) }, /^observed: x$/],
    ['declined', { 'websocket-deflate-offer': answered([]) }, /^observed: permessage-deflate is declined$/],
    [
      'named in a refusal',
      { 'websocket-deflate-offer': answered([[EXTENSIONS, 'x']], { status: 400 }) },
      /^observed: permessage-deflate is declined$/,
    ],
  ],
  'websocket.octet-by-octet': [
    ['a Pong', { 'websocket-octet-by-octet': talk([client.ping('a'), server.pong('a')]) }, /^pass/],
    [
      'no Pong',
      { 'websocket-octet-by-octet': talk([client.ping('a'), client.waits(9)]) },
      /^fail .*got no Pong/,
    ],
    [
      'no connection',
      { 'websocket-octet-by-octet': talk([], { status: 400 }) },
      /^fail .*expected status 101, got status 400/,
    ],
  ],
  'websocket.foreign-origin': [
    [
      'a connection that stays open',
      { 'websocket-foreign-origin': talk([]) },
      /^(?:fail|warning) .*got status 101 and an open connection/,
      configOf({ origin: 'https://a.example' }),
    ],
    [
      'a Close',
      { 'websocket-foreign-origin': talk([server.close(1008)]) },
      /^pass/,
      configOf({ origin: 'https://a.example' }),
    ],
  ],
};

const REFUSED = talk([], { status: 400 });
const version = (status: number | null, ...fields: readonly FieldLine[]) => ({
  'websocket-other-version': answered(fields, { status }),
});
const VERSION = 'Sec-WebSocket-Version';

/** Without Connection, without Upgrade or with another one: a server in front may have mended it. */
const behind = (probe: string, mended: RegExp): readonly GivenRow[] => [
  ['refused', { [probe]: REFUSED, 'websocket-in-front': 'Via: a' }, /^pass/],
  ['taken', { [probe]: talk([]), 'websocket-in-front': null }, /^fail .*expected anything but 101/],
  ['taken behind a server in front', { [probe]: talk([]), 'websocket-in-front': 'Via: a' }, mended],
];
const statuses = (probe: string): readonly GivenRow[] => [
  ['nothing', { [probe]: talk([], { status: null }) }, /^observed: no answer/],
  ['403', { [probe]: talk([], { status: 403 }) }, /^observed: status 403/],
];

/** RFC 6455 §4.2.1 */
const REFUSALS: GivenRows = {
  'websocket.supported-version': [
    ['13', version(426, [VERSION, '13']), /^pass/],
    ['a list with 13', version(400, [VERSION, '8, 13']), /^pass/],
    ['others', version(426, [VERSION, '8, 7']), /^fail .*got 8, 7 \(status 426\)/],
    ['none', version(400), /^fail .*got none \(status 400\)/],
    ['101', version(101), /^skipped: no version was refused/],
    ['no answer', version(null), /^skipped: no version was refused/],
  ],
  'websocket.missing-connection': behind(
    'websocket-without-connection',
    /^skipped: a server in front may have added the field \(Via: a\)/,
  ),
  'websocket.upgrade-left-out': behind(
    'websocket-upgrade-left-out',
    /^skipped: a server in front may have added the field \(Via: a\)/,
  ),
  'websocket.other-upgrade': behind(
    'websocket-other-upgrade',
    /^skipped: a server in front may have changed the field \(Via: a\)/,
  ),
  'websocket.short-key': statuses('websocket-short-key'),
  'websocket.http-1-0': statuses('websocket-http-1-0'),
  'websocket.redirect': [
    ['none', { 'websocket-opening': talk([]) }, /^observed: no redirect/],
    [
      'one',
      { 'websocket-opening': talk([], { status: 302, fields: [['Location', '/b']] }) },
      /^observed: to \/b/,
    ],
  ],
  'websocket.plain-http': [
    ['404', { 'websocket-without-upgrade': talk([], { status: 404 }) }, /^pass/],
    [
      'nothing',
      {
        'websocket-without-upgrade': talk([], {
          status: null,
          failure: { kind: 'response-timeout', message: 'nothing came' },
        }),
      },
      /^(?:fail|warning) .*expected an HTTP answer, got nothing came/,
    ],
    [
      'the end',
      { 'websocket-without-upgrade': talk([], { status: null }) },
      /^(?:fail|warning) .*expected an HTTP answer, got none/,
    ],
  ],
};

describe('the answer to a handshake', () => {
  it.each(rowsOf({ ...ANSWERS, ...REFUSALS }))('$id: $what', async ({ id, given, said, config }) => {
    expect(await saidOf(id, given, config)).toMatch(said);
  });
});
