import { describe, expect, it } from 'vitest';
import { costOf, neededIn, type Probe, usualCostOf } from '../../harness/engine/session/probe.ts';
import type { Exchange } from '../../harness/wire/exchange.ts';
import { configFor, type Judged, saidOf } from '../tests/fixtures/judged.ts';
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
import * as connection from './stimuli/connection.ts';
import { CHUNK_SPELLED, SPELLED } from './stimuli/spelling.ts';

const isRaw = like(/^accept-encoding: identity/im);
const isKept = like(/^connection: keep-alive/im);
/** In all spellings at once: the only one that comes octet by octet in these tests. */
const isJoined = like(/^\r\n[\s\S]*x-conform;q/i);
const isSpelledChunk = like(/^(?!A;x=1)[\s\S]*conform=12/);
const isUsualChunk = like(/^A;x=1\r\nconform=12/m);
const isJoinedChunk = like(/^000a;x="y;z"/m);
const isZeros = like(/^000A\r\n/m);

const UNMEASURED = 'HTTP/1.1 400 Said\r\nContent-Type: application/json\r\n\r\n';
const LONG = 'x'.repeat(1_100_000);

const MESSAGES: Readonly<Record<string, readonly Row[]>> = {
  'framing.one-response': [
    ['nothing follows', to(isKept, KEPT, 'keeps'), /^pass/],
    [
      'more follows',
      (came, at) => (isKept(came) ? { octets: KEPT, end: 'keeps', ...(at === 1 && { later: OK }) } : null),
      /got "HTTP.1.1 200 Said"/,
    ],
    ['more follows at once, which another check finds', to(isKept, `${KEPT}MORE`, 'keeps'), /^pass/],
  ],
  'framing.one-message': [
    ['whole', () => null, /^pass/],
    [
      'more octets than it declares, and another response later',
      either(to(isRaw, `${OK}MORE`), (came, at) =>
        isKept(came) ? { octets: KEPT, end: 'keeps', ...(at === 1 && { later: OK }) } : null,
      ),
      /^blocked/,
    ],
    ['fewer octets than it declares, which another check finds', to(isRaw, OK.slice(0, -2)), /^(?!fail)/],
    ['more octets than it declares', to(isRaw, `${OK}MORE`), /got bytes after the body/],
    ['more octets than it declares, kept', to(isKept, `${KEPT}MORE`, 'keeps'), /got bytes after the body/],
    ['no HTTP', to(isRaw, 'HELLO\r\n\r\n'), /^fail/],
    ['reset before its end is known', to(isRaw, `${UNMEASURED}{`, 'resets'), /^fail: .*reset|ECONNRESET/],
    ['longer than is read', to(isRaw, `${UNMEASURED.replace('400', '200')}${LONG}`), /^(?!fail)/],
    ['no HTTP for octets one by one', to(isJoined, 'HELLO\r\n\r\n'), /^fail/],
    [
      'a refusal of octets one by one that ends with a reset',
      to(isJoined, `${UNMEASURED}{`, 'resets'),
      /^pass/,
    ],
  ],
  'framing.empty-line': [
    ['is served', () => null, /^pass/],
    ['leads elsewhere', to(like(/^\r\n/), of(302)), /^pass/],
    ['is refused', to(like(/^\r\n/), of(400)), /got status 400/],
    ['is refused with all others', to(isJoined, of(400)), /^pass/],
  ],
  'framing.chunk-zeros': [
    ['the same', to(isSpelledChunk, NO_KEY + NO_KEY), /^pass/],
    ['the same alone', either(to(isJoinedChunk, BAD), to(isSpelledChunk, NO_KEY)), /^pass/],
    ['none', either(to(isZeros, ''), to(isJoinedChunk, '')), /got no response/],
    ['a refusal', either(to(isZeros, BAD), to(isJoinedChunk, BAD)), /got status 400 /],
    [
      'the first alone',
      either(to(isUsualChunk, BAD + NO_KEY), to(isJoinedChunk, BAD), to(isZeros, BAD)),
      /got status 400, and nothing for the request behind it/,
    ],
    [
      'the second is another',
      either(to(isUsualChunk, NO_KEY + NO_KEY), to(isSpelledChunk, NO_KEY + LOST)),
      /got status 401 and 404/,
    ],
    ['usual ones get none', to(isUsualChunk, ''), /^(?:blocked|skipped)/],
  ],
};

