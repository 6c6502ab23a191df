import { describe, it } from 'vitest';
import { type BadConfig, expectFault } from '../fixtures/config-folder.ts';

const AWAY = "service: orders\ncontract: orders\nprovider: { url: 'https://orders.example' }\n";

const away = (credentials: string) => `${AWAY}credentials: ${credentials}\n`;

const key = (reference: string) => `{ scheme: bearer, key: §${reference} }`;

const SECRETS: readonly BadConfig[] = [
  {
    what: 'a literal key for a service elsewhere',
    service: away(key('hush-hush-hush')),
    key: 'credentials.key',
    problem: 'stands in the file itself',
    remedy: `\${env:NAME}`,
  },
  {
    what: 'a literal around a reference',
    service: away(key(`"hush-\${env:PATH}"`)),
    key: 'credentials.key',
    problem: 'stands in the file itself',
    remedy: `\${env:NAME}`,
  },
  {
    what: 'a literal default for a service elsewhere',
    service: away(key(`"\${env:ORDERS_KEY:-hush-hush-hush}"`)),
    key: 'credentials.key',
    problem: 'ORDERS_KEY is not set, and its default is only for reference providers',
    remedy: 'export ORDERS_KEY',
  },
  {
    what: 'an empty default for a key that is needed',
    service: away(key(`"\${env:ORDERS_KEY:-}"`)),
    key: 'credentials.key',
    problem: 'the default is empty',
    remedy: `\${env:NAME}`,
  },
  {
    what: 'a variable that is not set',
    service: away(key(`"\${env:ORDERS_KEY}"`)),
    options: { env: { ORDER_KEY: 'hush-hush-hush' } },
    key: 'credentials.key',
    problem: 'the environment variable ORDERS_KEY is not set',
    remedy: 'ORDER_KEY is set',
  },
  {
    what: 'a variable that is empty',
    service: away(key(`"\${env:EMPTY_KEY}"`)),
    options: { env: { EMPTY_KEY: '' } },
    key: 'credentials.key',
    problem: 'EMPTY_KEY is empty',
    remedy: 'export EMPTY_KEY',
  },
  {
    what: 'an unknown kind of reference',
    service: away(key(`"\${envv:ORDERS_KEY}"`)),
    key: 'credentials.key',
    problem: 'unknown kind',
    remedy: `\${env:`,
  },
  {
    what: 'a reference that is not closed',
    service: away(key(`"\${env:ORDERS_KEY"`)),
    key: 'credentials.key',
    problem: 'not closed',
    remedy: 'end it with }',
  },
  {
    what: 'a reference to nothing',
    service: away(key(`"\${file:}"`)),
    key: 'credentials.key',
    problem: 'names nothing',
    remedy: `\${file:`,
  },
  {
    what: 'a variable name that is none',
    service: away(key(`"\${env:ORDERS-KEY}"`)),
    key: 'credentials.key',
    problem: 'name of an environment variable',
    remedy: `\${env:NAME}`,
  },
  {
    what: 'a reference inside a default',
    service: away(key(`"\${env:A:-\${env:B}}"`)),
    key: 'credentials.key',
    problem: 'a default cannot hold another reference',
    remedy: 'plain text',
  },
  {
    what: 'a file that is not there',
    service: away(key(`"\${file:../keys/orders.txt}"`)),
    key: 'credentials.key',
    problem: 'the file ../keys/orders.txt: there is no such file',
    remedy: 'correct the path',
  },
  {
    what: 'a folder for a file',
    service: away(key(`"\${file:..}"`)),
    key: 'credentials.key',
    problem: 'is a folder',
    remedy: 'name a file',
  },
  {
    what: 'a device for a file',
    service: away(key(`"\${file:/dev/zero}"`)),
    key: 'credentials.key',
    problem: 'is not a regular file',
    remedy: 'name a file',
  },
  {
    what: 'an empty file',
    service: away(key(`"\${file:key.txt}"`)),
    files: { 'services/key.txt': '\n' },
    key: 'credentials.key',
    problem: 'the file key.txt is empty',
    remedy: 'write the value',
  },
  {
    what: 'a file of several lines',
    service: away(key(`"\${file:key.txt}"`)),
    files: { 'services/key.txt': 'hush-hush\nhush-hush\n' },
    key: 'credentials.key',
    problem: 'holds a line break',
    remedy: 'more than the secret',
  },
  {
    what: 'a command that fails, and says why on stderr',
    service: away(key(`"\${exec:echo hush-hush; echo hush >&2; exit 3}"`)),
    key: 'credentials.key',
    problem: 'exited with 3',
    remedy: 'run it by hand',
  },
  {
    what: 'a command that is not there',
    service: away(key(`"\${exec:no-such-command-hush}"`)),
    key: 'credentials.key',
    problem: 'exited with 127',
    remedy: 'run it by hand',
  },
  {
    what: 'a command that hangs, with a child that hangs',
    service: away(key(`"\${exec:sleep 60 | cat; sleep 60}"`)),
    options: { execTimeoutMs: 150 },
    key: 'credentials.key',
    problem: 'did not finish within 0.15 s',
    remedy: 'run it by hand',
  },
  {
    what: 'a command that prints without end',
    service: away(key(`"\${exec:cat /dev/zero}"`)),
    key: 'credentials.key',
    problem: 'printed more than 64 KiB',
    remedy: 'nothing else',
  },
  {
    what: 'a command that prints nothing',
    service: away(key(`"\${exec:true}"`)),
    key: 'credentials.key',
    problem: 'printed nothing',
    remedy: 'run it by hand',
  },
  {
    what: 'a command that prints no text',
    service: away(key(`"\${exec:printf '\\\\377\\\\376'}"`)),
    key: 'credentials.key',
    problem: 'not UTF-8',
    remedy: 'run it by hand',
  },
  {
    what: 'a short key',
    service: away(key(`"\${env:SHORT}"`)),
    options: { env: { SHORT: 'hush' } },
    key: 'credentials.key',
    problem: 'shorter than 8 characters',
    remedy: 'kept out of reports',
  },
  {
    what: 'a key that is a word of HTTP',
    service: away(key(`"\${env:WORD}"`)),
    options: { env: { WORD: 'Application' } },
    key: 'credentials.key',
    problem: 'a word that every exchange holds',
    remedy: 'kept out of reports',
  },
  ...[
    { what: 'a key with a control character', value: 'hush\u0007hush', problem: 'control character' },
    { what: 'a key beyond latin-1', value: 'hush-hush-\u20ac', problem: 'beyond latin-1' },
    { what: 'a key with a space at its end', value: 'hush-hush ', problem: 'white space' },
  ].map(({ what, value, problem }) => ({
    what,
    service: away(key(`"\${env:SPOILT}"`)),
    options: { env: { SPOILT: value } },
    key: 'credentials.key',
    problem,
    remedy: 'no header field can carry it',
  })),
  {
    what: 'an unset variable in an address',
    service: `service: orders\ncontract: orders\nprovider: { url: §"\${env:ORDERS_URL}" }\ncredentials: { scheme: none }\n`,
    key: 'provider.url',
    problem: 'ORDERS_URL is not set',
    remedy: 'export ORDERS_URL',
  },
  {
    what: 'a number for a key',
    service: away('{ scheme: bearer, key: §12345678 }'),
    key: 'credentials.key',
    problem: 'must be text, not a number',
    remedy: `\${env:NAME}`,
  },
];

describe('a secret that cannot be read or used', () => {
  it.each(SECRETS)('is refused: $what', expectFault);
});
