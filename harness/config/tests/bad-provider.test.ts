import { describe, it } from 'vitest';
import { type BadConfig, expectFault } from '../fixtures/config-folder.ts';

/** The good service with another provider. */
const at = (provider: string) =>
  `service: orders\ncontract: orders\nprovider: ${provider}\ncredentials: { scheme: none }\n`;
const container = (more: string) => at(`{ container: { image: orders:1, port: 8080, ${more} } }`);
const companion = (more: string) => container(`companions: { cache: ${more} }`);
const command = (more: string) =>
  at(`{ command: { run: [./start], url: 'http://127.0.0.1:8080', ${more} } }`);
const ANY_PORT = '$' + '{PORT}';
const KEY = '$' + '{env:ORDERS_KEY}';
const env = { ORDERS_KEY: 'hush-key-for-tests', SHORT: 'hush' };

const KINDS: readonly BadConfig[] = [
  {
    what: 'a container and a url',
    service: at("§{ url: 'https://orders.example', container: { image: orders:1, port: 80 } }"),
    key: 'provider',
    problem: 'both a url and a container',
    remedy: 'keep one',
  },
  {
    what: 'defects of a container',
    service: at('{ container: { image: orders:1, port: 80 }, defects: §[always-200] }'),
    key: 'provider.defects',
    problem: 'belongs to a reference provider',
    remedy: 'remove',
  },
  {
    what: 'an image in place of a container',
    service: at('{ container: §orders:1 }'),
    key: 'provider.container',
    problem: 'must be a mapping, not text',
    remedy: '{ image: registry.example/search:1.4, port: 8080 }',
  },
  {
    what: 'a mistyped key of a container in an environment',
    service: at('{ reference: search }\nenvironments: { ci: { provider: { container: { §imgae: a } } } }'),
    key: 'environments.ci.provider.container.imgae',
    problem: 'unknown key',
    remedy: 'did you mean image?',
  },
];