describe.concurrent.each(Object.entries(MESSAGES))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said] }) => {
    expect(saidOf(await judgedOf(differing, [id, 'framing.octet-by-octet']), id)).toMatch(said);
  });
});

const everywhere =
  (change: (answer: string) => string): Differing =>
  (came) => ({ octets: change(usual(came)) });
const inOldVersion = (answer: string) => answer.replaceAll('HTTP/1.1', 'HTTP/1.0');
const without = (answer: string) => answer.replaceAll(/^(?:Connection|Content-Length): .*\r\n/gm, '');

it.each<[string, Differing, Readonly<Record<string, unknown>>]>([
  ['that closes', everywhere((all) => all), { delimiter: 'Content-Length', persistent: false }],
  ['in capitals', everywhere((all) => all.replace('close', 'Close')), { persistent: false }],
  ['among others', everywhere((all) => all.replace('close', 'Foo, close')), { persistent: false }],
  ['that keeps', to(isKept, KEPT, 'keeps'), { persistent: true }],
  ['without a length', everywhere(without), { delimiter: 'close' }],
  ['in HTTP/1.0', everywhere((all) => inOldVersion(without(all))), { persistent: false }],
  [
    'in HTTP/1.0 that keeps',
    to(isKept, inOldVersion(message(200, '{}', 'Connection: keep-alive\r\n')), 'keeps'),
    { persistent: true },
  ],
])('a transfer %s is observed', async (_, differing, seen) => {
  const { observations } = await judgedOf(differing, ['framing.transfer']);
  expect(observations['responses.transfer']).toMatchObject(seen);
});

/** The exchanges of a run. */
function exchangesOf({ events }: Judged): readonly Exchange[] {
  return events.flatMap((event) => (event.type === 'evidence' ? [event.value as Exchange] : []));
}

const COLON = /^[\w-]+:(?! )/m;
const SPELLINGS: readonly RegExp[] = [/^\r\n/, COLON, /: {2}/, /^USER-AGENT/m, /x-conform;q/, /^Accept: ,/im];

it('a spelling is tried alone in a request that differs in it alone', async () => {
  const all = await judgedOf(
    // One spelling is taken, and several are not.
    (came) => (SPELLINGS.filter((each) => each.test(came)).length > 1 ? { octets: BAD } : null),
    ['framing.octet-by-octet'],
    { sample: { fields: { 'X-Accept': 'no', 'Accept-Charset': 'no', aCCept: 'text/x' } } },
  );
  const sent = exchangesOf(all).map(({ purpose, request: { fields, spelled, piecemeal } }) => {
    const accept = fields.flatMap(([name, value]) => (/^accept$/i.test(name) ? [value] : []));
    return [purpose, [accept, spelled ?? null, piecemeal ?? false]];
  });
  const usual = ['text/x'];
  expect(Object.fromEntries(sent)).toEqual({
    'as documented': [usual, null, false],
    'as documented, in lawful spellings': [
      [', application/x-conform;q=0.1 ,,', ', text/x ,,'],
      ['empty-line', 'wide-values', 'tabbed-values', 'bare-colon', 'upper-names'],
      true,
    ],
    'after an empty line': [usual, ['empty-line'], false],
    'octet by octet': [usual, null, true],
    'with several spaces around each field value': [usual, ['wide-values'], false],
    'with tabs around each field value': [usual, ['tabbed-values'], false],
    'without a space after each colon': [usual, ['bare-colon'], false],
    'with field names in capitals': [usual, ['upper-names'], false],
    'with Accept in two lines': [['application/x-conform;q=0.1', 'text/x'], null, false],
    'with empty members in Accept': [[', text/x ,,'], null, false],
  });
});

