import { describe, expect, it } from 'vitest';
import { simulatedClock } from '../../harness/engine/simulation/clock.ts';
import { missingCredential } from '../auth/bad-credentials.ts';
import { headers } from '../headers/headers.suite.ts';
import { json } from '../json/json.suite.ts';
import { negotiation } from '../negotiation/negotiation.suite.ts';
import { status } from '../status/status.suite.ts';
import { saidOf } from '../tests/fixtures/judged.ts';
import {
  type Answer,
  type Asked,
  CONTENT,
  type Differing,
  judgedOf,
  type Setting,
} from './fixtures/versioned-service.ts';

/** Answers to the same request, and those to requests that differ from it by what should make no difference. */

const more = [missingCredential, ...[status, json, headers, negotiation].flatMap(({ checks }) => checks)];
const isSame = ({
  headers: { 'accept-encoding': coding, connection, 'content-type': type },
  key,
  target,
  method,
}: Asked) =>
  target === '/v1/resources' &&
  key !== null &&
  method === 'GET' &&
  coding === undefined &&
  connection !== 'close' &&
  type === 'application/json';
/** The answers to the documented request, by the number of those before. */
const inTurn =
  (answerOf: (at: number) => Partial<Answer> | null): Differing =>
  (asked) =>
    isSame(asked) ? answerOf(asked.alike) : null;
const at = (places: readonly number[], answer: Partial<Answer>) =>
  inTurn((place) => (places.includes(place) ? answer : null));
const list = (count: number) => ({
  body: JSON.stringify({ resources: Array.from({ length: count }, () => 'a') }),
});
const text: Partial<Answer> = { fields: { 'Content-Type': 'text/plain' } };
const bare: Partial<Answer> = { fields: { Vary: null } };
const error = (code: number, fields: Answer['fields'] = {}): Partial<Answer> => ({
  status: code,
  fields,
  body: '{"error":"e"}',
});
const behind = (minutes: number) => ({
  fields: { Date: new Date(Date.now() - minutes * 60_000).toUTCString() },
});

type Row = readonly [
  what: string,
  differing: Differing,
  said: RegExp,
  setting?: Setting & { readonly waits?: true },
];

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'status.stable': [
    ['all alike', () => null, /^pass/],
    ['one error', at([1], error(500)), /got status 500 for 1 of 20 answers to the same request/],
    ['an error of a key', at([1], error(401)), /got status 401 for 1 of 20|^blocked/],
    ['load is shed for a while', at([1], error(503, { 'Retry-After': '1' })), /^pass/],
    ['load is shed', at([1], error(503)), /got status 503 for 1 of 20/],
    [
      'a gateway says for how long',
      at([1], error(504, { 'Retry-After': '1' })),
      /got status 504 for 1 of 20/,
    ],
    [
      'a refusal for good, which may be that of a limiter',
      inTurn((place) => (place === 1 ? error(404) : place > 9 ? error(403) : null)),
      /got status 404 for 1 of 10/,
      { waits: true },
    ],
    [
      'a refusal for good, where no plan is known',
      inTurn((place) => (place === 1 ? error(404) : place > 9 ? error(403) : null)),
      /of 20 answers/,
      { change: (config) => ({ ...config, plan: null }) },
    ],
    ['refusals for good alone', inTurn((place) => (place > 0 ? error(403) : null)), /^pass/, { waits: true }],
    ['a refusal that comes back', at([1, 5, 6], error(403)), /got status 403 for 3 of 20/],
    [
      'another media type at first',
      at([0], text),
      /got Content-Type application\/json for 19 of 20|got Content-Type text\/plain for 1 of 20/,
    ],
    ['another media type once', at([2], text), /got Content-Type text\/plain for 1 of 20/],
    ['one that is cut', at([1], { isCut: true }), /got no .* for 1 of 20/],
  ],
  'headers.steady': [
    ['all alike', () => null, /^pass/],
    ['one without Vary', at([1], bare), /got no Vary for 1 of 20/],
    [
      'without it from now on',
      inTurn((place) => (place === 1 ? error(500) : place > 6 ? bare : null)),
      /^pass/,
    ],
    [
      'without it from one request to the next',
      inTurn((place) => (place > 1 ? bare : null)),
      /got .*Vary for 1 of (?:3|20)|got .*Vary for 2 of 3/,
    ],
    ['with it from the second on', at([0], bare), /got no Vary for 1 of 3/],
  ],
  'json.shape-stable': [
    ['all alike', () => null, /^pass/],
    ['one of another shape', at([1], { body: '{"resources":7}' }), /1 of 20/],
    [
      'another shape from now on',
      inTurn((place) => (place === 1 ? error(500) : place > 6 ? { body: '{"resources":7}' } : null)),
      /^pass/,
    ],
  ],
  'json.count-stable': [
    ['all alike', () => null, /^pass/],
    ['two in turn', inTurn((place) => list(1 + (place % 2))), /in turn/],
    ['two in turn, after the first', inTurn((place) => list(place === 0 ? 2 : 1 + (place % 2))), /in turn/],
    ['one is no list', at([1], { body: '"x"' }), /^(?:skipped: the documented response is no list|blocked)/],
    [
      'one is refused',
      at([1], { ...list(2), status: 404 }),
      /^(?:skipped: the documented response is no list|blocked)/,
    ],
    ['no list', inTurn(() => ({ body: '{"a":1}' })), /^skipped: the documented response is no list/],
  ],
  'caching.etag-stable': [
    ['another once', at([2], { fields: { ETag: '"v2"' } }), /1 of 20/],
    [
      'another from now on',
      inTurn((place) => (place === 1 ? error(500) : place > 6 ? { fields: { ETag: '"v2"' } } : null)),
      /^(?:pass|skipped)/,
    ],
  ],
  'caching.one-clock': [
    ['the same', () => null, /^pass/],
    ['one of five minutes ago', at([1], behind(5)), /got a Date 5 min behind the others for 1 of 20/],
    ['one of a minute ago', at([1], behind(1)), /^pass/],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    const clock = simulatedClock();
    const judged = await judgedOf(differing, [id], { ...setting, more, ...(setting?.waits && { clock }) });
    clock.stop();
    expect(saidOf(judged, id)).toMatch(said);
  });
});

