import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { clause, observation, suite } from '../../harness/engine/check/suite.ts';
import type { Probe, Selected } from '../../harness/engine/session/probe.ts';
import type { Reply } from '../../harness/wire/exchange/reply.ts';
import { configFor, holdsKey, judgedServed, saidOf } from '../tests/fixtures/judged.ts';
import {
  everyError,
  everyExchange,
  everyJson,
  everyMessage,
  everyRefusal,
  everyServerError,
} from './record.ts';
import { optionsSample, rangeRequest, unknownPaths } from './target.ts';

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string;
}

/** What differs from a service that asks for a key at its only path; null for nothing. */
type Differing = (
  request: Pick<IncomingMessage, 'method' | 'url'> & { readonly key: Key; readonly range: boolean },
) => Answer | null;
type Key = 'right' | 'wrong' | 'none';

const NOTHING: Differing = () => null;
const LIST: Answer = { body: '{"resources":[]}' };
const LOST: Answer = { status: 404, body: '{"error":"not found"}' };
const NO_KEY: Answer = { status: 401, body: '{"error":"key"}' };

/** Sends these, and observes which of the record are selected: method, path from the end, and key. */
async function observed(
  selection: Probe<Selected<Reply>>,
  differing = NOTHING,
  sent: readonly Probe<unknown>[] = [],
) {
  const check = observation('record.selected', {
    ...{ title: 'selects', why: 'A test.', grounds: [clause('endpoint.sample')], uses: [...sent, selection] },
    async observe({ probe }) {
      for (const each of sent) await probe(each);
      const { all } = await probe(selection);
      const seen = all.map(
        ({ exchange: { request, credential } }) => `${request.method} ${request.target} ${credential}`,
      );
      return { seen: seen.sort(), note: '' };
    },
  });
  return judgedServed(
    ({ method = '', url = '', headers }, response) => {
      const key: Key = holdsKey(headers.authorization)
        ? 'right'
        : headers.authorization === undefined
          ? 'none'
          : 'wrong';
      const usual = key === 'right' ? (url === '/v1/resources' ? LIST : LOST) : NO_KEY;
      const range = headers.range !== undefined;
      const {
        status = 200,
        type = 'application/json',
        body = '',
      } = differing({ method, url, key, range }) ?? usual;
      response.writeHead(status, { 'Content-Type': type }).end(body);
    },
    await configFor(),
    [suite('record', 'Record', [check])],
  );
}

const selected = async (...given: Parameters<typeof observed>) =>
  (await observed(...given)).observations['record.selected'];

const SAMPLE = 'GET /v1/resources right';
const NONE = 'GET /v1/resources none';
const WRONG = 'GET /v1/resources wrong';
const UNKNOWN = 'GET /v1/conform-no-such-resource right';
const DEEP = `${UNKNOWN.slice(0, -' right'.length)}/conform/none right`;

const lost =
  (answer: Answer): Differing =>
  ({ url }) =>
    url === '/v1/resources' ? null : { ...LOST, ...answer };
const keyless =
  (answer: Answer): Differing =>
  ({ key }) =>
    key === 'right' ? null : { ...NO_KEY, ...answer };
const by =
  (wanted: string, answer: Answer): Differing =>
  ({ method }) =>
    method === wanted ? answer : null;

type Row = readonly [
  what: string,
  seen: readonly string[],
  differing?: Differing,
  sent?: readonly Probe<unknown>[],
];

const SELECTIONS: readonly (readonly [string, Probe<Selected<Reply>>, readonly Row[]])[] = [
  ['every exchange', everyExchange, [['of these', [NONE, SAMPLE, UNKNOWN]]]],
  ['every message', everyMessage, [['that was read octet by octet', [SAMPLE]]]],
  [
    'every JSON text',
    everyJson,
    [
      ['with content', [NONE, SAMPLE, UNKNOWN]],
      ['that is one', [NONE, SAMPLE], lost({ type: 'text/html' })],
      ['without content', [NONE, SAMPLE], lost({ body: '' })],
      [
        'that is no range',
        [NONE, SAMPLE, UNKNOWN],
        ({ range }) => (range ? { status: 206, body: '{"' } : null),
        [rangeRequest],
      ],
      ['of a whole answer to a range', [NONE, SAMPLE, SAMPLE, UNKNOWN], NOTHING, [rangeRequest]],
      ['of 206 for no range', [NONE, SAMPLE, UNKNOWN], lost({ status: 206 })],
    ],
  ],
  [
    'every explained error',
    everyError,
    [
      ['for the key and the path', [NONE, WRONG, UNKNOWN]],
      ...[400, 405, 500, 501].map(
        (status) => [`of status ${status}`, [NONE, WRONG, UNKNOWN], lost({ status })] as const,
      ),
      ...[200, 302, 416, 429, 502, 503, 504].map(
        (status) => [`not of status ${status}`, [NONE, WRONG], lost({ status })] as const,
      ),
      ['not by OPTIONS', [NONE, WRONG, UNKNOWN], by('OPTIONS', { status: 405, body: '{}' }), [optionsSample]],
      ['at paths of the API', [NONE, WRONG, UNKNOWN, DEEP], NOTHING, [unknownPaths]],
      [
        'not at the top',
        [NONE, WRONG],
        ({ url = '' }) => (url.startsWith('/v1/') && url !== '/v1/resources' ? LIST : null),
        [unknownPaths],
      ],
    ],
  ],
  [
    'every other error',
    everyServerError,
    [
      ['of none', []],
      ['of a gateway', [UNKNOWN], lost({ status: 503 })],
      ['not of a limit', [], lost({ status: 429 })],
      ['with content', [], lost({ status: 503, body: '' })],
      [
        'by OPTIONS',
        ['OPTIONS /v1/resources right'],
        by('OPTIONS', { status: 405, body: '{}' }),
        [optionsSample],
      ],
      ['and no success by it', [], by('OPTIONS', { body: '{}' }), [optionsSample]],
      ['and no page', [UNKNOWN], lost({ status: 503, type: 'text/html', body: '<p>' })],
    ],
  ],
  [
    'every refusal',
    everyRefusal,
    [
      ['of a key', [NONE, WRONG]],
      ['of the plainest, whatever its status', [NONE, WRONG], keyless({ status: 400 })],
      ['and not what is served', [WRONG], ({ key }) => (key === 'none' ? LIST : null)],
      ['not of a method', [NONE, WRONG], by('OPTIONS', { status: 403, body: '{}' }), [optionsSample]],
      ['not by OPTIONS', [NONE, WRONG], by('OPTIONS', { status: 401, body: '{}' }), [optionsSample]],
      ['with 401 for the right key', [NONE, UNKNOWN, DEEP, WRONG], lost({ status: 401 }), [unknownPaths]],
      ['not with 403 for the right key', [NONE, WRONG], lost({ status: 403 }), [unknownPaths]],
    ],
  ],
];

describe.concurrent.each(SELECTIONS)('%s', (_, selection, rows) => {
  it.each(rows.map((row) => ({ row })))('$row.0', async ({ row: [, seen, differing, sent] }) => {
    expect(await selected(selection, differing, sent)).toEqual([...seen].sort());
  });
});

it('says so where no refusal came', async () => {
  expect(
    saidOf(await observed(everyRefusal, ({ key }) => (key === 'right' ? null : LIST)), 'record.selected'),
  ).toMatch(/^blocked: no refusal to judge/);
});
