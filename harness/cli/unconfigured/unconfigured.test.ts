import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { stringify } from 'yaml';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { served } from '../../base/fixtures/server.ts';
import { conformHere } from '../fixtures/in-process.ts';
import { type UnconfiguredOptions, unconfigured } from './unconfigured.ts';

const KEY = 'example-key-not-secret-1234567890';
const AUTHORIZATION = `Authorization: Bearer ${KEY}`;

const BEARER = { type: 'http', scheme: 'bearer' };
const documentWith = (scheme: object | null, server: string | null = null) => ({
  openapi: '3.1.0',
  info: { title: 'Orders API', version: '1' },
  ...(server === null ? {} : { servers: [{ url: server }] }),
  paths: { '/v1/orders': { get: { responses: { 200: { description: 'all' } } } } },
  ...(scheme === null
    ? { security: [] }
    : { security: [{ only: [] }], components: { securitySchemes: { only: scheme } } }),
});

let url: string;
beforeEach(async () => {
  url = await served(
    createServer(({ url: path = '', method, headers }, response) => {
      const [status, body] =
        path === '/openapi.json'
          ? [200, documentWith(BEARER, '/')]
          : headers.authorization !== `Bearer ${KEY}`
            ? [401, { error: 'unauthorized' }]
            : path.startsWith('/v1/orders')
              ? [200, { data: [] }]
              : [404, { error: 'not found' }];
      response.writeHead(status as number, {
        'Content-Type': 'application/json',
        'WWW-Authenticate': 'Bearer realm="orders"',
      });
      response.end(method === 'HEAD' ? undefined : JSON.stringify(body));
    }),
  );
});

/** Where a document lies, and nothing else. */
function folderWith(document: object, name = 'openapi.yaml'): string {
  return temporaryFolder({ [name]: name.endsWith('json') ? JSON.stringify(document) : stringify(document) });
}

/** The config that a target is run with, and what else is known of it. */
async function configOf(document: object, options: UnconfiguredOptions = {}) {
  const file = join(folderWith(document), 'openapi.yaml');
  const found = await unconfigured(file, options, {});
  const text = readFileSync(join(found.configDir, 'services', `${found.service}.yaml`), 'utf8');
  const files = readdirSync(found.configDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  found.close();
  return { ...found, text, files };
}

describe('a run of a document', () => {
  it('gives a verdict in a folder that has nothing else, and leaves only reports', async () => {
    const folder = folderWith(documentWith(BEARER));
    const args = ['run', './openapi.yaml', '--url', url, '--header', AUTHORIZATION, '--suite', 'status'];
    const { code, stdout, stderr } = await conformHere(args, {}, folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('orders: finished') });
    expect(stdout).toMatch(/^. orders {2}\d+ of \d+ checks were selected: \d+ passed/m);
    expect(stdout).toContain(`Next: conform run ./openapi.yaml --url ${url}`);
    expect(stderr).toContain(
      `To keep this as a config: conform init --service orders --url ${url}/ --scheme bearer --key-env ORDERS_API_KEY --openapi ./openapi.yaml`,
    );
    expect(readdirSync(folder).toSorted()).toEqual(['openapi.yaml', 'reports']);
    const said = readdirSync(join(folder, 'reports'), { recursive: true, withFileTypes: true });
    const texts = said
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    for (const text of [stdout, stderr, ...texts]) expect(text).not.toContain(KEY);
  });

  it('takes the document from the service, and the address from its servers', async () => {
    const folder = temporaryFolder();
    const args = ['run', `${url}/openapi.json`, '-H', AUTHORIZATION, '--check', 'status.sample'];
    const { code, stderr } = await conformHere(args, {}, folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('orders: finished 1 of 1') });
  });

  it('calls the URL itself where it is no document', async () => {
    const folder = temporaryFolder();
    const args = ['run', `${url}/v1/orders?page=1`, '-H', AUTHORIZATION, '--check', 'status.sample'];
    const { code, stderr } = await conformHere(args, {}, folder);
    expect(code).toBe(0);
    expect(stderr).toContain("--sample-path '/v1/orders?page=1'");
  });

  it('needs no command before it', async () => {
    const folder = folderWith(documentWith(BEARER));
    const args = ['openapi.yaml', '--url', url, '-H', AUTHORIZATION, '--check', 'status.sample'];
    const { code, stderr } = await conformHere(args, {}, folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('orders: finished 1 of 1') });
  });

  it('judges a WebSocket endpoint alone by the rules of servers', async () => {
    const server = createServer((_request, response) => response.writeHead(426).end());
    const endpoint = new WebSocketServer({ server });
    endpoint.on('connection', (socket) => socket.on('error', () => {}));
    const address = (await served(server)).replace('http', 'ws');
    const { code, stdout } = await conformHere(['run', `${address}/live`], {}, temporaryFolder());
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^✓ service conforms to server@\d{4}-\d\d\.$/m),
    });
    expect(stdout).not.toContain('blocked');
  });

  it('removes its config when it ends, whether it is run or refused', async () => {
    const found = await configOf(documentWith(null), { url });
    expect(existsSync(found.configDir)).toBe(false);
  });
});