const CONTAINERS: readonly BadConfig[] = [
  {
    what: 'a container without image',
    service: at('{ container: §{ port: 8080 } }'),
    key: 'provider.container',
    problem: 'neither image nor build',
    remedy: 'add `image:`',
  },
  {
    what: 'an image and a build',
    service: container('build: .').replace('{ image', '§{ image'),
    key: 'provider.container',
    problem: 'both an image and a build',
    remedy: 'set the other to null',
  },
  {
    what: 'an image whose name is none',
    service: at('{ container: { image: §"orders 1", port: 80 } }'),
    key: 'provider.container.image',
    problem: 'is not the name of an image',
    remedy: 'registry.example/search:1.4',
  },
  {
    what: 'no port',
    service: at('{ container: §{ image: orders:1 } }'),
    key: 'provider.container.port',
    problem: 'is missing',
    remedy: 'add `port:`',
  },
  {
    what: 'a port beyond all ports',
    service: at('{ container: { image: orders:1, port: §70000 } }'),
    key: 'provider.container.port',
    problem: 'must be at most 65535',
    remedy: 'a port, 1 to 65535',
  },
  {
    what: 'a base path without a slash',
    service: container('path: §api'),
    key: 'provider.container.path',
    problem: 'is not a base path',
    remedy: '/api',
  },
  {
    what: 'a folder to build from that is not there',
    service: at('{ container: { build: §../no-such-folder, port: 80 } }'),
    key: 'provider.container.build',
    problem: 'there is no folder',
    remedy: 'relative to this file',
  },
  {
    what: 'a folder without a Dockerfile',
    service: at('{ container: { build: §., port: 80 } }'),
    key: 'provider.container.build',
    problem: 'there is no file',
    remedy: 'name a file',
  },
  {
    what: 'a Dockerfile outside its folder',
    service: at('{ container: { build: { context: ., dockerfile: §../Dockerfile }, port: 80 } }'),
    key: 'provider.container.build.dockerfile',
    problem: 'is not below the folder',
    remedy: 'move it there',
  },
  {
    what: 'a build without a folder',
    service: at('{ container: { build: §{ target: test }, port: 80 } }'),
    key: 'provider.container.build.context',
    problem: 'is missing',
    remedy: 'name the folder',
  },
  {
    what: 'a variable whose name holds a =',
    service: container('env: { §"A=B": c }'),
    key: 'provider.container.env.A=B',
    problem: 'is not the name of an environment variable',
    remedy: 'write the name of an environment variable',
  },
  {
    what: 'a variable with a list',
    service: container('env: { A: §[1] }'),
    key: 'provider.container.env.A',
    problem: 'must be text or a whole number or true or false or null, not a list',
    remedy: 'text',
  },
  {
    what: 'a variable that is read from one that is not set',
    service: container(`env: { A: §"\${env:NOWHERE}" }`),
    key: 'provider.container.env.A',
    problem: 'NOWHERE is not set',
    remedy: 'export NOWHERE',
  },
  {
    what: 'a secret too short to be kept out of reports',
    service: container(`secrets: { /run/key: §"\${env:SHORT}" }`),
    options: { env },
    key: 'provider.container.secrets./run/key',
    problem: 'shorter than 8 characters',
    remedy: 'use a longer one',
  },
  {
    what: 'a secret too long to be searched for',
    service: container(`secrets: { /run/key: §"\${file:long.txt}" }`),
    files: { 'services/long.txt': 'hush'.repeat(5_000) },
    key: 'provider.container.secrets./run/key',
    problem: 'longer than 16384 characters',
    remedy: 'files:',
  },
  {
    what: 'a secret at a relative path',
    service: container(`secrets: { §run/key: "${KEY}" }`),
    options: { env },
    key: 'provider.container.secrets.run/key',
    problem: 'is not an absolute path in the container',
    remedy: '/run/secrets/api-key',
  },
  {
    what: 'a secret at a path with dots',
    service: container(`secrets: { /run/../key: §"${KEY}" }`),
    options: { env },
    key: 'provider.container.secrets./run/../key',
    problem: 'is not a plain path',
    remedy: 'without . and ..',
  },
  {
    what: 'a file that is not there',
    service: container('files: { /etc/orders.json: §orders.json }'),
    key: 'provider.container.files./etc/orders.json',
    problem: 'there is no file',
    remedy: 'relative to this file',
  },
  {
    what: 'a file that is a folder',
    service: container('files: { /etc/orders: §. }'),
    key: 'provider.container.files./etc/orders',
    problem: 'is no file',
    remedy: 'name a file',
  },
  {
    what: 'a command as one text',
    service: container('command: §serve --verbose'),
    key: 'provider.container.command',
    problem: 'must be a list or null, not text',
    remedy: '[serve, --verbose]',
  },
  {
    what: 'memory without a unit',
    service: container('limits: { memory: §"512" }'),
    key: 'provider.container.limits.memory',
    problem: 'has the wrong form',
    remedy: '512m or 2g',
  },
  {
    what: 'memory in which nothing runs',
    service: container('limits: { memory: §1m }'),
    key: 'provider.container.limits.memory',
    problem: 'less than any container needs',
    remedy: '6m',
  },
  {
    what: 'no processor',
    service: container('limits: { cpus: §0 }'),
    key: 'provider.container.limits.cpus',
    problem: 'must be at least 0.01',
    remedy: '1 or 0.5',
  },
  {
    what: 'a capability in small letters',
    service: container('capabilities: [§chown]'),
    key: 'provider.container.capabilities.0',
    problem: 'has the wrong form',
    remedy: 'CHOWN',
  },
  {
    what: 'all capabilities',
    service: container('capabilities: §[ALL]'),
    key: 'provider.container.capabilities',
    problem: 'names all of them',
    remedy: 'list those that are needed',
  },
  {
    what: 'a time-out of hours',
    service: container('timeout: §2h'),
    key: 'provider.container.timeout',
    problem: 'is too long',
    remedy: '10m',
  },
  {
    what: 'an alias that a companion has',
    service: container('aliases: [§cache], companions: { cache: { image: redis:8 } }'),
    key: 'provider.container.aliases.0',
    problem: 'is the name of a companion',
    remedy: 'another',
  },
  {
    what: 'a companion whose name is no host name',
    service: container('companions: { §"My cache": { image: redis:8 } }'),
    key: 'provider.container.companions.My cache',
    problem: 'is not a name of lower-case letters',
    remedy: 'lower-case',
  },
  {
    what: 'a companion of a companion',
    service: companion('{ image: redis:8, §companions: {} }'),
    key: 'provider.container.companions.cache.companions',
    problem: 'unknown key',
    remedy: 'one of: image',
  },
  {
    what: 'a companion without image',
    service: companion('§{}'),
    key: 'provider.container.companions.cache',
    problem: 'neither image nor build',
    remedy: 'add `image:`',
  },
  {
    what: 'a companion that is ready by http, on no port',
    service: companion('§{ image: redis:8, ready: { http: / } }'),
    key: 'provider.container.companions.cache.port',
    problem: 'is missing',
    remedy: 'needs `port:`',
  },
];

