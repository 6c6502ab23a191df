import { describe, expect, it } from 'vitest';
import { KEY, saidOf } from '../tests/fixtures/judged.ts';
import {
  BAD,
  type Differing,
  either,
  isPair,
  judgedOf,
  KEPT,
  LOST,
  like,
  message,
  NO_KEY,
  OK,
  of,
  type Row,
  to,
  usual,
} from './fixtures/octet-service.ts';

const isPairWithOther = (came: string) => isPair(came) && came.includes('conform-no-such-resource');
/** It asks for no key. */
const openly: Differing = (came) => ({ octets: usual(`${came}${KEY}`) });
const isAloneAndKept = (came: string) =>
  (came.match(/^GET /gm) ?? []).length === 1 && !/^(?:connection|expect|upgrade):/im.test(came);
const isKept = like(/^connection: keep-alive/im);
const isPlain = (came: string) => came.includes(KEY) && isKept(came);
const isChunked = like(/^A;x=1/m);
const isExpected = like(/^Expect: 100[\s\S]*^conform=12/m);
const isOld = like(/ HTTP\/1\.0\r\n[\s\S]*^Expect:/m);
const isOffer = like(/^Upgrade: h2c/m);

/** The second request on a connection, where a first one is kept. */
const second =
  (octets: string): Differing =>
  (came, at) =>
    at > 0 ? { octets } : isKept(came) ? { octets: KEPT, end: 'keeps' } : null;
/** Another answer the first time. */
const atFirst =
  (isMeant: (came: string) => boolean, first: string, later: string): Differing =>
  (came, _, alike) =>
    isMeant(came) ? { octets: alike === 0 ? first : later } : null;

