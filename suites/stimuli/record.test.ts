import { describe, expect, it } from 'vitest';
import { Reply } from '../../harness/wire/exchange/reply.ts';
import type { CredentialUse, FieldLine } from '../../harness/wire/exchange.ts';
import {
  exampleExchange,
  exampleRequest,
  exampleResponse,
} from '../../harness/wire/fixtures/example-evidence.ts';
import { allowBesideServed, isForTheCredential } from './record.ts';

interface Given {
  readonly method?: string;
  readonly target?: string;
  readonly credential?: CredentialUse;
  readonly fields?: readonly FieldLine[];
  readonly status?: number;
  readonly allow?: string;
}

const HOST: FieldLine = ['Host', '127.0.0.1:8080'];

function replyOf({ method = 'GET', target = '/v1/a', credential = 'right', ...given }: Given): Reply {
  const { fields = [], status = 200, allow } = given;
  return new Reply(
    exampleExchange({
      credential,
      request: exampleRequest({
        method,
        target,
        url: `http://127.0.0.1:8080${target}`,
        fields: [HOST, ...fields],
      }),
      response: exampleResponse({ status, fields: allow === undefined ? [] : [['Allow', allow]] }),
    }),
  );
}

const LIST: Given = { method: 'OPTIONS', allow: 'GET' };
const POST: Given = { method: 'POST', status: 201 };

/** The methods that are found beside lists of methods. */
const beside = (...all: readonly Given[]) => allowBesideServed(all.map(replyOf)).map(({ method }) => method);

describe('a list of methods', () => {
  it.each<readonly [string, readonly Given[], readonly string[]]>([
    ['a method that was served', [LIST, {}], ['GET']],
    ['one that was served before', [{}, LIST], ['GET']],
    ['each once', [LIST, {}, POST, {}], ['GET', 'POST']],
    ['one at the same address, whatever its query', [LIST, { target: '/v1/a?x=1' }], ['GET']],
    ['none at another address', [LIST, { target: '/v1/ab' }], []],
    ['none that was refused', [LIST, { status: 405 }], []],
    ['none that was redirected', [LIST, { status: 302 }], []],
    ['none without a list', [{ method: 'OPTIONS' }, {}], []],
    ['none of another key', [LIST, { credential: 'second' }], []],
    ['none in a list for another key', [{ ...LIST, credential: 'none' }, {}], []],
    [
      'none whose type is unknown',
      [LIST, { ...POST, fields: [['Content-Type', 'application/x-conform-unknown']] }],
      [],
    ],
    ['none in an odd request', [LIST, { fields: [['X-Odd', 'a'.repeat(20_000)]] }], []],
    ['none that goes with others', [LIST, ...['HEAD', 'OPTIONS', 'TRACE'].map((method) => ({ method }))], []],
    ['its own method', [{ allow: 'GET' }], ['GET']],
  ])('stands beside %s', (_, all, methods) => {
    expect(beside(...all)).toEqual(methods);
  });
});

describe('a refusal for the credential', () => {
  it.each<readonly [string, Given, boolean]>([
    ['401, whatever was sent', { status: 401 }, true],
    ['403 without a key', { status: 403, credential: 'none' }, true],
    ['404 without a key', { status: 404, credential: 'none' }, false],
    ['403 with the right key', { status: 403 }, false],
    ['403 with another key', { status: 403, credential: 'second' }, false],
    ['any status with a wrong key', { status: 400, credential: 'wrong' }, true],
    [
      'any status with two keys',
      {
        status: 400,
        fields: [
          ['Authorization', 'a'],
          ['authorization', 'b'],
        ],
      },
      true,
    ],
    ['any status with one', { status: 400, fields: [['Authorization', 'a']] }, false],
  ])('is %s: %j', (_, given, isOne) => {
    expect(isForTheCredential(replyOf(given))).toBe(isOne);
  });
});
