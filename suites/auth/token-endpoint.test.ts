import { describe, expect, it } from 'vitest';
import { Secret } from '../../harness/base/secret.ts';
import { UNKNOWN_SCOPE } from '../../harness/config/credential/scheme.ts';
import { oauth2 } from '../../harness/config/credential/schemes/oauth2.ts';
import { configFor, holdsKey, type Judged, judgedServed, KEY, saidOf } from '../tests/fixtures/judged.ts';
import { auth } from './auth.suite.ts';

const SECRET = 'example-client-secret-for-tests';
const CHECKS = { ...auth, checks: auth.checks.filter(({ id }) => id.startsWith('auth.token-')) };

type Kind = 'right' | 'wrong' | 'scope' | 'grant' | 'get';

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly content?: unknown;
}

const TOKEN = { access_token: KEY, token_type: 'Bearer', expires_in: 3600 };
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="tokens"' };

const error = (status: number, code: unknown, fields: Answer['fields'] = {}): Answer => ({
  status,
  fields,
  content: { error: code },
});

const usual = (kind: Kind, isByField: boolean): Answer => {
  if (kind === 'right') return { content: TOKEN };
  if (kind === 'wrong') return error(isByField ? 401 : 400, 'invalid_client', isByField ? CHALLENGE : {});
  if (kind === 'scope') return error(400, 'invalid_scope');
  return kind === 'grant' ? error(400, 'unsupported_grant_type') : error(405, 'invalid_request');
};

type Setting = { readonly isPosted?: true; readonly isElsewhere?: true };

/** Of a service that issues its tokens itself, unless they are lent by another server at the same address. */
async function judgedOf(
  kind: Kind,
  answer: Answer,
  { isPosted, isElsewhere }: Setting = {},
): Promise<Judged> {
  const server = (url: string) => (isElsewhere ? `${url}/oauth/token` : '/oauth/token');
  const config = await configFor();
  const kindOf = (method: string, pair: string, body: string): Kind => {
    if (method === 'GET') return 'get';
    if (!pair.includes(SECRET)) return 'wrong';
    if (body.includes(encodeURIComponent(UNKNOWN_SCOPE))) return 'scope';
    return body.includes('no_such_grant') ? 'grant' : 'right';
  };
  const credentials = oauth2.of({
    tokenUrl: server('http://localhost:1'),
    clientId: 'example-client',
    clientSecret: new Secret('EXAMPLE_SECRET', SECRET),
    ...(isPosted && { clientAuthentication: 'post' }),
  });
  return judgedServed(
    ({ method = '', url = '', headers: { authorization = '' } }, response) => {
      const request = response.req.setEncoding('latin1');
      let body = '';
      request.on('data', (part: string) => {
        body += part;
      });
      request.on('end', () => {
        if (!url.startsWith('/oauth/token')) {
          const isIn = holdsKey(authorization);
          const fields = isIn ? {} : { 'WWW-Authenticate': 'Bearer realm="test"' };
          const status = isIn ? 200 : 401;
          response.writeHead(status, { 'Content-Type': 'application/json', ...fields }).end('{}');
          return;
        }
        const pair = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString() + body;
        const found = kindOf(method, pair, body);
        const base = usual(found, authorization !== '');
        const {
          status = 200,
          type = 'application/json',
          fields = {},
          content = '',
        } = found === kind ? { ...base, ...answer } : base;
        response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store', ...fields });
        response.end(typeof content === 'string' ? content : JSON.stringify(content));
      });
    },
    { ...config, credentials },
    [CHECKS],
  );
}

type Row = readonly [what: string, kind: Kind, answer: Answer, said: RegExp, setting?: Setting];

const POSTED: Setting = { isPosted: true };
const token = (more: object): Answer => ({ content: { ...TOKEN, ...more } });

