import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { served } from '../../base/fixtures/server.ts';
import { startProxy } from '../../wire/fixtures/proxy.ts';
import { conformHere } from '../fixtures/in-process.ts';

/** A document whose one operation has this security scheme. */
const documentWith = (scheme: object) => ({
  openapi: '3.1.0',
  info: { title: 'Orders' },
  paths: { '/v1/orders': { get: { responses: { 200: { description: 'all' } } } } },
  security: [{ only: [] }],
  components: { securitySchemes: { only: scheme } },
});

/** The service file that `conform init` writes of a document that is offered there, or lies in a file. */
async function written(
  openapi: object | string,
  options: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) {
  const folder = temporaryFolder({ 'openapi.json': JSON.stringify(openapi) });
  const named = typeof openapi === 'string' ? openapi : join(folder, 'openapi.json');
  const config = join(folder, 'conformance');
  const asked = ['init', '--service', 'orders', '--url', 'http://127.0.0.1:9', '--openapi', named];
  const { code, stderr } = await conformHere([...asked, '--config', config, ...options], env);
  if (code !== 0) throw new Error(stderr);
  return readFileSync(join(config, 'services/orders.yaml'), 'utf8');
}

const serve = (content: object) =>
  served(createServer((_request, response) => response.end(JSON.stringify(content))));

const CLIENT = ['--client-id-env', 'ORDERS_ID', '--client-secret-env', 'ORDERS_SECRET'];

describe('the security scheme of an OpenAPI document', () => {
  it('oauth2 with a flow for clients is oauth2, its token endpoint included', async () => {
    const flows = { clientCredentials: { tokenUrl: 'https://login.example/token', scopes: {} } };
    expect(await written(documentWith({ type: 'oauth2', flows }), CLIENT)).toContain(
      'scheme: oauth2 # a token for the client, obtained with its id and secret, as Authorization: Bearer TOKEN\n  tokenUrl: "https://login.example/token"\n',
    );
  });

  it('oauth2 with flows for people alone is a bearer token', async () => {
    const flows = {
      authorizationCode: { authorizationUrl: 'https://a.example', tokenUrl: 'https://t.example', scopes: {} },
    };
    expect(await written(documentWith({ type: 'oauth2', flows }), ['--key-env', 'KEY'])).toContain(
      'scheme: bearer',
    );
  });

  it('openIdConnect is oauth2, its token endpoint asked of the provider', async () => {
    const issuer = 'https://login.example';
    const provider = await serve({ issuer, token_endpoint: `${issuer}/token` });
    const address = `${provider}/.well-known/openid-configuration`;
    const scheme = { type: 'openIdConnect', openIdConnectUrl: address };
    expect(await written(documentWith(scheme), CLIENT)).toMatch(
      /scheme: oauth2 .*\n {2}tokenUrl: "https:\/\/login\.example\/token"\n/,
    );
    expect(await written(documentWith(scheme), ['--key-env', 'KEY'])).toContain('scheme: bearer');
    const gone = { ...scheme, openIdConnectUrl: 'http://127.0.0.1:9/' };
    await expect(written(documentWith(gone), CLIENT)).rejects.toThrow(/--token-url is needed/);
  });

  it('apiKey in a cookie is a cookie', async () => {
    const scheme = { type: 'apiKey', in: 'cookie', name: 'sid' };
    expect(await written(documentWith(scheme), ['--key-env', 'KEY'])).toMatch(
      /^ {2}scheme: cookie .*\n {2}name: "sid"/m,
    );
  });

  it('two keys that are needed together are the credential and a header', async () => {
    const id = { type: 'apiKey', in: 'header', name: 'X-Application-Id' };
    const key = { type: 'apiKey', in: 'header', name: 'X-API-Key' };
    const document = {
      ...documentWith(id),
      security: [{ id: [], key: [] }],
      components: { securitySchemes: { id, key } },
    };
    const text = await written(document, ['--key-env', 'KEY']);
    expect(text).toMatch(/^ {2}scheme: header .*\n {2}name: "X-API-Key"/m);
    expect(text).toMatch(/^headers:\n {2}X-Application-Id: \$\{env:ORDERS_X_APPLICATION_ID\}$/m);
  });

  it('two keys of which a config has one are told, and the first is taken', async () => {
    const [query, cookie] = (['query', 'cookie'] as const).map((place) => {
      return { type: 'apiKey', in: place, name: `of-${place}` };
    });
    const document = {
      ...documentWith({}),
      security: [{ query: [], cookie: [] }],
      components: { securitySchemes: { query, cookie } },
    };
    const folder = temporaryFolder({ 'openapi.json': JSON.stringify(document) });
    const asked = ['--url', 'http://127.0.0.1:9', '--openapi', 'openapi.json', '--key-env', 'KEY'];
    const { code, stderr } = await conformHere(['init', '--service', 'orders', ...asked], {}, folder);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^The document asks for a key in the query "of-query" with a key in the cookie "of-cookie", of which a config has one: /,
      ),
    });
    expect(readFileSync(join(folder, 'conform.yaml'), 'utf8')).toMatch(
      /^ {2}scheme: query .*\n {2}name: "of-query"/m,
    );
  });

  it('a key of a login is that where its options are given', async () => {
    const scheme = { type: 'apiKey', in: 'cookie', name: 'sid' };
    const asked = ['--login-url', '/session', '--login-take', 'cookie:sid'];
    const variables = ['--login-user-env', 'ME', '--login-password-env', 'PASS'];
    expect(await written(documentWith(scheme), [...asked, ...variables])).toMatch(
      /scheme: login .*\n {2}loginUrl: "\/session"\n {2}username: \$\{env:ME\}\n {2}password: \$\{env:PASS\}.*\n.*\n {2}take: "cookie:sid"/,
    );
  });

  it('mutualTLS is a client certificate, its files as the service file finds them', async () => {
    const files = ['--client-cert', 'keys/client.pem', '--client-key', 'keys/key.pem'];
    const text = await written(documentWith({ type: 'mutualTLS' }), files);
    expect(text).toMatch(/^ {2}scheme: mutualTLS /m);
    expect(text).toMatch(/^tls:\n {2}cert: ".*\/keys\/client\.pem"\n {2}key: ".*\/keys\/key\.pem"\n/m);
  });
});

