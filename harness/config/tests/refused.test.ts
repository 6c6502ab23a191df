import { createPrivateKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError, UsageErrors } from '../../base/exit.ts';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import fc from '../../base/fixtures/properties.ts';
import { selfSigned } from '../../proof/certificate.ts';
import {
  type Case,
  GOOD_SERVICE,
  loadOrders,
  ORDERS_CONTRACT,
  pactText,
  refusalOf,
  thrownBy,
} from '../fixtures/config-folder.ts';
import { loadServices } from '../load.ts';

/**
 * Each is refused with the message that the snapshot shows. `§` stands in front of what the message must point at.
 * Every text that is used for a secret holds the word "hush", which no message may hold.
 */
type Cases = Readonly<Record<string, string | Case>>;

function areRefused(cases: Cases, written: (text: string) => Case = (service) => ({ service })): void {
  it.each(Object.entries(cases))('%s', async (_what, wrong) => {
    const told = await refusalOf(typeof wrong === 'string' ? written(wrong) : wrong);
    // A list of all that is known grows with every key, kind and scheme.
    expect(told.replaceAll(/(one of: ?|neither )\w+,.*$/gm, '$1…')).toMatchSnapshot();
  });
}

// RFC 9421, appendix B.1.4.
const PUBLIC_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----`;

const NAMES = 'service: orders\ncontract: orders\n';
const AT = "provider: { url: 'https://orders.example' }\n";
const OPEN = 'credentials: { scheme: none }\n';
/** The good service with one more block. */
const and = (block: string) => GOOD_SERVICE + block;
/** The good service with another provider. */
const at = (provider: string) => `${NAMES}provider: ${provider}\n${OPEN}`;

describe('what is refused of a service', () => {
  areRefused({
    'a mistyped key at the top': `§servce: orders\ncontract: orders\n${AT}${OPEN}`,
    'a mistyped key of the provider': at("{ §ulr: 'https://orders.example' }"),
    'a mistyped key three levels deep': and(
      'operations:\n  - { id: a, method: GET, path: /a, response: { §staus: 200 } }\n',
    ),
    'a mistyped key in an environment that is not chosen': and(
      'environments:\n  staging:\n    safety: { §exceedRateLimits: true }\n',
    ),
    'an environment inside an environment': and('environments: { staging: { §environments: {} } }\n'),
    'no service name': `§contract: orders\n${AT}${OPEN}`,
    'a service name that is a path': GOOD_SERVICE.replace('service: orders', 'service: §../orders'),
    'a number for a name': GOOD_SERVICE.replace('contract: orders', 'contract: §7'),
    'a text for a mapping': at('§https://orders.example'),
    'a text for true or false': and('safety: { unsafeMethods: §"yes" }\n'),
    'a key with nothing behind it': { service: and('plan:§\n'), file: 'services/orders.yaml:5:6' },
    'no provider': `§${NAMES}${OPEN}`,
    'an empty provider': at('§{}'),
    'two kinds of provider': at("§{ reference: search, url: 'https://orders.example' }"),
    'an unknown reference provider': at('{ reference: §serch }'),
    'defects of a real service': at("{ url: 'https://orders.example', defects: §[always-200] }"),
    'an address that is none': at('{ url: §orders }'),
    'an impossible port': at("{ url: §'http://a:99999' }"),
    'another protocol': at("{ url: §'ftp://a/b' }"),
    'an address with a password': at("{ url: §'https://me:hush-hush@orders.example' }"),
    'an address with a query': at("{ url: §'https://orders.example/?key=hush' }"),
    'an address with a fragment': at("{ url: §'https://orders.example/#a' }"),
    'a bad address on the command line': { options: { providerUrl: 'orders' } },
    'a public key for a signature that takes a secret': {
      service: signed('{ scheme: slack, key: §a.pem }'),
      files: { 'services/a.pem': PUBLIC_KEY },
    },
    'a key of signatures that is not there': and('signatures: { a: §keys/a.pem }\n'),
    'a key of signatures that is none': and('signatures: { a: §orders.yaml }\n'),
    'a secret of signatures that stands in the file': and('signatures: { a: { secret: §hush-hush } }\n'),
    'an origin with a path': and('cors: { origins: [§https://shop.example/] }\n'),
    'pages of no origin': and('cors: { origins: §[] }\n'),
    'a version in two places': and('deployedVersion: §{ header: X-Build, path: /version }\n'),
    'a version in no place': and('deployedVersion: §{}\n'),
    'a version of which only the member is known': and('deployedVersion: §{ pointer: /build }\n'),
    'a member of a header': and('deployedVersion: { header: X-Build, pointer: §/build }\n'),
    'a member that is no JSON Pointer': and('deployedVersion: { path: /version, pointer: §build }\n'),
    'a version in a header that is none': and('deployedVersion: { header: §"X Build" }\n'),
    'a version on another host': and("deployedVersion: { path: §'https://elsewhere.example' }\n"),
    'an address on the command line for several services': {
      files: { 'services/bills.yaml': GOOD_SERVICE.replace('service: orders', 'service: bills') },
      options: { providerUrl: 'https://orders.example' },
    },
    'an unknown service': { options: { services: ['order'] } },
    'an unknown environment': {
      service: and('environments: §{ staging: {}, release: {} }\n'),
      options: { environment: 'stagging' },
    },
    'an environment where there is none': {
      service: `§${GOOD_SERVICE}`,
      options: { environment: 'staging' },
    },
    'an environment that extends itself': and('environments:\n  staging: { extends: §staging }\n'),
    'environments that extend each other': and(
      'environments:\n  a: { extends: b }\n  b: { extends: c }\n  c: { extends: §b }\n',
    ),
    'an environment that extends an unknown one': and(
      'environments:\n  staging: {}\n  release: { extends: §stagin }\n',
    ),
    'an environment with an unfit name': and('environments: { §Staging EU: {} }\n'),
    'an unknown contract': GOOD_SERVICE.replace('contract: orders', 'contract: §ordres'),
  });
});

const plan = (text: string) => and(`plan: ${text}\n`);
const operation = (text: string) => and(`operations:\n  - ${text}\n`);
const call = (more: string) => operation(`{ id: a, method: GET, path: /a, ${more} }`);
/** A response whose schema is in `services/a.json`; what is wrong is in `file`. */
const schemaFile = (file: string, files: Case['files'] = {}): Case => ({
  service: call('response: { schema: a.json }'),
  files,
  file,
});
const socket = (more: string) => and(`websocket: { url: /ws, ${more} }\n`);
const signed = (signature: string) =>
  and(`webhooks: { trigger: { path: /hooks }, signature: ${signature} }\n`);

describe('what is refused of its values', () => {
  areRefused({
    'a plan without a window': plan('§{ requests: 5 }'),
    'a plan without requests': plan('§{ window: 5s }'),
    'a window without a unit': plan('{ requests: 5, window: §60 }'),
    'a window in an unknown unit': plan('{ requests: 5, window: §1 fortnight }'),
    'a window of zero': plan('{ requests: 5, window: §0s }'),
    'a negative window': plan('{ requests: 5, window: §-5s }'),
    'a window of days': plan('{ requests: 5, window: §48h }'),
    'a window that a variable spoils': {
      service: plan(`{ requests: 5, window: §"\${env:WINDOW}" }`),
      options: { env: { WINDOW: 'soon' } },
    },
    'a plan of no requests': plan('{ requests: §0, window: 60s }'),
    'a burst of no requests': plan('{ requests: 5, window: 60s, burst: §0 }'),
    'a burst that takes days to come back': plan('{ requests: 1, window: 60s, burst: §5000 }'),
    'a limit for nobody known': plan('{ requests: 5, window: 60s, per: §user }'),
    'a plan of half a request': plan('{ requests: §0.5, window: 60s }'),
    'a ceiling below the burst that is allowed': plan(
      '{ requests: 100, window: 60s }\nsafety: { exceedRateLimit: true, maxRequests: §150 }',
    ),
    'a time-out of zero': and('timeouts: { response: §0ms }\n'),
    'a time-out of hours': and('timeouts: { connect: §1h }\n'),
    'a path without a slash': operation('{ id: a, method: GET, path: §v1/orders }'),
    'a path to another host': operation('{ id: a, method: GET, path: §//other.example/ }'),
    'a path with a placeholder': operation("{ id: a, method: GET, path: §'/orders/{id}' }"),
    'a path with a broken percent-encoding': operation('{ id: a, method: GET, path: §/100% }'),
    'a method in small letters': operation('{ id: a, method: §get, path: /a }'),
    'an operation without a path': operation('§{ id: a, method: GET }'),
    'a duplicate operation': operation(
      '{ id: a, method: GET, path: /a }\n  - { id: §a, method: GET, path: /b }',
    ),
    'a schema file that is missing': call('response: { schema: §schemas/a.json }'),
    'a schema file that is not JSON': schemaFile('services/a.json:1:10', {
      'services/a.json': '{"type": object}',
    }),
    'a schema file that is no JSON Schema': schemaFile('services/a.json:1:1', {
      'services/a.json': '{"type": "thing"}',
    }),
    'a schema file of a dialect that is not known': {
      service: call('response: { schema: ../schemas/a.yaml }'),
      files: { 'schemas/a.yaml': 'type: object\n$schema: http://json-schema.org/draft-03/schema#\n' },
      file: 'schemas/a.yaml:2:10',
    },
    'a schema file that is a key': {
      service: call('response: { schema: a.pem }'),
      files: { 'services/a.pem': 'hush hush' },
      file: 'services/a.pem:1:1',
    },
    'schema files of two dialects': schemaFile('services/b.json:2:13', {
      'services/a.json': '{ "$ref": "b.json" }',
      'services/b.json': '{\n "$schema": "http://json-schema.org/draft-07/schema#" }',
    }),
    'a schema file that refers to none': schemaFile('services/a.json:2:2', {
      'services/a.json': '{ "items":\n { "$ref": "b.json" } }',
    }),
    'a schema file that refers to nothing in another': schemaFile('services/a.json:1:1', {
      'services/a.json': '{ "$ref": "b.json#/definitions/B" }',
      'services/b.json': '{ "definitions": { "A": {} } }',
    }),
    'a schema that points outside itself': call('response: { schema: §{ $ref: "https://a.example/b" } }'),
    'a websocket address that is none': and('websocket: { url: §ws }\n'),
    'a websocket address over http': and("websocket: { url: §'https://orders.example/ws' }\n"),
    'a websocket fragment': and('websocket: { url: §/ws#a }\n'),
    'a websocket without address': and('websocket: §{ echo: true }\n'),
    'an unknown dialect': socket('dialect: §pushr'),
    'an origin with a path': socket("origin: §'https://app.example/'"),
    'a subprotocol that is no token': socket('subprotocols: [§"a b"]'),
    'a dialect of a module that is not there': socket('dialect: §../dialects/chat.ts'),
    'an answer that is no JSON Schema': socket('exchange: [{ send: hello, expect: §{ type: nothing } }]'),
    'a login without answer': socket('login: §{ send: hello }'),
    'a message without answer': socket('exchange: [§{ send: hello }]'),
    'a heartbeat that every message is': socket('heartbeat: { receive: §{}, answer: pong }'),
    'an answer that is a heartbeat': socket(
      'heartbeat: { receive: { type: ping }, answer: §{ type: ping, id: 1 } }',
    ),
    'a heartbeat of a dialect that has its own': socket(
      'dialect: pusher, heartbeat: §{ receive: { type: ping }, answer: pong }',
    ),
    'a heartbeat without answer': socket('heartbeat: §{ receive: { type: ping } }'),
    'a message schema in a file that is not there': socket('messages: { price: §price.json }'),
    'a query parameter without name for the key of a handshake': socket('credential: §{ in: query }'),
    'a prefix that cannot be in a subprotocol': socket('credential: { in: subprotocol, prefix: §"a b" }'),
    'a receiver of webhooks at no address': and('webhooks: { listen: §8080, trigger: { path: /hooks } }\n'),
    'webhooks that nothing triggers': and('webhooks: §{ listen: "127.0.0.1:0" }\n'),
    'a signature of webhooks in no header': signed(`§{ secret: "\${env:HOOK_SECRET:-}" }`),
    'a signature of webhooks without a key': signed('§{ header: X-Signature }'),
    'a signature of webhooks with two keys': signed(
      `{ scheme: stripe, secret: "\${env:HOOK_SECRET:-}", key: §a.pem }`,
    ),
    'a secret of webhooks that stands in the file': signed(
      '{ header: X-Signature, secret: §written-down-here }',
    ),
    'a field that is no name': call('fields: { "X Y": §1 }'),
    'a credential among the fields': call('fields: { Authorization: §hush }'),
    'a field value with a line break': call('fields: { X-A: §"a\\nb" }'),
    'two bodies': call('body: §{ json: 1, text: a }'),
    'an empty body': call('body: §{ type: text/plain }'),
    'a text of no type': call('body: §{ text: a }'),
    'JSON of another type': call('body: { json: 1, type: §text/plain }'),
    'a parameter with a schema that is none': call(
      'parameters: [{ name: q, in: query, schema: §{ type: thing } }]',
    ),
    'a required parameter without a value': call('parameters: [§{ name: q, in: query, required: true }]'),
    'a parameter of the path': call('parameters: [{ name: q, in: §path }]'),
    'a media type that is none': call('response: { type: §json }'),
    'a ceiling of nothing': `${GOOD_SERVICE}safety: { operationRequests: §0 }\n`,
  });
});

const container = (more: string) => at(`{ container: { image: orders:1, port: 8080, ${more} } }`);
const companion = (more: string) => container(`companions: { cache: ${more} }`);
const command = (more: string) =>
  at(`{ command: { run: [./start], url: 'http://127.0.0.1:8080', ${more} } }`);
const ANY_PORT = '$' + '{PORT}';
const ORDERS_KEY = '$' + '{env:ORDERS_KEY}';
const ENV = { ORDERS_KEY: 'hush-key-for-tests', SHORT: 'hush' };

describe('what is refused of a provider', () => {
  areRefused(
    {
      'a container and a url': at(
        "§{ url: 'https://orders.example', container: { image: orders:1, port: 80 } }",
      ),
      'defects of a container': at('{ container: { image: orders:1, port: 80 }, defects: §[always-200] }'),
      'an image in place of a container': at('{ container: §orders:1 }'),
      'a mistyped key of a container in an environment': at(
        '{ reference: search }\nenvironments: { ci: { provider: { container: { §imgae: a } } } }',
      ),
      'a container without image': at('{ container: §{ port: 8080 } }'),
      'an image and a build': container('build: .').replace('{ image', '§{ image'),
      'an image whose name is none': at('{ container: { image: §"orders 1", port: 80 } }'),
      'no port': at('{ container: §{ image: orders:1 } }'),
      'a port beyond all ports': at('{ container: { image: orders:1, port: §70000 } }'),
      'a base path without a slash': container('path: §api'),
      'a folder to build from that is not there': at(
        '{ container: { build: §../no-such-folder, port: 80 } }',
      ),
      'a folder without a Dockerfile': at('{ container: { build: §., port: 80 } }'),
      'a Dockerfile outside its folder': at(
        '{ container: { build: { context: ., dockerfile: §../Dockerfile }, port: 80 } }',
      ),
      'a build without a folder': at('{ container: { build: §{ target: test }, port: 80 } }'),
      'a variable whose name holds a =': container('env: { §"A=B": c }'),
      'a variable with a list': container('env: { A: §[1] }'),
      'a variable that is read from one that is not set': container(`env: { A: §"\${env:NOWHERE}" }`),
      'a secret too short to be kept out of reports': container(`secrets: { /run/key: §"\${env:SHORT}" }`),
      'a secret too long to be searched for': {
        service: container(`secrets: { /run/key: §"\${file:long.txt}" }`),
        files: { 'services/long.txt': 'hush'.repeat(5_000) },
      },
      'a secret at a relative path': container(`secrets: { §run/key: "${ORDERS_KEY}" }`),
      'a secret at a path with dots': container(`secrets: { /run/../key: §"${ORDERS_KEY}" }`),
      'a file that is not there': container('files: { /etc/orders.json: §orders.json }'),
      'a file that is a folder': container('files: { /etc/orders: §. }'),
      'a command as one text': container('command: §serve --verbose'),
      'memory without a unit': container('limits: { memory: §"512" }'),
      'memory in which nothing runs': container('limits: { memory: §1m }'),
      'no processor': container('limits: { cpus: §0 }'),
      'a capability in small letters': container('capabilities: [§chown]'),
      'all capabilities': container('capabilities: §[ALL]'),
      'a time-out of hours': container('timeout: §2h'),
      'an alias that a companion has': container(
        'aliases: [§cache], companions: { cache: { image: redis:8 } }',
      ),
      'a companion whose name is no host name': container('companions: { §"My cache": { image: redis:8 } }'),
      'a companion of a companion': companion('{ image: redis:8, §companions: {} }'),
      'a companion without image': companion('§{}'),
      'a companion that is ready by http, on no port': companion('§{ image: redis:8, ready: { http: / } }'),
      'readiness by nothing': container('ready: §{}'),
      'readiness by two things': container('ready: §{ http: /healthz, log: listening }'),
      'readiness by a URL': container("ready: { http: §'http://orders/healthz' }"),
      'a status of a log': container('ready: { log: listening, status: §200 }'),
      'times of a path': container('ready: { http: /, times: §2 }'),
      'a health check of a command': command('ready: { health: §true }'),
      'no health check': container('ready: { health: §false }'),
      'a command that runs nothing': at("{ command: §{ url: 'http://127.0.0.1:80' } }"),
      'a command without a program': at("{ command: { run: §['', a], url: 'http://127.0.0.1:80' } }"),
      'a command that is nowhere': at('{ command: §{ run: ./start } }'),
      'a command at an address that is none': at('{ command: { run: ./start, url: §localhost } }'),
      'a port where none goes': at(`{ command: { run: ./start, url: §'http://127.0.0.1/${ANY_PORT}' } }`),
      'a secret on the command line': at(
        `{ command: { run: [./start, §"--key=${ORDERS_KEY}"], url: 'http://127.0.0.1:80' } }`,
      ),
      'a secret in a line for the shell': at(
        `{ command: { run: §"./start ${ORDERS_KEY}", url: 'http://127.0.0.1:80' } }`,
      ),
      'a port that is only on the command line': at(
        `{ command: { run: [./start, §"${ANY_PORT}"], url: 'http://127.0.0.1:80' } }`,
      ),
      'a folder to run in that is not there': command('cwd: §no-such-folder'),
    },
    (service) => ({ service, options: { env: ENV } }),
  );
});

const away = (credentials: string) => `${NAMES}${AT}credentials: ${credentials}\n`;
const here = (credentials: string) =>
  `${NAMES}provider: { url: 'http://127.0.0.1:9' }\ncredentials: ${credentials}\n`;
const bearer = (more: string) => here(`{ scheme: bearer, key: example-hush-key, ${more} }`);
const client = (more: string, mark = '') =>
  here(`{ scheme: oauth2, clientId: one, clientSecret: ${mark}example-hush-secret, ${more} }`);

describe('what is refused of credentials', () => {
  areRefused({
    'no credentials': `§${NAMES}${AT}`,
    'no scheme': away('§{ name: X-API-Key }'),
    'an unknown scheme': away('{ scheme: §baerer }'),
    'a bearer scheme without a key': away('§{ scheme: bearer }'),
    'a header scheme without a name': here('§{ scheme: header, key: example-hush-key }'),
    'a header name with a space': here('{ scheme: header, name: §X API Key, key: example-hush-key }'),
    'a header that frames the message': here(
      '{ scheme: header, name: §Content-Length, key: example-hush-key }',
    ),
    'a query name with an ampersand': here('{ scheme: query, name: §a&b, key: example-hush-key }'),
    'a name for a bearer key': here('{ scheme: bearer, name: §X-API-Key, key: example-hush-key }'),
    'a key for basic': here(
      '{ scheme: basic, username: me, password: example-hush-word, key: §example-hush-key }',
    ),
    'basic without a password': here('§{ scheme: basic, username: me }'),
    'a user name with a colon': here('{ scheme: basic, username: §"me:you", password: example-hush-word }'),
    'signed without an app': here('§{ scheme: signed }'),
    'an app without a secret': here('{ scheme: signed, app: §{ id: one, key: two } }'),
    'an app identifier with a space': here(
      '{ scheme: signed, app: { id: §"one two", key: two, secret: example-hush-secret } }',
    ),
    'a refused key that works': bearer('refused: [{ key: §example-hush-key, because: revoked }]'),
    'a refused key that is not there': bearer('refused: [§{ because: revoked }]'),
    'a refused key without a reason': bearer('refused: [§{ key: example-hush-old-key }]'),
    'refused keys where nobody needs one': here(
      '{ scheme: none, refused: §[{ key: example-hush-old-key, because: revoked }] }',
    ),
    'a second key equal to the first': bearer('secondKey: §example-hush-key'),
    'tokens from neither a path nor a URL': client('tokenUrl: §token'),
    'tokens from a URL with a password': client('tokenUrl: §"http://me:hush@127.0.0.1/"'),
    'tokens from a URL with a fragment': client('tokenUrl: §"/token#x"'),
    'scopes that are no list': client('tokenUrl: /token, scope: §"a,  b"'),
    'a resource that is no URL': client('tokenUrl: /token, resource: §orders'),
    'a client that is named in an unknown way': client('tokenUrl: /token, clientAuthentication: §jwt'),
    'a literal client secret for tokens from elsewhere': client('tokenUrl: "https://login.example/"', '§'),
  });
});

const key = (reference: string) => `{ scheme: bearer, key: §${reference} }`;
/** A key that is read from the one variable that there is. */
const having = (env: Readonly<Record<string, string>>): Case => ({
  service: away(key(`"\${env:${Object.keys(env)[0]}}"`)),
  options: { env },
});

describe('what is refused of secrets', () => {
  areRefused({
    'a literal key for a service elsewhere': away(key('hush-hush-hush')),
    'a literal around a reference': away(key(`"hush-\${env:PATH}"`)),
    'a literal default for a service elsewhere': away(key(`"\${env:ORDERS_KEY:-hush-hush-hush}"`)),
    'an empty default for a key that is needed': away(key(`"\${env:ORDERS_KEY:-}"`)),
    'a variable that is not set': {
      service: away(key(`"\${env:ORDERS_KEY}"`)),
      options: { env: { ORDER_KEY: 'hush-hush-hush' } },
    },
    'a variable that is empty': having({ EMPTY_KEY: '' }),
    'an unknown kind of reference': away(key(`"\${envv:ORDERS_KEY}"`)),
    'a reference that is not closed': away(key(`"\${env:ORDERS_KEY"`)),
    'a reference to nothing': away(key(`"\${file:}"`)),
    'a variable name that is none': away(key(`"\${env:ORDERS-KEY}"`)),
    'a reference inside a default': away(key(`"\${env:A:-\${env:B}}"`)),
    'a file that is not there': away(key(`"\${file:../keys/orders.txt}"`)),
    'a folder for a file': away(key(`"\${file:..}"`)),
    'a device for a file': away(key(`"\${file:/dev/zero}"`)),
    'an empty file': { service: away(key(`"\${file:key.txt}"`)), files: { 'services/key.txt': '\n' } },
    'a file of several lines': {
      service: away(key(`"\${file:key.txt}"`)),
      files: { 'services/key.txt': 'hush-hush\nhush-hush\n' },
    },
    'a command that fails, and says why on stderr': away(
      key(`"\${exec:echo hush-hush; echo hush >&2; exit 3}"`),
    ),
    'a command that is not there': away(key(`"\${exec:no-such-command-hush}"`)),
    'a command that hangs, with a child that hangs': {
      service: away(key(`"\${exec:sleep 60 | cat; sleep 60}"`)),
      options: { execTimeoutMs: 150 },
    },
    'a command that prints without end': away(key(`"\${exec:cat /dev/zero}"`)),
    'a command that prints nothing': away(key(`"\${exec:true}"`)),
    'a command that prints no text': away(key(`"\${exec:printf '\\\\377\\\\376'}"`)),
    'a short key': having({ SHORT: 'hush' }),
    'a key that is a word of HTTP': having({ WORD: 'Application' }),
    'a key with a control character': having({ SPOILT: 'hush\u0007hush' }),
    'a key beyond latin-1': having({ SPOILT: 'hush-hush-\u20ac' }),
    'a key with a space at its end': having({ SPOILT: 'hush-hush ' }),
    'an unset variable in an address': `service: orders\ncontract: orders\nprovider: { url: §"\${env:ORDERS_URL}" }\ncredentials: { scheme: none }\n`,
    'a number for a key': away('{ scheme: bearer, key: §12345678 }'),
  });
});

const own = selfSigned('client.example');
const PASSPHRASE = 'hush-passphrase';
const PEM_FILES = {
  'services/client.pem': own.cert,
  'services/key.pem': own.key,
  'services/encrypted.pem': createPrivateKey(own.key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSPHRASE })
    .toString(),
  'services/other.pem': selfSigned('other.example').key,
};
const tls = (block: string) => and(`tls: { ${block} }\n`);
const header = (line: string) => and(`headers: { ${line} }\n`);

describe('what is refused of client certificates and headers', () => {
  const env = {
    PASSPHRASE,
    OTHER: 'hush-of-others',
    SHORT: 'hush',
    TWO_LINES: 'two-hush-lines\r\nof-a-test',
  };
  areRefused(
    {
      'a certificate without its key': tls('cert: §client.pem'),
      'a key without its certificate': tls('key: §key.pem'),
      'a passphrase for nothing': tls(`passphrase: §"\${env:PASSPHRASE}"`),
      'an encrypted key without a passphrase': tls('cert: client.pem, key: §encrypted.pem'),
      'another passphrase': tls(`cert: client.pem, key: encrypted.pem, passphrase: §"\${env:OTHER}"`),
      'a private key that is none': tls('cert: client.pem, key: §client.pem'),
      'the key of another certificate': tls('cert: client.pem, key: §other.pem'),
      'a certificate that is not there': tls('cert: §gone.pem, key: key.pem'),
      'a header where the credential goes': header('Authorization: §abc'),
      'a header under the name of the key': here(
        '{ scheme: header, name: X-Key, key: example-hush-key }\nheaders: { x-key: §abc }',
      ),
      'a header that checks change': header('Accept: §text/html'),
      'a header that frames the message': header('Content-Length: §"3"'),
      'a header of no name': header('§"X Y": a'),
      'a header of nothing': header('X-A: §""'),
      'a header of two lines': header(`X-A: §"\${env:TWO_LINES}"`),
      'a header with a secret that cannot be kept': header(`X-A: §"\${env:SHORT}"`),
    },
    (service) => ({ service, files: PEM_FILES, options: { env } }),
  );
});

const pact = (change: object = {}) => pactText('web', change);
const withPacts = (block: string) => `${GOOD_SERVICE}pacts: ${block}\n`;
const GOOD = { 'pacts/web.json': pact() };
/** The one pact file, which is wrong at `place`: its path, and line and column where there are any. */
const pactFile = (place: string, text: string | Buffer): Case => ({
  service: withPacts('{ files: [../pacts] }'),
  files: { [place.replace(/:.*/, '')]: text },
  file: place,
});
const broker = (more: string) => withPacts(`{ broker: { url: "https://broker.example", ${more} } }`);

describe('what is refused of pacts', () => {
  areRefused({
    'a block that names nothing, where nothing lies': withPacts('§{ provider: orders }'),
    'an empty list of files': withPacts('{ files: §[] }'),
    'a file that is not there': withPacts('{ files: [§../pacts/none.json] }'),
    'a folder without a pact': {
      service: withPacts('{ files: [§../empty] }'),
      files: { 'empty/notes.txt': 'no pact' },
    },
    'the same file twice': { service: withPacts('{ files: [../pacts, §../pacts] }'), files: GOOD },
    'a pact that is no JSON': pactFile('pacts/web.json:2:15', '{\n  "consumer": }'),
    'a JSON file that is no pact': pactFile('pacts/package.json', '{ "name": "web" }'),
    'a pact that is not UTF-8': pactFile('pacts/web.json:1:7', Buffer.from('{"a":"\xe9"}', 'latin1')),
    'a pact without interactions': pactFile('pacts/web.json', pact({ interactions: [] })),
    'pacts of other providers alone': {
      service: withPacts('{ files: [§../pacts] }'),
      files: {
        'pacts/a.json': pact({ provider: { name: 'stock' } }),
        'pacts/b/c.json': pact({ provider: { name: 'mail' } }),
      },
    },
    'a pact whose provider is misspelt, among good ones': {
      service: withPacts('{ files: [§../pacts] }'),
      files: { ...GOOD, 'pacts/x.json': pact({ provider: { name: 'Order-s' } }) },
    },
    'a pact whose provider has one letter too few': {
      service: withPacts('{ files: [§../pacts/x.json] }'),
      files: { 'pacts/x.json': pact({ provider: { name: 'order' } }) },
    },
    'a URL with a password': withPacts('{ files: [§"https://me:hush@ci.example/a.json"] }'),
    'a key of the block that is not known': withPacts('{ §file: [../pacts] }'),
    'a broker without an address': withPacts('{ broker: §{ branch: main } }'),
    'a broker whose address is none': withPacts('{ broker: { url: §broker.example } }'),
    'a token in the file itself': broker('token: §hush-hush-hush'),
    'a token and a user': {
      service: withPacts(`{ broker: §{ url: "https://broker.example", token: "\${env:T}", username: me } }`),
      options: { env: { T: 'hush-hush-hush' } },
    },
    'a user without a password': withPacts('{ broker: §{ url: "https://broker.example", username: me } }'),
    'pending pacts without a branch': broker('pending: §true'),
    'work in progress without pending pacts': broker('wipSince: §"2026-01-01"'),
    'a selector that is not known': broker('selectors: [{ §mainbranch: true }]'),
    'a matching branch without a branch': broker('selectors: [{ matchingBranch: §true }]'),
    'two ways to set up states': {
      service: withPacts('{ files: [../pacts], states: §{ url: /_states, command: ./set } }'),
      files: GOOD,
    },
    'an address of states that is none': {
      service: withPacts('{ files: [../pacts], states: { url: §states } }'),
      files: GOOD,
    },
  });
});

const clause = (text: string) => `${ORDERS_CONTRACT}  - ${text}\n`;
const PLACE = 'place: { section: Any, row: 1 }';
const schemeClause = (text: string) => clause(`{ key: auth.scheme, ${text}, ${PLACE} }`);
const statedRate = (rate: string) =>
  ORDERS_CONTRACT.replace('standing: not-shown', `standing: stated\n    value: ${rate}`);

describe('what is refused of a contract', () => {
  areRefused(
    {
      'a clause of an unknown key': clause(`{ key: §limits.rates, standing: not-shown, ${PLACE} }`),
      'a key with two clauses': clause(`{ key: §limits.rate, standing: not-shown, ${PLACE} }`),
      'an unknown standing': schemeClause('standing: §state, value: API key'),
      'a value of the wrong shape': clause(
        `{ key: versioning.prefix, standing: stated, value: §v1, ${PLACE} }`,
      ),
      'a value that is wrong inside': ORDERS_CONTRACT.replace('path: /orders', 'path: §orders'),
      'a value with an unknown key': ORDERS_CONTRACT.replace('{ method: GET', '§{ verb: GET, method: GET'),
      'a rate whose window has no unit': statedRate('{ requests: 5, window: §60 }'),
      'a rate for nobody known': statedRate('{ requests: 5, window: 60s, per: §user }'),
      'a stated clause without a value': clause(`§{ key: auth.scheme, standing: stated, ${PLACE} }`),
      'a value that is not shown': schemeClause('standing: not-shown, value: §API key'),
      'a contradiction with nothing': schemeClause(
        'standing: stated, value: API key, contradicts: [§auth.sample]',
      ),
      'a contradiction with itself': schemeClause(
        'standing: stated, value: API key, contradicts: [§auth.scheme]',
      ),
      'a clause at a row that is not there': ORDERS_CONTRACT.replace(
        '{ document: orders.md }',
        '{ document: orders.md, rows: { Endpoints: 1 } }',
      ).replace('place: { section: Limits', 'place: §{ section: Limits'),
      'a clause without a place, where rows are counted': clause(
        '§{ key: auth.scheme, standing: not-shown }',
      ).replace('{ document: orders.md }', '{ document: orders.md, rows: { Endpoints: 1, Limits: 1 } }'),
      'an unknown key of a clause': schemeClause('standing: not-shown, §valeu: API key'),
      'a contract under the name of another': ORDERS_CONTRACT.replace('contract: orders', 'contract: §bills'),
      'a contract without clauses': `${ORDERS_CONTRACT.split('clauses:')[0]}clauses: §[]\n`,
      'a contract that is no YAML': 'contract: orders\n§\ttitle: x\n',
    },
    (text) => ({ contract: text }),
  );
});

const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
for (const [last, name] of ['ab', 'bc', 'cd', 'de', 'ef'].map((pair) => [...pair])) {
  bomb.push(`${name}: &${name} [${Array(9).fill(`*${last}`).join(', ')}]`);
}

describe('what is refused of a file', () => {
  areRefused({
    'a flow mapping that is not closed': 'service: orders\nprovider: { url: x\n§contract: orders\n',
    'a quote that is not closed': "service: 'orders\ncontract: orders\n§",
    'a line that is no key': 'service: orders\n§contract\n',
    'a tab for indentation': 'service: orders\nplan:\n§\trequests: 5\n',
    'keys that do not line up': 'plan:\n    requests: 5\n§  window: 60s\n',
    'an unquoted reference inside braces': 'credentials: { key: $§{env:HUSH} }\n',
    'a value that begins with a reserved character': 'service: §@orders\n',
    'a second colon in a plain value': 'service: §orders: search\n',
    'a duplicate key': 'service: orders\ncontract: orders\n§service: search\n',
    'a duplicate key deep inside': 'plan:\n  requests: 5\n  §requests: 6\n',
    'a second document': 'service: orders\n§---\nservice: search\n',
    'a YAML tag': 'service: §!name orders\n',
    'a key that is a list': '? §[a]\n: b\n',
    'a key that would change what an object is': 'service: orders\n§__proto__: { polluted: true }\n',
    'an alias without an anchor': 'service: §*name\n',
    'an anchor that holds itself': 'service: &a [§*a]\n',
    'aliases that multiply (billion laughs)': `${bomb.join('\n').replace('e: &e [*d, *d', 'e: &e [*d, §*d')}\n`,
    'brackets nested without end': { service: '['.repeat(100_000), file: 'services/orders.yaml:1' },
    'an empty file': '§',
    'nothing but comments': '§# later\n',
    'a list at the top': '§- service: orders\n',
    'plain text': '§orders\n',
    'a number beyond all numbers': 'plan: { requests: §.inf }\n',
    'a file that is not UTF-8': {
      files: { 'services/orders.yaml': Buffer.from('service: orders\ncontract: b\xfccher\n', 'latin1') },
      file: 'services/orders.yaml:2:12',
    },
    'a file that is too large': { service: `# ${'x'.repeat(300 * 1024)}\n`, file: 'services/orders.yaml' },
    'a folder in the place of a file': {
      files: { 'services/orders.yml/x': '' },
      file: 'services/orders.yml',
    },
    'two files for one service': {
      files: { 'services/orders.yml': GOOD_SERVICE },
      file: 'services/orders.yml',
    },
    'a service under the name of another': GOOD_SERVICE.replace('orders', '§bills'),
  });
});