describe('the credential among the headers', () => {
  it('is the key of two that are needed together; no file has either', async () => {
    const id = { type: 'apiKey', in: 'header', name: 'X-Application-Id' };
    const key = { type: 'apiKey', in: 'header', name: 'X-API-Key' };
    const document = {
      ...documentWith(id),
      security: [{ id: [], key: [] }],
      components: { securitySchemes: { id, key } },
    };
    const both = [`X-Application-Id: of-${KEY}`, `X-API-Key: ${KEY}`];
    const found = await configOf(document, { url, header: both });
    expect(found.text).toContain('name: "X-API-Key"');
    expect(found.env).toEqual({ ORDERS_API_KEY: KEY, ORDERS_API_KEY_X_APPLICATION_ID: `of-${KEY}` });
    for (const text of [...found.files, found.keep, found.again]) expect(text).not.toContain(KEY);
    await expect(configOf(document, { url, header: [`X-API-Key: ${KEY}`] })).rejects.toThrow(
      'the document asks for the header X-Application-Id as well',
    );
  });

  it('leaves a short name of a user next to it as it is', async () => {
    const user = { type: 'apiKey', in: 'header', name: 'X-User-Name' };
    const token = { type: 'apiKey', in: 'header', name: 'X-User-Token' };
    const document = {
      ...documentWith(user),
      security: [{ user: [], token: [] }],
      components: { securitySchemes: { user, token } },
    };
    const found = await configOf(document, { url, header: ['X-User-Name: root', `X-User-Token: ${KEY}`] });
    expect(found.env).toEqual({ ORDERS_API_KEY: KEY });
    expect(found.text).toContain('X-User-Name: root');
  });

  it.for([
    ['a bearer token', BEARER, AUTHORIZATION, 'scheme: bearer', { ORDERS_API_KEY: KEY }],
    [
      'a user and a password',
      { type: 'http', scheme: 'basic' },
      `Authorization: Basic ${Buffer.from(`anna:${KEY}`).toString('base64')}`,
      'scheme: basic',
      { ORDERS_API_KEY: KEY, ORDERS_API_KEY_USER: 'anna' },
    ],
    [
      'the header that the document names',
      { type: 'apiKey', in: 'header', name: 'X-Orders' },
      `x-orders: ${KEY}`,
      'scheme: header',
      { ORDERS_API_KEY: KEY },
    ],
    [
      'a cookie that the document names',
      { type: 'apiKey', in: 'cookie', name: 'sid' },
      `Cookie: sid=${KEY}`,
      'scheme: cookie # the key in the cookie `name`\n  name: "sid"',
      { ORDERS_API_KEY: KEY },
    ],
    [
      'another word in Authorization',
      BEARER,
      `Authorization: Token ${KEY}`,
      'name: "Authorization"',
      { ORDERS_API_KEY: `Token ${KEY}` },
    ],
  ] as const)('is %s, and no file has it', async ([, scheme, header, line, secrets]) => {
    const found = await configOf(documentWith(scheme), { url, header: [header] });
    expect(found.text).toContain(line);
    expect(found.env).toEqual(secrets);
    for (const text of [...found.files, found.keep, found.again]) expect(text).not.toContain(KEY);
  });

  it('leaves other headers for every request; one that may be a secret is kept out of the file', async () => {
    const header = [AUTHORIZATION, 'X-Tenant: acme', 'X-Gateway-Key: gate-1234567890'];
    const found = await configOf(documentWith(BEARER), { url, header });
    expect(found.text).toContain(
      `headers:\n  X-Tenant: acme\n  X-Gateway-Key: \${env:ORDERS_API_KEY_X_GATEWAY_KEY}\n`,
    );
    expect(found.env).toEqual({ ORDERS_API_KEY: KEY, ORDERS_API_KEY_X_GATEWAY_KEY: 'gate-1234567890' });
  });

  it('may stand in a file', async () => {
    const file = join(
      temporaryFolder({ 'headers.txt': `${AUTHORIZATION}\r\nX-Tenant: acme\n\n` }),
      'headers.txt',
    );
    const found = await configOf(documentWith(BEARER), { url, header: [`@${file}`] });
    expect(found.env).toEqual({ ORDERS_API_KEY: KEY });
    expect(found.text).toContain('X-Tenant: acme');
  });
});

