import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { serving } from '../../harness/base/fixtures/server.ts';
import { configFor, holdsKey, type Judged, judgedInTurn, saidOf } from '../tests/fixtures/judged.ts';
import { http2 } from './http2.suite.ts';

interface Answer {
  readonly status?: number;
  readonly type?: string | null;
  readonly body?: string;
}

/** What the documented request gets, by version; `at` counts those of that version from 1. */
type Answers = (version: '1.1' | '2.0', at: number) => Answer;

const LIST: Answer = { body: '{"resources":[1,2]}' };

type Version = Parameters<Answers>[0];

/** How each request is answered, by version. */
function answering(answers: Answers, open: boolean, refusals: readonly number[]) {
  let refused = 0;
  const counts = { '1.1': 0, '2.0': 0 };
  return (version: Version, url: string | undefined, authorization: string | undefined) => {
    if (!open && !holdsKey(authorization)) {
      const status = refusals[Math.min(refused, refusals.length - 1)] ?? 401;
      refused += 1;
      return { status, headers: { 'WWW-Authenticate': 'Bearer realm="both"' }, body: '' };
    }
    if (url === '/v1/resources') counts[version] += 1;
    const { status = 200, type = 'application/json', body = '' } = answers(version, counts[version]);
    return { status, headers: type === null ? {} : { 'Content-Type': type }, body };
  };
}

interface Setting {
  /** It wants no key. */
  readonly open?: boolean;
  /** It has no HTTP/1.1. */
  readonly alone?: boolean;
  /** The config says that it speaks HTTP/2. */
  readonly isSaid?: boolean;
  /** Of requests without a key, in turn; the last one is that of all further ones. */
  readonly refusals?: readonly number[];
}

/** A service on one port for both versions. */
async function judgedOf(
  answers: Answers,
  { open = true, alone = false, isSaid = true, refusals = [] }: Setting = {},
): Promise<Judged> {
  const answer = answering(answers, open, refusals);
  const olderServer = createServer(({ url, headers }, response) => {
    const { status, headers: fields, body } = answer('1.1', url, headers.authorization);
    response.writeHead(status, fields).end(body);
  });
  const newerServer = createHttp2Server(({ url, headers }, response) => {
    const { status, headers: fields, body } = answer('2.0', url, headers.authorization);
    response.writeHead(status, fields).end(body);
  });
  const both = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (start: Buffer) => {
      socket.pause();
      socket.unshift(start);
      if (alone || start.toString('latin1').startsWith('PRI')) {
        newerServer.emit('connection', socket);
      } else {
        olderServer.emit('connection', socket);
        socket.resume();
      }
    });
  });
  const { url, stop } = await serving(both);
  const config = { ...(await configFor(url, open)), ...(isSaid && { http2: true as const }) };
  return judgedInTurn(config, [http2], { url }).finally(stop);
}

/** JSON of a shape that was not there before. */
const another = (at: number): Answer => ({ body: `{"member${at}":1}` });

const SAME = 'http2.same-answer';
const older =
  (answer: Answer, newer: Answer = LIST): Answers =>
  (version) =>
    version === '1.1' ? answer : newer;

describe.concurrent('answers in both versions', () => {
  it.each<[string, Answers, RegExp]>([
    ['are equal', () => LIST, /^pass/],
    ['differ in their values', older({ body: '{"resources":[7,8,9]}' }), /^pass/],
    ['differ in their status', older({ ...LIST, status: 206 }), /^fail: .*status 200 in place of 206/],
    [
      'differ in their media type',
      older({ ...LIST, type: 'text/json' }),
      /^fail: .*media type application\/json in place of text\/json/,
    ],
    [
      'have a media type in one alone',
      older({ ...LIST, type: null }),
      /^fail: .*media type application\/json in place of none/,
    ],
    ['have JSON of another shape', older({ body: '[]' }), /^fail: .*JSON of another shape/],
    ['are texts that differ', (version) => ({ type: 'text/plain', body: `in ${version}` }), /^pass/],
    [
      'change in HTTP/1.1 alone',
      (version, at) => (version === '2.0' ? LIST : another(at)),
      /^blocked: .*within one version/,
    ],
    [
      'change in HTTP/2 alone',
      (version, at) => (version === '1.1' ? LIST : another(at)),
      /^blocked: .*within one version/,
    ],
    ['ask for another version by 421', older({ ...LIST, status: 421 }), /^skipped: .*another version/],
    ['ask for another version by 426', older({ ...LIST, status: 426 }), /^skipped: .*another version/],
    ['ask for another version by 505', older({ ...LIST, status: 505 }), /^skipped: .*another version/],
    [
      'are too long to be compared',
      older({ body: `[${'1,'.repeat(2_000_000)}1]` }),
      /^blocked: .*cannot be compared/,
    ],
  ])('that %s', async (_, answers, said) => {
    expect(saidOf(await judgedOf(answers), SAME)).toMatch(said);
  });
});

it('judges nothing where the config does not say that the service speaks HTTP/2', async () => {
  const { outcomes } = await judgedOf(() => LIST, { isSaid: false });
  expect(new Set(Object.values(outcomes))).toEqual(new Set(['skipped']));
});

it.each([
  [true, 'skipped'],
  [false, 'pass'],
])('resets a request without a key: open %s, %s', async (open, outcome) => {
  const { outcomes } = await judgedOf(() => LIST, { open });
  expect(outcomes['http2.stream-reset']).toBe(outcome);
});

it('compares nothing of a service that speaks HTTP/2 alone', async () => {
  const all = await judgedOf(() => LIST, { alone: true });
  expect(saidOf(all, SAME)).toBe('skipped: the service speaks HTTP/2 alone');
  expect(saidOf(all, 'http2.well-formed')).toMatch(/^pass/);
});

it('names the status that a request beside a reset one gets', async () => {
  const all = await judgedOf(() => LIST, { open: false, refusals: [401, 503] });
  expect(saidOf(all, 'http2.stream-reset')).toMatch(/^fail: expected status 401, as alone, got status 503/);
});