it('an Accept of its own is sent only for a spelling of Accept', async () => {
  const all = await judgedOf(to(isJoined, BAD), ['framing.octet-by-octet']);
  const acceptOf = (purpose: string) =>
    exchangesOf(all)
      .find((each) => each.purpose === purpose)
      ?.request.fields.flatMap(([name, value]) => (name === 'Accept' ? [value] : []));
  expect(acceptOf('as documented, in lawful spellings')).toEqual([
    ', application/x-conform;q=0.1 ,,',
    ', */* ,,',
  ]);
  expect(acceptOf('with Accept in two lines')).toEqual(['application/x-conform;q=0.1', '*/*']);
  expect(acceptOf('octet by octet')).toEqual([]);
});

const LENGTHS = /^(?: ?transfer.encoding|content-length|connection|x-conform:|upgrade|expect|http2-)/i;
const CHUNKED = 'Transfer-Encoding: chunked';

it('a message is sent with each length that is in dispute, and nothing that it needs is undeclared', async () => {
  const came: string[] = [];
  const all = await judgedOf((octets) => {
    came.push(octets);
    return null;
  });
  expect(Object.values(all.outcomes)).not.toContain('error');
  const heads = came.map((each) =>
    each
      .split('\r\n\r\n')[0]
      ?.split('\r\n')
      .filter((line) => LENGTHS.test(line)),
  );
  expect(heads).toEqual(
    expect.arrayContaining([
      ['Content-Length: 140'],
      [CHUNKED, 'Content-Length: 145'],
      ['Connection: keep-alive', CHUNKED],
      ['X-Conform: folded', ` ${CHUNKED}`, 'Content-Length: 145'],
      ['X-Conform: cut\rTransfer-Encoding: chunked', 'Content-Length: 145'],
      ['Transfer_Encoding: chunked', 'Content-Length: 145'],
      ['Content-Length: 0', 'Content-Length: 9'],
      ['Content-Length: +0'],
      ['Transfer-Encoding: chunked, gzip'],
      ['Transfer-Encoding: x-conform, chunked'],
      ['Expect: 100-continue'],
      ['Expect: 100-continue', 'Content-Length: 10'],
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
    ]),
  );
  expect(came).toContainEqual(
    expect.stringMatching(/^Transfer-Encoding: chunked\r\n\r\n10000000000000005\r\n/m),
  );
});

const isOwn = (each: Probe<unknown>) => !each.derives && each !== connection.unasked;
const OWN: readonly Probe<unknown>[] = Object.values(connection).flatMap((each) =>
  typeof each === 'object' && 'send' in each && isOwn(each) ? [each] : [],
);
/** Requests that were sent for each stimulus. */
function sentIn({ events }: Judged): Readonly<Record<string, number>> {
  const sent = events.flatMap((event) => (event.type === 'evidence' ? [event] : []));
  return Object.fromEntries(
    [...Map.groupBy(sent, ({ probe = '' }) => probe)].map(([name, all]) => [name, all.length]),
  );
}

it('a stimulus declares the requests that it costs usually, and at most', async () => {
  const config = await configFor();
  const usually = sentIn(await judgedOf(() => null));
  expect(OWN.map(({ name }) => [name, usually[name]])).toEqual(
    OWN.map((each) => [each.name, usualCostOf(each, config)]),
  );
  expect(usually).toMatchObject({ 'lawful-spellings': 1, 'chunk-spellings': 1 });
  const worst = sentIn(
    await judgedOf(
      either(
        to(isJoined, BAD),
        to(isJoinedChunk, BAD),
        to(like(/^(?![\s\S]*example-key)[\s\S]*hidden/), NO_KEY),
        to(isPair, LOST),
      ),
    ),
  );
  // Of two requests on a connection each is one.
  const isOfTwo = (name: string) =>
    /^(?:pipelined|chunked-content|expected-content|chunk-spellings)$/.test(name);
  const all = [
    ...OWN,
    ...[CHUNK_SPELLED.zeros, SPELLED.piecemeal].flatMap(({ needs }) => neededIn(needs, config)),
  ];
  expect(Object.fromEntries(all.map((each) => [each.name, costOf(each, config)]))).toEqual(
    Object.fromEntries(all.map(({ name }) => [name, (worst[name] ?? 0) * (isOfTwo(name) ? 2 : 1)])),
  );
});
