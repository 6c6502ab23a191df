import { expect, it } from 'vitest';
import { configOf, type GivenRow, type GivenRows, rowsOf, saidOf, selected } from './fixtures/said.ts';
import { client, server, talk } from './fixtures/talk.ts';

const status = (code: number | null, ...fields: readonly (readonly [string, string])[]) =>
  talk([], { status: code, fields });
const OPEN = talk([client.text('a'), client.waits(9)]);
const SERVED = talk([client.text('a'), server.text('a')]);
const CLOSED = talk([server.close(4401)]);

const SILENT = configOf({ echo: false });
const ASKED = configOf({
  echo: false,
  exchange: [{ send: 'ask', expect: { type: 'object', required: ['answer'] } }],
});
const CODED = configOf({ refusalCode: 4401 });
const QUERY = configOf({ credential: { in: 'query', name: 'key' } });

/** To refuse the handshake, to close at once and to serve nothing are as safe. */
const turnedAway = (probe: string): readonly GivenRow[] => [
  ['401', { [probe]: [status(401)] }, /^pass/],
  ['a Close', { [probe]: [CLOSED] }, /^pass/],
  ['an open connection that serves nothing', { [probe]: [OPEN] }, /^pass/],
  ['service', { [probe]: [SERVED] }, /^fail .*expected a refusal, got status 101 and the message back/],
  [
    'an open connection of which nothing shows whether it serves',
    { [probe]: [SERVED] },
    /^skipped: the connection stays open, and no message shows/,
    SILENT,
  ],
  ['a Close where no message would show it', { [probe]: [CLOSED] }, /^pass/, SILENT],
  [
    'the answer of the config',
    { [probe]: [talk([client.text('ask'), server.json({ answer: 1 })])] },
    /^fail .*got status 101 and the answer of the config to its message/,
    ASKED,
  ],
  ['another answer', { [probe]: [talk([client.text('ask'), server.json({ no: 1 })])] }, /^pass/, ASKED],
];

const refusals = (...all: readonly ReturnType<typeof talk>[]) => ({
  'websocket-refusals': all,
  'websocket-every-handshake': selected(),
});
const CHALLENGE = ['WWW-Authenticate', 'Bearer'] as const;

/** OWASP API2:2023 and RFC 9110 §11.6.1, on handshakes as they were recorded. */
const SAID: GivenRows = {
  'websocket.missing-credential': turnedAway('websocket-without-credential'),
  'websocket.wrong-credential': turnedAway('websocket-wrong-credential'),
  'websocket.near-credential': turnedAway('websocket-near-credentials'),
  'websocket.refusal-before-opening': [
    ...[400, 401, 403, 499].map((code) => [`${code}`, refusals(status(code)), /^pass/] as const),
    ...[302, 399, 500, 503].map(
      (code) =>
        [
          `${code}`,
          refusals(status(code)),
          new RegExp(`^warning .*expected status 4xx, got status ${code}`),
        ] as const,
    ),
    ['nothing', refusals(status(null)), /^warning .*got no HTTP answer/],
    ['a Close', refusals(CLOSED), /^warning .*got 101 and the close code 4401/],
    ['a Close without a code', refusals(talk([server.close()])), /^warning .*got status 101/],
    ['an open connection', refusals(OPEN), /^skipped: no handshake is refused/],
    ['a documented Close', refusals(CLOSED), /^skipped: the config documents the close code 4401/, CODED],
  ],
  'websocket.refusal-code': [
    ...[400, 401, 499].map((code) => [`${code}`, refusals(status(code)), /^pass/, CODED] as const),
    ...[399, 500].map(
      (code) =>
        [
          `${code}`,
          refusals(status(code)),
          new RegExp(`expected status 4xx, or the close code 4401, got status ${code}`),
          CODED,
        ] as const,
    ),
    ['nothing', refusals(status(null)), /got no HTTP answer/, CODED],
    ['the documented Close', refusals(CLOSED), /^pass/, CODED],
    ['another Close', refusals(talk([server.close(1008)])), /got the close code 1008/, CODED],
    ['the end of TCP', refusals(talk([server.ends()])), /got the close code none/, CODED],
    ['an open connection', refusals(OPEN), /got status 101 and an open connection after 9 ms/, CODED],
  ],
  'websocket.refusal-challenge': [
    ['a challenge', refusals(status(401, CHALLENGE)), /^pass/],
    ['no challenge', refusals(status(401)), /^fail .*expected WWW-Authenticate with a challenge, got none/],
    ['403 without a challenge', refusals(status(403)), /^skipped: no handshake was answered 401/],
  ],
  'websocket.key-not-echoed': [
    [
      'the key',
      {
        ...refusals(status(401, ['X-Key', '[redacted:REALTIME_API_KEY]'])),
        'websocket-other-version': status(426),
      },
      /^(?:fail|warning) .*expected no credential in the answer, got one in/,
    ],
    ['no key', { ...refusals(status(401)), 'websocket-other-version': status(426) }, /^pass/],
    ['no answer', { ...refusals(status(null)), 'websocket-other-version': status(426) }, /^pass/],
  ],
  'websocket.key-in-query': [
    [
      'an open connection',
      { 'websocket-without-credential': status(401), 'websocket-key-in-query': OPEN },
      /^(?:fail|warning) .*expected a refusal, got status 101/,
    ],
    ['401', { 'websocket-without-credential': status(401), 'websocket-key-in-query': status(401) }, /^pass/],
    [
      'an open connection, as it does without a key',
      { 'websocket-without-credential': OPEN, 'websocket-key-in-query': OPEN },
      /^skipped: the connection opens without a credential too/,
    ],
    [
      'an open connection where the key belongs there',
      { 'websocket-without-credential': status(401), 'websocket-key-in-query': OPEN },
      /^skipped: the handshake does not carry its key in the header/,
      QUERY,
    ],
  ],
  'websocket.key-needs-query': [
    ['an open connection', { 'websocket-key-in-header': OPEN }, /^observed: in the header as well/, QUERY],
    [
      '401',
      { 'websocket-key-in-header': status(401) },
      /^observed: in the query alone \(in the header: 401\)/,
      QUERY,
    ],
  ],
  'websocket.refusal': [
    [
      '401 and a Close',
      { 'websocket-without-credential': status(401), 'websocket-wrong-credential': CLOSED },
      /^observed: missing 401, wrong 101, then close code 4401/,
    ],
  ],
};

it.each(rowsOf(SAID))('$id, where a handshake gets $what', async ({ id, given, said, config }) => {
  expect(await saidOf(id, given, config)).toMatch(said);
});