/** A text with some characters of it replaced. */
function garbled(text: string): fc.Arbitrary<string> {
  const junk = fc.oneof(
    fc.constantFrom(...'{}[]:\n\t -#\'"!|~0', ': ', '&a ', '*a', '${'),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  );
  const edit = fc.record({ at: fc.nat(text.length), cut: fc.nat(5), put: junk });
  return fc
    .array(edit, { minLength: 1, maxLength: 4 })
    .map((edits) =>
      edits.reduce((now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut), text),
    );
}

describe('a garbled file', () => {
  const blocks = `plan: { requests: 5, window: 1s }
websocket: { url: /ws, subprotocols: [a, b] }
operations:
  - { id: a, method: GET, path: /a }
environments:
  staging: { safety: { exceedRateLimit: false } }
  release: { extends: staging, plan: null }
`;
  it.each([
    ['service', GOOD_SERVICE + blocks, (text: string) => [text, ORDERS_CONTRACT] as const],
    ['contract', ORDERS_CONTRACT, (text: string) => [GOOD_SERVICE, text] as const],
  ] as const)('is a usage error or loads: %s', async (_what, text, files) => {
    const loadsOrIsRefused = async (changed: string) => {
      const [service, contract] = files(changed);
      const options = { environment: 'release' };
      await loadOrders(service, options, { 'contracts/orders.yaml': contract }).catch((error) =>
        expect(error).toBeInstanceOf(UsageError),
      );
    };
    await fc.assert(fc.asyncProperty(garbled(text), loadsOrIsRefused), { numRuns: 300 });
  });
});

