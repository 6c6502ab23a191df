import { describe, expect, it } from 'vitest';
import { selfSigned } from '../../../../proof/certificate.ts';
import { loadOrders } from '../../../fixtures/config-folder.ts';
import { oneOperation, onlyOperation } from '../fixtures/described.ts';

const ok = { description: 'ok' };
const statusesOf = async (responses: object) => {
  const { response, alternatives } = await onlyOperation(oneOperation({ responses }));
  return [response, ...alternatives].map(({ status }) => status);
};

describe('the responses that are documented as success', () => {
  it.each<[string, object, readonly number[]]>([
    ['every 2xx, in order', { 404: ok, 204: ok, 200: ok }, [200, 204]],
    ['a range', { '2XX': ok, 400: ok }, [200, 201, 202, 203, 204, 205, 206, 207, 208, 226]],
    [
      'an exact one before its range',
      { '2XX': ok, 202: ok },
      [202, 200, 201, 203, 204, 205, 206, 207, 208, 226],
    ],
    ['a redirect where there is no 2xx', { 302: ok, default: ok }, [302]],
    [
      'default where there is nothing else',
      { default: ok, 400: ok },
      [200, 201, 202, 203, 204, 205, 206, 207, 208, 226],
    ],
  ])('are %s', async (_, responses, statuses) => {
    expect(await statusesOf(responses)).toEqual(statuses);
  });

  it('have their media types, which are asked for, and the schema of the JSON one', async () => {
    const content = { 'text/csv': {}, 'Application/JSON; charset=utf-8': { schema: { type: 'array' } } };
    const { response, fields } = await onlyOperation(
      oneOperation({ responses: { 200: { ...ok, content } } }),
    );
    expect(response).toMatchObject({
      mediaTypes: ['text/csv', 'application/json'],
      schema: { $ref: expect.any(String) },
    });
    expect(fields).toEqual([['Accept', 'text/csv, application/json']]);
  });

  it('have no content for HEAD', async () => {
    const content = { 'application/json': { schema: { type: 'array' } } };
    const document = {
      openapi: '3.1.0',
      paths: { '/things': { head: { responses: { 200: { ...ok, content } } } } },
    };
    expect((await onlyOperation(document)).response).toEqual({ status: 200, mediaTypes: [], schema: null });
  });
});

