import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../exit.ts';
import {
  type BadConfig,
  expectFault,
  GOOD_SERVICE,
  loadOrders,
  ORDERS_CONTRACT,
} from '../fixtures/config-folder.ts';

const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
for (const [last, name] of ['ab', 'bc', 'cd', 'de', 'ef'].map((pair) => [...pair])) {
  bomb.push(`${name}: &${name} [${Array(9).fill(`*${last}`).join(', ')}]`);
}

const FILES: readonly BadConfig[] = [
  {
    what: 'a flow mapping that is not closed',
    service: 'service: orders\nprovider: { url: x\n§contract: orders\n',
    problem: 'the indentation does not fit the block',
    remedy: 'same number of spaces',
  },
  {
    what: 'a quote that is not closed',
    service: "service: 'orders\ncontract: orders\n§",
    problem: 'a closing quote, bracket or ":" is missing',
    remedy: 'close what was opened',
  },
  {
    what: 'a line that is no key',
    service: 'service: orders\n§contract\n',
    problem: 'or ":" is missing',
    remedy: 'close what was opened',
  },
  {
    what: 'a tab for indentation',
    service: 'service: orders\nplan:\n§\trequests: 5\n',
    problem: 'a tab is used to indent',
    remedy: 'spaces',
  },
  {
    what: 'keys that do not line up',
    service: 'plan:\n    requests: 5\n§  window: 60s\n',
    problem: 'the indentation does not fit the block',
    remedy: 'same number of spaces',
  },
  {
    what: 'an unquoted reference inside braces',
    service: 'credentials: { key: $§{env:HUSH} }\n',
    problem: 'this does not fit here',
    remedy: `"\${env:NAME}"`,
  },
  {
    what: 'a value that begins with a reserved character',
    service: 'service: §@orders\n',
    problem: 'cannot begin with this character',
    remedy: 'quotes',
  },
  {
    what: 'a second colon in a plain value',
    service: 'service: §orders: search\n',
    problem: 'a second ": "',
    remedy: 'quotes',
  },
  {
    what: 'a duplicate key',
    service: 'service: orders\ncontract: orders\n§service: search\n',
    key: 'service',
    problem: 'for the second time',
    remedy: 'keep one',
  },
  {
    what: 'a duplicate key deep inside',
    service: 'plan:\n  requests: 5\n  §requests: 6\n',
    key: 'plan.requests',
    problem: 'for the second time',
    remedy: 'keep one',
  },
  {
    what: 'a second document',
    service: 'service: orders\n§---\nservice: search\n',
    problem: 'a second YAML document',
    remedy: 'remove `---`',
  },
  {
    what: 'a YAML tag',
    service: 'service: §!name orders\n',
    problem: 'tags are not understood',
    remedy: 'remove',
  },
  {
    what: 'a key that is a list',
    service: '? §[a]\n: b\n',
    problem: 'a key must be plain text',
    remedy: 'key: value',
  },
  {
    what: 'a key that would change what an object is',
    service: 'service: orders\n§__proto__: { polluted: true }\n',
    problem: 'this cannot be a key',
    remedy: 'key: value',
  },
  {
    what: 'an alias without an anchor',
    service: 'service: §*name\n',
    key: 'service',
    problem: 'the alias points at no anchor',
    remedy: 'set the anchor first',
  },
  {
    what: 'an anchor that holds itself',
    service: 'service: &a [§*a]\n',
    key: 'service.0',
    problem: 'nested too deeply',
    remedy: 'a few levels deep',
  },
  {
    what: 'aliases that multiply (billion laughs)',
    service: `${bomb.join('\n').replace('e: &e [*d, *d', 'e: &e [*d, §*d')}\n`,
    key: 'e.1',
    problem: 'more than a config can hold',
    remedy: 'alias less',
  },
  {
    what: 'brackets nested without end',
    service: '['.repeat(100_000),
    file: 'services/orders.yaml:1',
    problem: 'nested too deeply',
    remedy: 'a few levels deep',
  },
  { what: 'an empty file', service: '§', problem: 'the file is empty', remedy: 'conform init' },
  {
    what: 'nothing but comments',
    service: '§# later\n',
    problem: 'the file is empty',
    remedy: 'conform init',
  },
  {
    what: 'a list at the top',
    service: '§- service: orders\n',
    problem: 'must hold keys and values',
    remedy: 'key: value',
  },
  { what: 'plain text', service: '§orders\n', problem: 'must hold keys and values', remedy: 'key: value' },
  {
    what: 'a number beyond all numbers',
    service: 'plan: { requests: §.inf }\n',
    key: 'plan.requests',
    problem: 'neither text nor a finite number',
    remedy: 'plain value',
  },
  {
    what: 'a file that is not UTF-8',
    files: { 'services/orders.yaml': Buffer.from('service: orders\ncontract: b\xfccher\n', 'latin1') },
    file: 'services/orders.yaml:2:12',
    problem: 'is not UTF-8',
    remedy: 'save the file as UTF-8',
  },
  {
    what: 'a file that is too large',
    service: `# ${'x'.repeat(300 * 1024)}\n`,
    file: 'services/orders.yaml',
    problem: 'larger than 256 KiB',
    remedy: 'split it',
  },
  {
    what: 'a folder in the place of a file',
    files: { 'services/orders.yml/x': '' },
    file: 'services/orders.yml',
    problem: 'is described by',
    remedy: 'keep one',
  },
  {
    what: 'two files for one service',
    files: { 'services/orders.yml': GOOD_SERVICE },
    file: 'services/orders.yml',
    problem: 'is described by',
    remedy: 'keep one',
  },
  {
    what: 'a service under the name of another',
    service: GOOD_SERVICE.replace('orders', '§bills'),
    key: 'service',
    problem: 'is not the name of this file',
    remedy: 'name it orders',
  },
];

describe('a config file that cannot be read as one', () => {
  it.each(FILES)('is refused: $what', expectFault);
});

/** A text with some characters of it replaced. */
function garbled(text: string): fc.Arbitrary<string> {
  const junk = fc.oneof(
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ': ',
      '\n',
      '\t',
      ' ',
      '-',
      '#',
      "'",
      '"',
      '&a ',
      '*a',
      '!',
      '|',
      '${',
      '~',
      '0',
    ),
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
  const loadsOrIsRefused = async (service: string, contract: string) => {
    const error: unknown = await loadOrders(
      service,
      { environment: 'release' },
      { 'contracts/orders.yaml': contract },
    ).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error !== null) expect(error).toBeInstanceOf(UsageError);
  };

  it('is a usage error or loads: service', async () => {
    const services = garbled(GOOD_SERVICE + blocks);
    await fc.assert(
      fc.asyncProperty(services, (text) => loadsOrIsRefused(text, ORDERS_CONTRACT)),
      { numRuns: 300 },
    );
  });

  it('is a usage error or loads: contract', async () => {
    const contracts = garbled(ORDERS_CONTRACT);
    await fc.assert(
      fc.asyncProperty(contracts, (text) => loadsOrIsRefused(GOOD_SERVICE, text)),
      { numRuns: 300 },
    );
  });
});