const READINESS: readonly BadConfig[] = [
  {
    what: 'readiness by nothing',
    service: container('ready: §{}'),
    key: 'provider.container.ready',
    problem: 'neither http nor log nor health',
    remedy: 'http: /healthz',
  },
  {
    what: 'readiness by two things',
    service: container('ready: §{ http: /healthz, log: listening }'),
    key: 'provider.container.ready',
    problem: 'names http and log',
    remedy: 'keep one',
  },
  {
    what: 'readiness by a URL',
    service: container("ready: { http: §'http://orders/healthz' }"),
    key: 'provider.container.ready.http',
    problem: 'is not a path',
    remedy: '/healthz',
  },
  {
    what: 'a status of a log',
    service: container('ready: { log: listening, status: §200 }'),
    key: 'provider.container.ready.status',
    problem: 'belongs to http',
    remedy: 'remove',
  },
  {
    what: 'times of a path',
    service: container('ready: { http: /, times: §2 }'),
    key: 'provider.container.ready.times',
    problem: 'belongs to log',
    remedy: 'remove',
  },
  {
    what: 'a health check of a command',
    service: command('ready: { health: §true }'),
    key: 'provider.command.ready.health',
    problem: 'belongs to a container',
    remedy: 'http',
  },
  {
    what: 'no health check',
    service: container('ready: { health: §false }'),
    key: 'provider.container.ready.health',
    problem: 'must be equal to constant',
    remedy: 'write true',
  },
];

const COMMANDS: readonly BadConfig[] = [
  {
    what: 'a command that runs nothing',
    service: at("{ command: §{ url: 'http://127.0.0.1:80' } }"),
    key: 'provider.command.run',
    problem: 'is missing',
    remedy: '[node, server.js]',
  },
  {
    what: 'a command without a program',
    service: at("{ command: { run: §['', a], url: 'http://127.0.0.1:80' } }"),
    key: 'provider.command.run',
    problem: 'names no program',
    remedy: '[node, server.js]',
  },
  {
    what: 'a command that is nowhere',
    service: at('{ command: §{ run: ./start } }'),
    key: 'provider.command.url',
    problem: 'is missing',
    remedy: `http://127.0.0.1:${ANY_PORT}`,
  },
  {
    what: 'a command at an address that is none',
    service: at('{ command: { run: ./start, url: §localhost } }'),
    key: 'provider.command.url',
    problem: 'is not a URL',
    remedy: 'https://',
  },
  {
    what: 'a port where none goes',
    service: at(`{ command: { run: ./start, url: §'http://127.0.0.1/${ANY_PORT}' } }`),
    key: 'provider.command.url',
    problem: 'does not stand where the port goes',
    remedy: `http://127.0.0.1:${ANY_PORT}`,
  },
  {
    what: 'a secret on the command line',
    service: at(`{ command: { run: [./start, §"--key=${KEY}"], url: 'http://127.0.0.1:80' } }`),
    options: { env },
    key: 'provider.command.run.1',
    problem: 'in the list of processes',
    remedy: 'env:',
  },
  {
    what: 'a secret in a line for the shell',
    service: at(`{ command: { run: §"./start ${KEY}", url: 'http://127.0.0.1:80' } }`),
    options: { env },
    key: 'provider.command.run',
    problem: 'in the list of processes',
    remedy: 'env:',
  },
  {
    what: 'a port that is only on the command line',
    service: at(`{ command: { run: [./start, §"${ANY_PORT}"], url: 'http://127.0.0.1:80' } }`),
    key: 'provider.command.run.1',
    problem: 'no port is chosen',
    remedy: 'in both',
  },
  {
    what: 'a folder to run in that is not there',
    service: command('cwd: §no-such-folder'),
    key: 'provider.command.cwd',
    problem: 'there is no folder',
    remedy: 'relative to this file',
  },
];

describe('a provider that cannot be started', () => {
  it.each([...KINDS, ...CONTAINERS, ...READINESS, ...COMMANDS])('is refused: $what', expectFault);
});
