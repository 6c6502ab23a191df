import { describe, it } from 'vitest';
import { type BadConfig, expectFault, GOOD_SERVICE } from '../fixtures/config-folder.ts';

const INTERACTION = {
  description: 'a list',
  request: { method: 'GET', path: '/orders' },
  response: { status: 200 },
};

function pact(change: object = {}): string {
  const whole = { consumer: { name: 'web' }, provider: { name: 'orders' }, interactions: [INTERACTION] };
  return JSON.stringify({ ...whole, ...change });
}

const withPacts = (block: string) => `${GOOD_SERVICE}pacts: ${block}\n`;
const GOOD = { 'pacts/web.json': pact() };

const BAD: readonly BadConfig[] = [
  {
    what: 'a block that names nothing, where nothing lies',
    service: withPacts('§{ provider: orders }'),
    key: 'pacts',
    problem: 'names neither files nor a broker',
    remedy: 'conform pact write',
  },
  {
    what: 'an empty list of files',
    service: withPacts('{ files: §[] }'),
    key: 'pacts.files',
    problem: 'is empty',
    remedy: 'name a file',
  },
  {
    what: 'a file that is not there',
    service: withPacts('{ files: [§../pacts/none.json] }'),
    key: 'pacts.files.0',
    problem: 'there is no such file or folder',
    remedy: 'correct the path',
  },
  {
    what: 'a folder without a pact',
    service: withPacts('{ files: [§../empty] }'),
    files: { 'empty/notes.txt': 'no pact' },
    key: 'pacts.files.0',
    problem: 'no pact is in this folder or below it',
    remedy: '.json',
  },
  {
    what: 'the same file twice',
    service: withPacts('{ files: [../pacts, §../pacts] }'),
    files: GOOD,
    key: 'pacts.files.1',
    problem: 'for the second time',
    remedy: 'once',
  },
  {
    what: 'a pact that is no JSON',
    service: withPacts('{ files: [../pacts] }'),
    files: { 'pacts/web.json': '{\n  "consumer": }' },
    file: 'pacts/web.json:2:15',
    problem: 'is not JSON',
    remedy: 'take it away',
  },
  {
    what: 'a JSON file that is no pact',
    service: withPacts('{ files: [../pacts] }'),
    files: { 'pacts/package.json': '{ "name": "web" }' },
    file: 'pacts/package.json',
    problem: 'consumer.name is missing',
    remedy: 'take it away',
  },
  {
    what: 'a pact that is not UTF-8',
    service: withPacts('{ files: [../pacts] }'),
    files: { 'pacts/web.json': Buffer.from('{"a":"\xe9"}', 'latin1') },
    file: 'pacts/web.json:1:7',
    problem: 'is not UTF-8',
    remedy: 'UTF-8',
  },
  {
    what: 'a pact without interactions',
    service: withPacts('{ files: [../pacts] }'),
    files: { 'pacts/web.json': pact({ interactions: [] }) },
    file: 'pacts/web.json',
    problem: 'holds no interaction',
    remedy: 'write it again',
  },
  {
    what: 'pacts of other providers alone',
    service: withPacts('{ files: [§../pacts] }'),
    files: {
      'pacts/a.json': pact({ provider: { name: 'stock' } }),
      'pacts/b/c.json': pact({ provider: { name: 'mail' } }),
    },
    key: 'pacts.files.0',
    problem: 'no pact here is for the provider "orders", only for "stock", "mail"',
    remedy: 'pacts.provider',
  },
  {
    what: 'a pact whose provider is misspelt, among good ones',
    service: withPacts('{ files: [§../pacts] }'),
    files: { ...GOOD, 'pacts/x.json': pact({ provider: { name: 'Order-s' } }) },
    key: 'pacts.files.0',
    problem: 'x.json is for the provider "Order-s", not "orders"',
    remedy: 'pacts.provider',
  },
  {
    what: 'a pact whose provider has one letter too few',
    service: withPacts('{ files: [§../pacts/x.json] }'),
    files: { 'pacts/x.json': pact({ provider: { name: 'order' } }) },
    key: 'pacts.files.0',
    problem: 'is for the provider "order"',
    remedy: 'pacts.provider',
  },
  {
    what: 'a URL with a password',
    service: withPacts('{ files: [§"https://me:hush@ci.example/a.json"] }'),
    key: 'pacts.files.0',
    problem: 'holds a user name or password',
    remedy: 'broker',
  },
  {
    what: 'a key of the block that is not known',
    service: withPacts('{ §file: [../pacts] }'),
    key: 'pacts.file',
    problem: 'unknown key',
    remedy: 'files',
  },
  {
    what: 'a broker without an address',
    service: withPacts('{ broker: §{ branch: main } }'),
    key: 'pacts.broker.url',
    problem: 'is missing',
    remedy: 'url',
  },
  {
    what: 'a broker whose address is none',
    service: withPacts('{ broker: { url: §broker.example } }'),
    key: 'pacts.broker.url',
    problem: 'is not a URL',
    remedy: 'absolute',
  },
  {
    what: 'a token in the file itself',
    service: withPacts('{ broker: { url: "https://broker.example", token: §hush-hush-hush } }'),
    key: 'pacts.broker.token',
    problem: 'a secret stands in the file itself',
    remedy: 'env',
  },
  {
    what: 'a token and a user',
    service: withPacts(`{ broker: §{ url: "https://broker.example", token: "\${env:T}", username: me } }`),
    options: { env: { T: 'hush-hush-hush' } },
    key: 'pacts.broker',
    problem: 'names both a token and a user',
    remedy: 'keep one',
  },
  {
    what: 'a user without a password',
    service: withPacts('{ broker: §{ url: "https://broker.example", username: me } }'),
    key: 'pacts.broker.password',
    problem: 'is missing',
    remedy: 'password',
  },
  {
    what: 'pending pacts without a branch',
    service: withPacts('{ broker: { url: "https://broker.example", pending: §true } }'),
    key: 'pacts.broker.pending',
    problem: 'needs the branch',
    remedy: 'branch',
  },
  {
    what: 'work in progress without pending pacts',
    service: withPacts('{ broker: { url: "https://broker.example", wipSince: §"2026-01-01" } }'),
    key: 'pacts.broker.wipSince',
    problem: 'is for pending pacts',
    remedy: 'pending',
  },
  {
    what: 'a selector that is not known',
    service: withPacts('{ broker: { url: "https://broker.example", selectors: [{ §mainbranch: true }] } }'),
    key: 'pacts.broker.selectors.0.mainbranch',
    problem: 'unknown key',
    remedy: 'mainBranch',
  },
  {
    what: 'a matching branch without a branch',
    service: withPacts(
      '{ broker: { url: "https://broker.example", selectors: [{ matchingBranch: §true }] } }',
    ),
    key: 'pacts.broker.selectors.0.matchingBranch',
    problem: 'needs the branch',
    remedy: 'branch',
  },
  {
    what: 'two ways to set up states',
    service: withPacts('{ files: [../pacts], states: §{ url: /_states, command: ./set } }'),
    files: GOOD,
    key: 'pacts.states',
    problem: 'names both a url and a command',
    remedy: 'keep one',
  },
  {
    what: 'an address of states that is none',
    service: withPacts('{ files: [../pacts], states: { url: §states } }'),
    files: GOOD,
    key: 'pacts.states.url',
    problem: 'is neither a path nor a URL',
    remedy: '/_states',
  },
];

describe('pacts in a service config', () => {
  it.each(BAD)('cannot be $what', expectFault);
});