const SAID: Readonly<Record<string, readonly Row[]>> = {
  'auth.token-not-stored': [
    ['no-store', 'right', {}, /^pass/],
    ['private', 'right', { fields: { 'Cache-Control': 'private' } }, /got Cache-Control: private/],
  ],
  'auth.token-answer': [
    ['both members', 'right', {}, /^pass/],
    ['no type', 'right', token({ token_type: 7 }), /^(?:blocked|skipped)|got no text token_type/],
    ['as text', 'right', { type: 'text/plain' }, /got Content-Type: text\/plain/],
    [
      'as JSON of another kind',
      'right',
      { type: 'application/problem+json' },
      /got Content-Type: application\/problem\+json/,
    ],
    ['with a parameter', 'right', { type: 'application/json;charset=UTF-8' }, /^pass/],
  ],
  'auth.token-lifetime-form': [
    ['a number', 'right', {}, /^pass/],
    ['none', 'right', token({ expires_in: undefined }), /^pass/],
    ['null', 'right', token({ expires_in: null }), /^pass/],
    ['zero', 'right', token({ expires_in: 0 }), /^pass/],
    ['less than none', 'right', token({ expires_in: -1 }), /got expires_in -1/],
    ['text', 'right', token({ expires_in: '3600' }), /got expires_in "3600"/],
  ],
  'auth.token-wrong-secret': [
    ['is refused', 'wrong', {}, /^pass/],
    ['gets a token', 'wrong', { status: 200, content: TOKEN }, /^fail/],
  ],
  'auth.token-refusal-status': [
    ['401 with a challenge', 'wrong', {}, /^pass/],
    ['401 without one', 'wrong', error(401, 'invalid_client'), /got status 401 without WWW-Authenticate/],
    ['400 for Authorization', 'wrong', error(400, 'invalid_client'), /got status 400/],
    ['403', 'wrong', error(403, 'invalid_client'), /got status 403/],
    ['400 for a client in the body', 'wrong', {}, /^pass/, POSTED],
    ['401 for a client in the body', 'wrong', error(401, 'invalid_client'), /^pass/, POSTED],
    ['403 for a client in the body', 'wrong', error(403, 'invalid_client'), /got status 403/, POSTED],
    ['a token', 'wrong', { status: 200, content: TOKEN }, /^(?:skipped|blocked)/],
  ],
  'auth.token-error-form': [
    ['a code', 'grant', {}, /^pass/],
    ['as text', 'grant', { type: 'text/plain' }, /got Content-Type: text\/plain/],
    ['no type at all', 'grant', { type: '' }, /got Content-Type: none/],
    ['an empty code', 'grant', error(400, ''), /got no error member/],
    ['a number', 'grant', error(400, 7), /got no error member/],
    ['a quote first', 'grant', error(400, '"a'), /got error/],
    ['a quote last', 'grant', error(400, 'a"'), /got error/],
    ['a backslash', 'grant', error(400, 'a\\b'), /got error/],
    ['all that is allowed', 'grant', error(400, ' !#[]~'), /^pass/],
    ['beyond ASCII', 'grant', error(400, 'ä'), /got error/],
    ['a status that is wrong already', 'wrong', { ...error(403, ''), type: 'text/plain' }, /^blocked/],
    ['an error of the server', 'grant', { status: 500, type: 'text/plain' }, /^pass/],
  ],
  'auth.token-client-error': [
    ['invalid_client', 'wrong', {}, /^pass/],
    ['unauthorized_client', 'wrong', error(401, 'unauthorized_client', CHALLENGE), /^pass/],
    ['invalid_grant', 'wrong', error(401, 'invalid_grant', CHALLENGE), /got invalid_grant/],
    ['none', 'wrong', error(401, '', CHALLENGE), /^blocked/],
  ],
  'auth.token-scope': [
    ['is refused', 'scope', {}, /^pass/],
    ['another one is granted', 'scope', { ...token({ scope: 'read write' }), status: 200 }, /^pass/],
    [
      'it is granted',
      'scope',
      { ...token({ scope: `read ${UNKNOWN_SCOPE}` }), status: 200 },
      /got a token with the unknown scope/,
    ],
    ['something is granted', 'scope', { ...token({}), status: 200 }, /got a token, and no scope/],
  ],
  'auth.token-grant-type': [
    ['400', 'grant', {}, /^pass/],
    ['401', 'grant', error(401, 'invalid_client', CHALLENGE), /^pass/],
    ['402', 'grant', error(402, 'a'), /got status 402/],
    [
      'another server issues them',
      'grant',
      {},
      /^skipped: the tokens are issued by another server/,
      { isElsewhere: true },
    ],
  ],
  'auth.token-by-get': [
    ['is refused', 'get', {}, /^pass/],
    ['is issued', 'get', { status: 200, content: TOKEN }, /^(?:warning|fail)/],
  ],
};

describe.concurrent.each(Object.entries(SAID))('%s', (id, cases) => {
  it.each(cases.map((row) => ({ row })))('$row.0', async ({ row: [, kind, answer, said, setting] }) => {
    expect(saidOf(await judgedOf(kind, answer, setting), id)).toMatch(said);
  });
});

it('asks no other server for tokens that it must refuse', async () => {
  const { outcomes } = await judgedOf('right', {}, { isElsewhere: true });
  const asking = [
    'wrong-secret',
    'refusal-status',
    'error-form',
    'client-error',
    'scope',
    'grant-type',
    'by-get',
  ];
  expect(asking.map((name) => outcomes[`auth.token-${name}`])).toEqual(asking.map(() => 'skipped'));
});