/** Of a request that must be refused with the connection ended. */
const refusal = (isMeant: (came: string) => boolean): readonly Row[] => [
  ...[401, 403].map(
    (status): Row => [
      `served with the key, and without it ${status} where others get 404`,
      (came) =>
        came.includes(KEY)
          ? isMeant(came)
            ? { octets: OK }
            : null
          : { octets: isMeant(came) ? of(status) : LOST },
      /got status 200/,
    ],
  ),
  [
    'refused with the key alone',
    (came) => (isMeant(came) ? { octets: came.includes(KEY) ? BAD : NO_KEY } : null),
    /^pass/,
  ],
  [
    'served with the key, and 404 without it',
    (came) => (isMeant(came) ? { octets: came.includes(KEY) ? OK : LOST } : null),
    /got status 404/,
  ],
  [
    'two answers without the key',
    (came) => (isMeant(came) ? { octets: came.includes(KEY) ? BAD : NO_KEY + NO_KEY } : null),
    /got status 401 and status 401/,
  ],
  ['a refusal', to(isMeant, BAD), /^pass/],
  ['an open connection', to(isMeant, BAD, 'keeps'), /got status 400 and an open connection/],
  ['two refusals', to(isMeant, BAD + BAD), /got status 400 and status 400/],
  ['another status', to(isMeant, of(402)), /got status 402/],
  ['no answer', to(isMeant, ''), /got no response/],
  [
    'an answer of a service that has HTTP/1.0 alone',
    (came) => ({ octets: (isMeant(came) ? OK : usual(came)).replaceAll('HTTP/1.1', 'HTTP/1.0') }),
    /^skipped: every answer of the service is in HTTP\/1.0/,
  ],
];

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'framing.next-request': [
    ['is served', second(OK), /^pass/],
    ['is refused', second(of(503)), /got status 503/],
    ['is refused, and the refusal ends too early', second(of(503).slice(0, -2)), /got (?!status)/],
    ['has no connection that is kept', () => null, /^skipped: no connection is kept/],
  ],
  'framing.pipelining': [
    ['both in order', to(isPair, KEPT + NO_KEY), /^pass/],
    ['the first, and the end', to(isPair, OK), /^pass/],
    ['the first, and no end', to(isPair, KEPT, 'keeps'), /got only the first, on an open connection/],
    ['none', to(isPair, ''), /got no response/],
    ['in the other order', to(isPair, NO_KEY + KEPT), /got status 401 and status 200/],
    ['the first is 300', to(isPair, of(300) + NO_KEY), /got status 300 and status 401/],
    ['both with 299', to(isPair, of(299) + of(299)), /^pass/],
    ['the second is another refusal', to(isPair, KEPT + of(300)), /got status 200 and status 300/],
    ['one too many', to(isPair, KEPT + NO_KEY + NO_KEY), /got status 200 and status 401 and status 401/],
    ['none the first time', atFirst(isPair, '', OK), /^pass/],
    ['refused the first time', atFirst(isPair, of(503), OK), /^pass/],
    ['300 the first time', atFirst(isPair, of(300), OK), /^pass/],
    ['299 the first time, and then 503', atFirst(isPair, of(299), of(503)), /^pass/],
    [
      'none, and the documented request is answered in turns',
      either(to(isPair, ''), (came, _, alike) =>
        isPlain(came) && alike % 2 === 1 ? { octets: of(503) } : null,
      ),
      /^blocked/,
    ],
    [
      'a service without keys is asked for another path behind it',
      either(to(isPairWithOther, KEPT + LOST), to(isPair, LOST), openly),
      /^pass/,
      { isOpen: true },
    ],
    [
      'a service that takes a key or none is asked for another path',
      either(to(isPairWithOther, KEPT + LOST), to(isPair, LOST), openly),
      /^pass/,
      { isOptional: true },
    ],
    [
      'a service whose documents alone take none is asked for the same path',
      either(to(isPairWithOther, LOST), to(isPair, KEPT + NO_KEY)),
      /^pass/,
      { isOptional: true },
    ],
    [
      'a service that serves all against its documents is asked for the same path',
      either(to(isPairWithOther, LOST), to(isPair, KEPT + KEPT), openly),
      /^pass/,
    ],
    [
      'a sample with content',
      () => null,
      /^skipped: the documented request is no GET/,
      { sample: { method: 'POST' } },
    ],
    [
      'no answer to a request without a key',
      either(to(like(/^(?![\s\S]*example-key)/), ''), to(isPair, OK)),
      /^blocked: the request behind it has no answer alone: (?!none came)/,
    ],
  ],
  'framing.credential-per-request': [
    ['each its own', to(isPair, KEPT + NO_KEY), /^pass/],
    ['the second is served', to(isPair, KEPT + KEPT), /got status 200/],
    ['the second is served with 299', to(isPair, KEPT + of(299)), /got status 299/],
    ['the second is refused with 300', to(isPair, KEPT + of(300)), /^(?:pass|blocked)/],
    ['all are served', (came) => ({ octets: isPair(came) ? KEPT + KEPT : OK }), /^pass/],
    ['the first, and the end', to(isPair, OK), /^skipped: no second request is answered/],
  ],
  ...Object.fromEntries(
    (
      [
        ['framing.chunked-request', isChunked],
        ['framing.expected-content', isExpected],
      ] as const
    ).map(([id, isMeant]): [string, readonly Row[]] => [
      id,
      [
        ['both', to(isMeant, NO_KEY + NO_KEY), /^pass/],
        ['the first, and the end', to(isMeant, NO_KEY), /^pass/],
        ['the first, and no end', to(isMeant, NO_KEY, 'keeps'), /got only the first, on an open connection/],
        ['none', to(isMeant, ''), /got no response/],
        ['an error', to(isMeant, of(500)), /got status 500/],
        ['a last error of a client', to(isMeant, of(499)), /^pass/],
        ['it is not supported', to(isMeant, of(501)), /^pass/],
        ['another error', to(isMeant, of(502)), /got status 502/],
        [
          'an error that any such request gets',
          (came) => (came.includes(KEY) ? null : { octets: of(503) }),
          /^pass/,
        ],
        ['the content is another request', to(isMeant, NO_KEY + LOST), /got status 401 and status 404/],
        [
          'one too many',
          to(isMeant, NO_KEY + NO_KEY + NO_KEY),
          /got status 401 and status 401 and status 401/,
        ],
      ],
    ]),
  ),
  'framing.close-obeyed': [
    ['one answer, and the end', () => null, /^pass/],
    ['none, and the end', to(like(/hidden/), ''), /^pass/],
    [
      'an open connection',
      to(like(/^Connection: close[\s\S]*hidden/m), NO_KEY, 'keeps'),
      /got status 401 and an open connection/,
    ],
    ['another answer', to(like(/hidden/), NO_KEY + LOST), /got status 401 and status 404 on one connection/],
  ],
  'framing.close-announced': [
    ['is said', () => null, /^pass/],
    [
      'is not said',
      either(to(isAloneAndKept, KEPT), to(isPair, KEPT)),
      /got the end of the connection without it/,
    ],
    ['is not said of one that is kept', either(to(isAloneAndKept, KEPT, 'keeps'), to(isPair, KEPT)), /^pass/],
    [
      'of HTTP/1.0 nothing needs to be said',
      (came) => ({
        octets: usual(came)
          .replace(/^Connection.*\r\n/gm, '')
          .replaceAll('/1.1', '/1.0'),
      }),
      /^pass/,
    ],
    ['no answer', either(to(isAloneAndKept, ''), to(isPair, OK)), /^skipped/],
    [
      'a second request is answered',
      to(isPair, KEPT + NO_KEY),
      /^skipped: a second request on a connection is answered/,
    ],
    [
      'a connection is kept',
      to(isPair, KEPT, 'keeps'),
      /^skipped: a second request on a connection is answered/,
    ],
  ],
  'framing.unread-content': [
    [
      'a second answer',
      to(like(/hidden/), NO_KEY + LOST),
      /expected one response at most, got status 401 and status 404/,
    ],
    ['a refusal of the rest', to(like(/hidden/), NO_KEY + BAD), /^pass/],
    ['an open connection', to(like(/hidden/), NO_KEY, 'keeps'), /^pass/],
  ],
  'framing.both-lengths': [
    [
      'an open connection',
      to(like(/hidden/), NO_KEY, 'keeps'),
      /expected one response at most and the end of the connection, got status 401 and an open/,
    ],
  ],
  'framing.differing-lengths': refusal(like(/^Content-Length: 9/m)),
  'framing.bad-length': refusal(like(/^Content-Length: \+0/m)),
  'framing.chunked-not-last': [
    ...refusal(like(/^Transfer-Encoding: chunked, gzip/m)),
    ['is not supported', to(like(/^Transfer-Encoding: chunked, gzip/m), of(501)), /^pass/],
    ['other error', to(like(/^Transfer-Encoding: chunked, gzip/m), of(500)), /got status 500/],
  ],
  'framing.unknown-coding': [
    ...[400, 411, 415, 422, 501].map(
      (status): Row => [`status ${status}`, to(like(/x-conform, /), of(status)), /^pass/],
    ),
    ...[412, 416, 423, 500, 502].map(
      (status): Row => [
        `status ${status}`,
        to(like(/x-conform, /), of(status)),
        new RegExp(`got status ${status}`),
      ],
    ),
    ['an error in a success', to(like(/x-conform, /), message(200, '{"error":"coding"}')), /^blocked/],
  ],
  'framing.old-client-close': [
    ['the end', () => null, /^pass/],
    ['an open connection', to(isOld, OK, 'keeps'), /got status 200 and an open connection/],
    ['no answer', to(isOld, ''), /^skipped/],
  ],
  'framing.upgrade-offer': [
    [
      'is taken',
      to(isOffer, 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
      /^pass/,
    ],
    ...[102, 300].map(
      (status): Row => [`status ${status}`, to(isOffer, of(status)), /^(?:fail|warning): .* got/],
    ),
    ['status 299', to(isOffer, of(299)), /^pass/],
  ],
  'framing.upgrade-answer': [
    ...(['h2c', 'H2C'] as const).map(
      (name): Row => [
        `to ${name}`,
        to(isOffer, `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${name}\r\n\r\n`),
        /^pass/,
      ],
    ),
    ['to nothing', to(isOffer, `HTTP/1.1 101 Switching Protocols\r\n\r\n`), /got none/],
    ['is not taken', () => null, /^skipped: the offer is not taken/],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    expect(saidOf(await judgedOf(differing, [id], setting), id)).toMatch(said);
  });
});
