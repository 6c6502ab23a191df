import { describe, expect, it } from 'vitest';
import { saidOf } from '../tests/fixtures/judged.ts';
import { type Asked, isPreflight, judgedOf, NONE, type Row, to } from './fixtures/pages-service.ts';

const documenting = (operations: Readonly<Record<string, object>>) => ({
  openapi: '3.1.0',
  info: { title: 'pages', version: '1' },
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  security: [{ key: [] }],
  paths: Object.fromEntries(
    Object.entries(operations).map(([called, more]) => {
      const [method = '', path = ''] = called.split(' ');
      return [path, { [method]: { responses: { 200: { description: 'ok' } }, ...more } }];
    }),
  ),
});
const withHeader = (...names: readonly string[]) => ({
  security: [],
  parameters: names.map((name) => ({ in: 'header', name, schema: { type: 'string', example: 'a' } })),
});
const isFor = (path: string) => (asked: Asked) => isPreflight(asked) && asked.target.startsWith(path);

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'cors.preflight-credential': [
    ...[401, 403, 407].map(
      (status): Row => [`status ${status}`, to(isPreflight, {}, status), new RegExp(`got status ${status}`)],
    ),
    ...[400, 402, 404, 408].map((status): Row => [`status ${status}`, to(isPreflight, {}, status), /^pass/]),
  ],
  'cors.preflight': [
    ['is answered', () => null, /^pass/],
    ['gets 404', to(isPreflight, {}, 404), /got status 404/],
    ['names no origin', to(isPreflight, NONE), /got none \(status 204\)/],
    [
      'a browser sends none for a plain GET',
      to(isPreflight, {}, 405),
      /^skipped: browsers send every documented request without a preflight/,
      { isPlain: true },
    ],
    [
      'one for a PUT',
      to(isPreflight, {}, 405),
      /got status 405/,
      { isPlain: true, document: documenting({ 'put /a': { security: [] } }) },
    ],
    [
      'none for a HEAD',
      to(isPreflight, {}, 405),
      /^skipped: browsers send/,
      { isPlain: true, document: documenting({ 'head /a': { security: [] } }) },
    ],
    [
      'a path that is made up may be missing',
      to(isFor('/a/'), {}, 404),
      /^pass/,
      { document: documenting({ 'put /a/{id}': {} }) },
    ],
    [
      'a path that is made up is no error',
      to(isFor('/a/'), {}, 405),
      /got status 405/,
      { document: documenting({ 'put /a/{id}': {} }) },
    ],
    [
      'a documented path may not',
      to(isFor('/a'), {}, 404),
      /got status 404/,
      { document: documenting({ 'put /a': {} }) },
    ],
  ],
  'cors.preflight-methods': [
    ['allowed', () => null, /^pass/, { document: documenting({ 'put /a': {} }) }],
    [
      'not allowed',
      to(isFor('/a'), { 'access-control-allow-methods': 'put, GET' }),
      /got PUT not in "put, GET"/,
      { document: documenting({ 'put /a': {} }) },
    ],
    [
      'all are',
      to(isFor('/a'), { 'access-control-allow-methods': '*' }),
      /^pass/,
      { document: documenting({ 'put /a': {} }) },
    ],
    [
      'all are, and with cookies none is',
      to(isFor('/a'), { 'access-control-allow-methods': '*' }),
      /got PUT not in "\*"/,
      { policy: { credentials: true }, document: documenting({ 'put /a': {} }) },
    ],
    [
      'POST needs no permission',
      to(isFor('/a'), { 'access-control-allow-methods': 'X' }),
      /^pass/,
      { document: documenting({ 'post /a': {} }) },
    ],
    [
      'a preflight that is refused allows nothing',
      to(isPreflight, { 'access-control-allow-methods': null }, 404),
      /^skipped: no preflight is answered/,
    ],
  ],
  'cors.preflight-headers': [
    ['allowed', () => null, /^pass/, { document: documenting({ 'put /a': withHeader('X-Kind') }) }],
    [
      'in any letter case',
      to(isFor('/a'), { 'access-control-allow-headers': 'x-KIND' }),
      /^pass/,
      { document: documenting({ 'put /a': withHeader('X-Kind') }) },
    ],
    [
      'not allowed',
      to(isFor('/a'), { 'access-control-allow-headers': 'X-Kin' }),
      /got x-kind not in "X-Kin"/,
      { document: documenting({ 'put /a': withHeader('X-Kind') }) },
    ],
    [
      'two are not',
      to(isFor('/a'), { 'access-control-allow-headers': 'X' }),
      /got x-kind, x-other not in "X"/,
      { document: documenting({ 'put /a': withHeader('X-Other', 'X-Kind') }) },
    ],
    [
      'all are',
      to(isFor('/a'), { 'access-control-allow-headers': '*' }),
      /^pass/,
      { document: documenting({ 'put /a': withHeader('X-Kind') }) },
    ],
    [
      'all are, and never Authorization',
      to(isFor('/a'), { 'access-control-allow-headers': '*' }),
      /got authorization not in "\*"/,
      { document: documenting({ 'put /a': {} }) },
    ],
    [
      'without a key no Authorization is asked for',
      to(isFor('/a'), { 'access-control-allow-headers': 'X' }),
      /^pass/,
      { document: documenting({ 'put /a': { security: [] } }) },
    ],
    [
      'that need no permission',
      to(isFor('/a'), { 'access-control-allow-headers': 'X' }),
      /^pass/,
      { document: documenting({ 'put /a': withHeader('Accept-Language', 'Content-Language', 'Range') }) },
    ],
    [
      'that no page can send',
      to(isFor('/a'), { 'access-control-allow-headers': 'X' }),
      /^pass/,
      {
        document: documenting({
          'put /a': withHeader('Origin', 'DNT', 'Keep-Alive', 'Sec-X', 'Proxy-X', 'Date'),
        }),
      },
    ],
    ...['X-Date', 'Date-X', 'X-Accept'].map(
      (name): Row => [
        name,
        to(isFor('/a'), { 'access-control-allow-headers': 'X' }),
        new RegExp(`got ${name.toLowerCase()} not in`),
        { document: documenting({ 'put /a': withHeader(name) }) },
      ],
    ),
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, differing, said, setting] }) => {
    expect(saidOf(await judgedOf(differing, setting), id)).toMatch(said);
  });
});
