import { describe, expect, it } from 'vitest';
import { saidOf } from '../tests/fixtures/judged.ts';
import {
  ANY,
  APP,
  allowing,
  from,
  isLost,
  isPage,
  isPreflight,
  isRefused,
  isServed,
  judgedOf,
  NONE,
  type Row,
  to,
} from './fixtures/pages-service.ts';

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'cors.named-origin': [
    ['may read it', () => null, /^pass/],
    ['by a wildcard', to(isServed, ANY), /^pass/],
    ['is not named', to(isServed, NONE), /got none \(status 200\)/],
    [
      'another is',
      to(isServed, allowing('https://other.example')),
      /got "https:\/\/other.example" \(status 200\)/,
    ],
    ['is refused', to(isServed, {}, 400), /got status 400/],
    ['one of a pattern', () => null, /^pass/, { policy: { origins: ['https://*.example'] } }],
    [
      'any',
      to(({ origin }) => origin === 'https://pages.invalid', NONE),
      /got none/,
      { policy: { origins: ['*'] } },
    ],
    ['two headers', to(isServed, allowing([APP, APP])), /^blocked/],
    [
      'the third',
      to(from('https://c.example'), NONE),
      /got none/,
      { policy: { origins: [APP, 'https://b.example', 'https://c.example'] } },
    ],
    [
      'the fourth is not tried',
      to(from('https://d.example'), NONE),
      /^pass/,
      { policy: { origins: [APP, 'https://b.example', 'https://c.example', 'https://d.example'] } },
    ],
  ],
  'cors.wildcard-with-credentials': [
    ['named', () => null, /^pass/, { policy: { credentials: true } }],
    [
      'any, on an error',
      to(isLost, ANY),
      /got Access-Control-Allow-Origin: \*/,
      { policy: { credentials: true } },
    ],
    [
      'any, for a page that is not named',
      to(from('https://elsewhere.invalid'), ANY),
      /^pass/,
      { policy: { credentials: true } },
    ],
    ['a list', to(isPage, allowing(`${APP}, *`)), /^(?:pass|blocked)/, { policy: { credentials: true } }],
    ['no cookies', to(isPage, ANY), /^skipped: the documents do not say that pages may send cookies/],
  ],
  'cors.credentials': [
    ['may be sent', () => null, /^pass/, { policy: { credentials: true } }],
    [
      'may not',
      to(isServed, { 'access-control-allow-credentials': null }),
      /got none/,
      { policy: { credentials: true } },
    ],
    [
      'may not, by a refusal',
      to(isPreflight, { 'access-control-allow-credentials': null }, 403),
      /^pass/,
      { policy: { credentials: true } },
    ],
    [
      'no page may read it',
      to(isPage, { ...NONE, 'access-control-allow-credentials': null }),
      /^(?:pass|blocked)/,
      { policy: { credentials: true } },
    ],
  ],
  'cors.no-credentials': [
    ['may not be sent', () => null, /^pass/, { policy: { credentials: false } }],
    [
      'may',
      to(isServed, { 'access-control-allow-credentials': 'true' }),
      /got Access-Control-Allow-Credentials: true/,
      { policy: { credentials: false } },
    ],
    [
      'another word',
      to(isServed, { 'access-control-allow-credentials': 'false' }),
      /^pass/,
      { policy: { credentials: false } },
    ],
    [
      'for a page that is not named',
      to(from('https://elsewhere.invalid'), { 'access-control-allow-credentials': 'true' }),
      /^pass/,
      { policy: { credentials: false } },
    ],
  ],
  'cors.errors': [
    ['may be read', () => null, /^pass/],
    ['may not', to(isLost, NONE), /got none \(status 404\)/],
    ['a 400 may not', to(isLost, NONE, 400), /got none \(status 400\)/],
    ['a 399 may not', to(isLost, NONE, 399), /^skipped/],
    ['the limit has a rule of its own', to(isLost, NONE, 429), /^(?:skipped|blocked)/, { waits: true }],
    ['a refusal of the key may not', to(isRefused, NONE), /^pass/],
    ['a refusal of a preflight', to(isPreflight, NONE, 404), /^pass/],
  ],
  'cors.refusals': [
    ['may be read', () => null, /^pass/],
    ['may not', to(isRefused, NONE), /got none \(status 401\)/],
    ['is none', to(isRefused, NONE, 200), /^(?:skipped|blocked)/],
    ['of a preflight may not', to(isPreflight, NONE, 401), /^pass/],
    ['other errors may not', to(isLost, NONE), /^pass/],
  ],
  'cors.exposed': [
    ['is exposed', to(isServed, { 'x-total': '1' }), /^pass/, { policy: { exposed: ['X-Total'] } }],
    ['is not sent', () => null, /^skipped: no such answer/, { policy: { exposed: ['X-Total'] } }],
    [
      'is hidden',
      to(isServed, { 'X-Total': '1', 'access-control-expose-headers': 'X-Tota, X-Totals' }),
      /got x-total is not exposed/,
      { policy: { exposed: ['x-total'] } },
    ],
    [
      'is exposed in capitals',
      to(isServed, { 'x-total': '1', 'access-control-expose-headers': 'X-TOTAL' }),
      /^pass/,
      { policy: { exposed: ['X-Total'] } },
    ],
    [
      'all are',
      to(isServed, { 'x-total': '1', 'access-control-expose-headers': '*' }),
      /^pass/,
      { policy: { exposed: ['X-Total'] } },
    ],
    [
      'all are, and with cookies none is',
      to(isServed, { 'x-total': '1', 'access-control-expose-headers': '*' }),
      /got x-total is not exposed/,
      { policy: { exposed: ['X-Total'], credentials: true } },
    ],
    [
      'may be read anyway',
      to(isServed, { expires: '0', 'access-control-expose-headers': 'X' }),
      /^skipped/,
      { policy: { exposed: ['Expires'] } },
    ],
    [
      'of an answer that may not be read',
      to(isServed, { ...NONE, 'x-total': '1', 'access-control-expose-headers': 'X' }),
      /^skipped/,
      { policy: { exposed: ['X-Total'] } },
    ],
    [
      'of a preflight',
      to(isPreflight, { 'x-total': '1', 'access-control-expose-headers': 'X' }),
      /^skipped/,
      { policy: { exposed: ['X-Total'] } },
    ],
  ],
  'cors.quota-exposed': [
    [
      'are exposed',
      to(isServed, {
        'x-ratelimit-remaining': '9',
        'access-control-expose-headers': 'X-RateLimit-Remaining',
      }),
      /^pass/,
    ],
    [
      'are hidden',
      to(isServed, { 'x-ratelimit-remaining': '9' }),
      /got x-ratelimit-remaining is not exposed/,
    ],
    ['how long to wait is hidden', to(isLost, { 'retry-after': '9' }, 503), /got retry-after is not exposed/],
    [
      'are documented',
      to(isServed, { 'x-ratelimit-remaining': '9', 'access-control-expose-headers': 'X' }),
      /^skipped/,
      { policy: { exposed: ['x-ratelimit-remaining'] } },
    ],
    ['there are none', () => null, /^skipped/],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    expect(saidOf(await judgedOf(differing, setting), id)).toMatch(said);
  });
});