describe('the first config', () => {
  it('is one file where there is a document, and no other config', async () => {
    const document = JSON.stringify(documentWith({ type: 'http', scheme: 'bearer' }));
    const folder = temporaryFolder({ 'openapi.json': document, '.git/HEAD': '', '.gitignore': '' });
    const asked = ['--url', 'http://127.0.0.1:9', '--openapi', 'openapi.json', '--key-env', 'KEY'];
    const again = () =>
      conformHere(['init', '--service', 'orders', ...asked], { KEY: 'key-for-tests' }, folder);
    expect(await again()).toMatchObject({
      code: 0,
      stdout: 'wrote conform.yaml\n',
      stderr: expect.stringContaining('Next: run `conform run orders`\n'),
    });
    expect(await again()).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/conform\.yaml: is there already\n {2}remedy: it has one service/),
    });
    const shown = await conformHere(['config'], { KEY: 'key-for-tests' }, folder);
    expect(shown.stdout).toContain('openapi: openapi.json # conform.yaml:');
  });
});

describe('an AsyncAPI document', () => {
  const CHAT = join(import.meta.dirname, '../../config/asyncapi/tests/fixtures/chat-2.6.yaml');
  const asked = (named: string) => ['--service', 'chat', '--url', 'http://127.0.0.1:9', '--asyncapi', named];

  it('needs no sample, and the config that is written can be loaded', async () => {
    const folder = temporaryFolder({});
    const config = join(folder, 'conform.yaml');
    const init = ['init', ...asked(CHAT), '--scheme', 'none', '--config', config];
    expect(await conformHere(init)).toMatchObject({ code: 0 });
    expect(readFileSync(config, 'utf8')).toContain('\nasyncapi: ');
    const { code, stdout } = await conformHere(['run', '--dry-run', '--config', config]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('messages') });
  });

  it('that is none is refused', async () => {
    const folder = temporaryFolder({ 'chat.yaml': 'openapi: 3.1.0\n' });
    const init = ['init', ...asked(join(folder, 'chat.yaml')), '--scheme', 'none'];
    const { code, stderr } = await conformHere([...init, '--config', join(folder, 'conform.yaml')]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('AsyncAPI') });
  });
});

describe('a document that is fetched', () => {
  const document = documentWith({ type: 'http', scheme: 'bearer' });

  it('comes through the proxy, like everything', async () => {
    const { port } = new URL(await serve(document));
    const proxy = await startProxy({ behind: { 'docs.example:80': Number(port) } });
    const env = { HTTP_PROXY: proxy.url };
    const text = await written('http://docs.example/openapi.json', ['--key-env', 'KEY'], env);
    expect(text).toMatch(/^openapi: "..\/openapi\/orders\.json"$/m);
    expect(proxy.asked).toHaveLength(1);
  });

  it('and what the proxy says of it is told', async () => {
    const proxy = await startProxy({});
    const env = { HTTP_PROXY: proxy.url };
    await expect(written('http://docs.example/openapi.json', ['--key-env', 'KEY'], env)).rejects.toThrow(
      /the OpenAPI document cannot be fetched: the proxy \S+ \(HTTP_PROXY\) could not reach docs\.example:80/,
    );
  });
});