const SCHEMES = {
  bearer: { type: 'http', scheme: 'Bearer' },
  basic: { type: 'http', scheme: 'basic' },
  named: { type: 'apiKey', in: 'header', name: 'Authorization: Bearer' },
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  query: { type: 'apiKey', in: 'query', name: 'key' },
  oauth: { type: 'oauth2', flows: {} },
  openId: { type: 'openIdConnect', openIdConnectUrl: 'https://login.example/' },
  mutual: { type: 'mutualTLS' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
};

async function demandOf(credentials: string, security: unknown, own?: unknown, more = '') {
  const root = { security, components: { securitySchemes: SCHEMES } };
  const document = oneOperation(own === undefined ? {} : { security: own }, root);
  const [operation] = await operationsOf(credentials, document, more);
  return [operation?.auth, operation?.uncallable];
}

async function operationsOf(credentials: string, document: object, more = '') {
  const { config } = await loadOrders(
    `service: orders\ncontract: orders\nprovider: { url: 'https://orders.example' }\ncredentials: ${credentials}\nopenapi: ../openapi/api.yaml\n${more}`,
    { env: { KEY: 'example-key-for-tests' } },
    {
      'openapi/api.yaml': JSON.stringify(document),
      'services/client.pem': client.cert,
      'services/key.pem': client.key,
    },
  );
  return config.operations;
}

const client = selfSigned('client.example');
const CLIENT = 'tls: { cert: client.pem, key: key.pem }\n';
const KEY = `key: "\${env:KEY}"`;
const BEARER = `{ scheme: bearer, ${KEY} }`;

describe('what an operation demands', () => {
  it.each<[string, string, unknown, unknown]>([
    ['bearer', BEARER, [{ bearer: [] }], undefined],
    ['bearer, in the name of the header', BEARER, [{ named: [] }], undefined],
    ['an OAuth token, which is a bearer', BEARER, [{ oauth: ['read'] }], undefined],
    ['a key in a field', `{ scheme: header, name: x-key, ${KEY} }`, [{ header: [] }], undefined],
    ['a key in the query', `{ scheme: query, name: key, ${KEY} }`, [{ query: [] }], undefined],
    ['basic', `{ scheme: basic, username: me, password: "\${env:KEY}" }`, [{ basic: [] }], undefined],
    ['one of several', BEARER, [{ header: [] }, { bearer: [] }], undefined],
    ['its own, not that of the document', BEARER, [{ header: [] }], [{ bearer: [] }]],
    ['a credential, when the document is silent', BEARER, undefined, undefined],
  ])('is met: %s', async (_, credentials, security, own) => {
    expect(await demandOf(credentials, security, own)).toEqual(['required', null]);
  });

  it.each<[string, string, unknown, string]>([
    ['a client certificate', '{ scheme: mutualTLS }', [{ mutual: [] }], CLIENT],
    ['a client certificate beside a key', BEARER, [{ bearer: [], mutual: [] }], CLIENT],
    ['a header beside a key', BEARER, [{ bearer: [], header: [] }], 'headers: { x-key: tenant }\n'],
    ['an OpenID provider', BEARER, [{ openId: [] }], ''],
    [
      'a cookie beside a key',
      BEARER,
      [{ bearer: [], cookie: [] }],
      'headers: { Cookie: "a=1; sid=tenant" }\n',
    ],
  ])('is met by what else is configured: %s', async (_, credentials, security, more) => {
    expect(await demandOf(credentials, security, undefined, more)).toEqual(['required', null]);
  });

  it.each<[string, unknown, string]>([
    ['a header', [{ header: [] }], 'headers: { x-key: tenant }\n'],
    ['one of two', [{ bearer: [] }, { cookie: [] }], 'headers: { Cookie: "sid=tenant" }\n'],
    ['a client certificate', [{ mutual: [] }], CLIENT],
  ])('is met without the credential by what every request has: %s', async (_, security, more) => {
    expect(await demandOf(BEARER, security, undefined, more)).toEqual(['optional', null]);
  });

  it.each<[string, string, unknown, string]>([
    [
      'a client certificate where there is none',
      BEARER,
      [{ bearer: [], mutual: [] }],
      'demands the scheme mutualTLS, and the config has the scheme bearer',
    ],
    [
      'another scheme',
      BEARER,
      [{ header: [] }],
      'demands a key in the header "X-Key", and the config has the scheme bearer',
    ],
    [
      'another name',
      `{ scheme: header, name: X-Other, ${KEY} }`,
      [{ header: [] }],
      'the config has the scheme header (X-Other)',
    ],
    ['two at once', BEARER, [{ bearer: [], header: [] }], 'demands a key in the header "X-Key"'],
    [
      'a credential where none is configured',
      '{ scheme: none }',
      [{ bearer: [] }],
      'demands the HTTP scheme bearer',
    ],
  ])('is not met: %s', async (_, credentials, security, reason) => {
    const [auth, uncallable] = await demandOf(credentials, security);
    expect(auth).toBe('required');
    expect(uncallable).toContain(reason);
  });

  it('may be nothing, or may be left out', async () => {
    expect(await demandOf(BEARER, [{ bearer: [] }], [])).toEqual(['none', null]);
    expect(await demandOf(BEARER, [{ bearer: [] }], [{ header: [] }, {}])).toEqual(['optional', null]);
    expect(await demandOf('{ scheme: none }', undefined)).toEqual(['none', null]);
  });

  it('may be forgotten: the key is sent where only other operations name it', async () => {
    const named = { responses: { 200: ok }, security: [{ bearer: [] }] };
    const document = {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      paths: { '/things': { get: { responses: { 200: ok } }, post: named } },
      components: { securitySchemes: SCHEMES },
    };
    const demands = async (credentials: string) =>
      (await operationsOf(credentials, document)).map(({ auth }) => auth);
    expect(await demands(BEARER)).toEqual(['optional', 'required']);
    expect(await demands('{ scheme: none }')).toEqual(['none', 'required']);
  });
});