const REFUSED: readonly (readonly [problem: string, args: readonly string[], says: RegExp])[] = [
  ['a file that is not there', ['run', './openapi.json', '--url', 'URL'], /no such file\n {2}remedy: /],
  ['another kind of URL', ['run', 'ftp://orders.example'], /is no http, https, ws or wss URL/],
  [
    'no URL of the service',
    ['run', './openapi.yaml'],
    /does not say where the service is\n {2}remedy: add --url/,
  ],
  [
    'no credential',
    ['run', './openapi.yaml', '--url', 'URL'],
    /asks for a credential\n {2}remedy: add -H 'Authorization: Bearer …'/,
  ],
  [
    'a password in the URL',
    ['run', 'http://anna:s3cret-1@127.0.0.1:9/v1'],
    /^conform: the URL holds a user or a password\n(?!.*s3cret)/,
  ],
  [
    'a key in the URL',
    ['run', 'http://127.0.0.1:9/v1?api_key=s3cret-1'],
    /query parameter "api_key"\n(?!.*s3cret)/,
  ],
  [
    'a file of headers that never ends',
    ['run', './openapi.yaml', '--url', 'URL', '-H', '@/dev/zero'],
    /--header: is not a regular file/,
  ],
  ['two targets', ['run', './openapi.yaml', './other.yaml'], /one document or URL can be run at a time/],
  [
    'a header without a value',
    ['run', './openapi.yaml', '--url', 'URL', '-H', 'X-Key'],
    /--header: is no header with a value/,
  ],
  [
    'a key of a variable that is not set',
    ['run', './openapi.yaml', '--url', 'URL', '-H', 'Authorization: Bearer '],
    /--header: the header Authorization has no key\n {2}remedy: export the variable/,
  ],
  [
    'a key that is too short',
    ['run', './openapi.yaml', '--url', 'URL', '-H', 'Authorization: Bearer short'],
    /^conform: --header: the secret is shorter than 8 characters/,
  ],
  ['a header for a configured service', ['run', 'search', '-H', 'X: y'], /--header is for a document or URL/],
];

it('conform.yaml as the target is a config, and no document', async () => {
  const folder = folderWith(documentWith(BEARER));
  writeFileSync(join(folder, 'conform.yaml'), 'service: orders\nopenapi: openapi.yaml\n');
  const { code, stderr } = await conformHere(['run', './conform.yaml'], {}, folder);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('provider: is missing') });
});

describe('what cannot be run', () => {
  it.for(REFUSED)('%s ends with 2', async ([, args, says]) => {
    const folder = folderWith(documentWith(BEARER));
    const given = args.map((word) => (word === 'URL' ? url : word));
    const { code, stderr } = await conformHere(given, {}, folder);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(says) });
    expect(readdirSync(folder)).toEqual(['openapi.yaml']);
  });
});