const WRONG_ALL_OVER = {
  'contracts/orders.yaml': ORDERS_CONTRACT.replace('standing: stated', 'standing: state'),
  'services/bills.yaml': `service: bills
contract: bils
provider: { url: "\${env:BILLS_URL}" }
credentials: { scheme: bearer, key: "\${env:BILLS_KEY}", secondKey: "\${exec:touch was-run}" }
plan: { requests: 0, window: 60 }
websocket: { url: ws, orign: x, keepsIdle: 3h }
operations:
  - { id: a, method: GET, path: /a, fields: { Host: a } }
  - { id: a, method: GET, path: b }
environments: { staging: { safety: { maxRequest: 3 } } }
`,
  'services/orders.yaml': `${GOOD_SERVICE}timeouts: { connect: 1h }
pacts: { files: [../pacts] }
`,
  'services/stock.yaml': 'service: stock\n\tcontract: orders\n',
  'pacts/a.json': '{}',
  'pacts/b.json': '[',
};

it('all that is wrong in all files is told in one go, by file and line, with every variable that is not set', async () => {
  const configDir = temporaryFolder(WRONG_ALL_OVER);
  const error = await thrownBy(loadServices({ configDir, env: { PATH: process.env.PATH } }));
  if (!(error instanceof UsageErrors)) throw error;
  expect(error.exitCode).toBe(2);
  expect(error.faults.map(({ message }) => message.replaceAll(`${configDir}/`, '').split('\n')[0])).toEqual([
    'contracts/orders.yaml:6:15: clauses.0.standing: "state" is not known here',
    'pacts/a.json: is no pact: consumer.name is missing',
    'pacts/b.json:1:2: is not JSON',
    'services/bills.yaml:2:11: contract: there is no contract "bils"',
    'services/bills.yaml:3:18: provider.url: the environment variable BILLS_URL is not set',
    'services/bills.yaml:4:37: credentials.key: the environment variable BILLS_KEY is not set',
    'services/bills.yaml:5:19: plan.requests: must be at least 1',
    'services/bills.yaml:5:30: plan.window: must be text, not a number',
    'services/bills.yaml:6:19: websocket.url: is no WebSocket address',
    'services/bills.yaml:6:23: websocket.orign: unknown key',
    'services/bills.yaml:6:44: websocket.keepsIdle: is too long',
    'services/bills.yaml:9:33: operations.1.path: does not begin with /',
    'services/bills.yaml:10:38: environments.staging.safety.maxRequest: unknown key',
    'services/orders.yaml:5:22: timeouts.connect: is too long',
    'services/stock.yaml:2:1: a tab is used to indent',
  ]);
  // For a config that is wrong anyway no command is run.
  expect(existsSync(join(configDir, 'services/was-run'))).toBe(false);
  expect(error.message).toContain(`${error.faults.length} things are wrong\n\n`);
});