const isGzip = ({ headers: { 'accept-encoding': coding }, key }: Asked) => coding === 'gzip' && key !== null;
const toGzip =
  (answer: Partial<Answer>): Differing =>
  (asked) =>
    isGzip(asked)
      ? { body: CONTENT, ...answer, fields: { 'Content-Encoding': null, ...answer.fields } }
      : null;
const suspicious =
  (answer: Partial<Answer>, differs: (asked: Asked) => boolean): Differing =>
  (asked) =>
    differs(asked) ? answer : null;
const isAnonymous = ({ key, target }: Asked) => key === null && target === '/v1/resources';

// A few requests are sent anyway; twenty tell how often one is unlike the others.
describe.concurrent.each<
  readonly [
    check: string,
    rows: readonly (readonly [what: string, differing: Differing, isSuspicious: boolean])[],
  ]
>([
  [
    'caching.etag-per-coding',
    [
      ['what is served is as it was', toGzip({ fields: { ETag: '"v1"' } }), false],
      ...[401, 404, 500, 502, 503, 504].map(
        (code) => [`an error ${code}`, toGzip(error(code)), true] as const,
      ),
      ...[402, 405, 406, 501, 505].map((code) => [`a refusal ${code}`, toGzip(error(code)), false] as const),
      ['another header', toGzip({ fields: { Vary: null, ETag: '"v1"' } }), true],
      [
        'another header with another status',
        toGzip({ status: 203, fields: { Vary: null, ETag: '"v1"' } }),
        false,
      ],
      [
        'another header with another media type',
        toGzip({ fields: { Vary: null, 'Content-Type': 'text/plain' } }),
        false,
      ],
      ['another header of compressed content', suspicious({ fields: { Vary: null } }, isGzip), false],
      ['no answer to its end', toGzip({ isCut: true }), true],
    ],
  ],
  ['auth.missing-credential', [['an error without a key', suspicious(error(500), isAnonymous), false]]],
  [
    'negotiation.content-type-spelling',
    [
      [
        'an error over another Content-Type',
        suspicious(error(500), ({ headers }) => /charset/.test(String(headers['content-type']))),
        false,
      ],
    ],
  ],
  ['status.head', [['an error of HEAD', suspicious(error(500), ({ method }) => method === 'HEAD'), false]]],
  [
    'caching.etag-changes',
    [['an error at another path', suspicious(error(404), ({ target }) => target !== '/v1/resources'), false]],
  ],
  ['caching.contradiction', [['lists of several lengths', inTurn((place) => list(1 + place)), true]]],
])('beside %s', (id, rows) => {
  it.each(rows)('%s', async (_, differing, isSuspicious) => {
    let same = 0;
    const counted: Differing = (asked, usual) => {
      if (isSame(asked) && !/charset/.test(String(asked.headers['content-type'])))
        same = Math.max(same, asked.alike + 1);
      return differing(asked, usual);
    };
    await judgedOf(counted, [id, 'status.stable'], { more });
    expect(same >= 20).toBe(isSuspicious);
  });
});
