import { describe, it } from 'vitest';
import { type BadConfig, expectFault } from '../fixtures/config-folder.ts';

const HERE = "service: orders\ncontract: orders\nprovider: { url: 'http://127.0.0.1:9' }\n";
const AWAY = "service: orders\ncontract: orders\nprovider: { url: 'https://orders.example' }\n";

const away = (credentials: string) => `${AWAY}credentials: ${credentials}\n`;
const here = (credentials: string) => `${HERE}credentials: ${credentials}\n`;

const SCHEMES: readonly BadConfig[] = [
  {
    what: 'no credentials',
    service: `§${AWAY}`,
    key: 'credentials',
    problem: 'is missing',
    remedy: 'scheme: none',
  },
  {
    what: 'no scheme',
    service: away('§{ name: X-API-Key }'),
    key: 'credentials.scheme',
    problem: 'is missing',
    remedy: 'bearer',
  },
  {
    what: 'an unknown scheme',
    service: away('{ scheme: §baerer }'),
    key: 'credentials.scheme',
    problem: 'not known',
    remedy: 'did you mean bearer?',
  },
  {
    what: 'a bearer scheme without a key',
    service: away('§{ scheme: bearer }'),
    key: 'credentials.key',
    problem: 'scheme bearer needs it',
    remedy: 'add `key:`',
  },
  {
    what: 'a header scheme without a name',
    service: here('§{ scheme: header, key: example-hush-key }'),
    key: 'credentials.name',
    problem: 'says where the key goes',
    remedy: 'add `name:`',
  },
  {
    what: 'a header name with a space',
    service: here('{ scheme: header, name: §X API Key, key: example-hush-key }'),
    key: 'credentials.name',
    problem: 'cannot be the name of a header field',
    remedy: 'X-API-Key',
  },
  {
    what: 'a header that frames the message',
    service: here('{ scheme: header, name: §Content-Length, key: example-hush-key }'),
    key: 'credentials.name',
    problem: 'cannot carry a credential',
    remedy: 'X-API-Key',
  },
  {
    what: 'a query name with an ampersand',
    service: here('{ scheme: query, name: §a&b, key: example-hush-key }'),
    key: 'credentials.name',
    problem: 'cannot be the name of a query parameter',
    remedy: 'letters',
  },
  {
    what: 'a name for a bearer key',
    service: here('{ scheme: bearer, name: §X-API-Key, key: example-hush-key }'),
    key: 'credentials.name',
    problem: 'does not belong to scheme bearer',
    remedy: 'header, query',
  },
  {
    what: 'a key for basic',
    service: here('{ scheme: basic, username: me, password: example-hush-word, key: §example-hush-key }'),
    key: 'credentials.key',
    problem: 'does not belong to scheme basic',
    remedy: 'bearer',
  },
  {
    what: 'basic without a password',
    service: here('§{ scheme: basic, username: me }'),
    key: 'credentials.password',
    problem: 'scheme basic needs it',
    remedy: 'add `password:`',
  },
  {
    what: 'a user name with a colon',
    service: here('{ scheme: basic, username: §"me:you", password: example-hush-word }'),
    key: 'credentials.username',
    problem: 'colon',
    remedy: 'RFC 7617',
  },
  {
    what: 'signed without an app',
    service: here('§{ scheme: signed }'),
    key: 'credentials.app',
    problem: 'scheme signed needs it',
    remedy: 'add `app:`',
  },
  {
    what: 'an app without a secret',
    service: here('{ scheme: signed, app: §{ id: one, key: two } }'),
    key: 'credentials.app.secret',
    problem: 'is missing',
    remedy: 'add `secret:`',
  },
  {
    what: 'an app identifier with a space',
    service: here('{ scheme: signed, app: { id: §"one two", key: two, secret: example-hush-secret } }'),
    key: 'credentials.app.id',
    problem: 'white space',
    remedy: 'correct it',
  },
  {
    what: 'a second key equal to the first',
    service: here('{ scheme: bearer, key: example-hush-key, secondKey: §example-hush-key }'),
    key: 'credentials.secondKey',
    problem: 'the same key as `key`',
    remedy: 'another account',
  },
];

describe('credentials that cannot be used', () => {
  it.each(SCHEMES)('are refused: $what', expectFault);
});
