import { describe, it } from 'vitest';
import { type BadConfig, expectFault, GOOD_SERVICE } from '../fixtures/config-folder.ts';

const NAMES = 'service: orders\ncontract: orders\n';
const AT = "provider: { url: 'https://orders.example' }\n";
const OPEN = 'credentials: { scheme: none }\n';

/** The good service with one more block. */
const and = (block: string) => GOOD_SERVICE + block;
/** The good service with another provider. */
const at = (provider: string) => `${NAMES}provider: ${provider}\n${OPEN}`;

const KEYS: readonly BadConfig[] = [
  {
    what: 'a mistyped key at the top',
    service: `§servce: orders\ncontract: orders\n${AT}${OPEN}`,
    key: 'servce',
    problem: 'unknown key',
    remedy: 'did you mean service?',
  },
  {
    what: 'a mistyped key of the provider',
    service: at("{ §ulr: 'https://orders.example' }"),
    key: 'provider.ulr',
    problem: 'unknown key',
    remedy: 'did you mean url?',
  },
  {
    what: 'a mistyped key three levels deep',
    service: and('operations:\n  - { id: a, method: GET, path: /a, response: { §staus: 200 } }\n'),
    key: 'operations.0.response.staus',
    problem: 'unknown key',
    remedy: 'did you mean status?',
  },
  {
    what: 'a mistyped key in an environment that is not chosen',
    service: and('environments:\n  staging:\n    safety: { §exceedRateLimits: true }\n'),
    key: 'environments.staging.safety.exceedRateLimits',
    problem: 'unknown key',
    remedy: 'did you mean exceedRateLimit?',
  },
  {
    what: 'an environment inside an environment',
    service: and('environments: { staging: { §environments: {} } }\n'),
    key: 'environments.staging.environments',
    problem: 'unknown key',
    remedy: 'one of: extends',
  },
  {
    what: 'no service name',
    service: `§contract: orders\n${AT}${OPEN}`,
    key: 'service',
    problem: 'is missing',
    remedy: 'add `service:`',
  },
  {
    what: 'a service name that is a path',
    service: GOOD_SERVICE.replace('service: orders', 'service: §../orders'),
    key: 'service',
    problem: 'has the wrong form',
    remedy: 'lower-case letters',
  },
  {
    what: 'a number for a name',
    service: GOOD_SERVICE.replace('contract: orders', 'contract: §7'),
    key: 'contract',
    problem: 'must be text, not a number',
    remedy: 'a name of lower-case letters',
  },
  {
    what: 'a text for a mapping',
    service: at('§https://orders.example'),
    key: 'provider',
    problem: 'must be a mapping, not text',
    remedy: '{ url: "https://api.example" }',
  },
  {
    what: 'a text for true or false',
    service: and('safety: { unsafeMethods: §"yes" }\n'),
    key: 'safety.unsafeMethods',
    problem: 'must be true or false, not text',
    remedy: 'true or false',
  },
  {
    what: 'a key with nothing behind it',
    service: and('plan:§\n'),
    file: 'services/orders.yaml:5:6',
    key: 'plan',
    problem: 'is empty',
    remedy: 'remove the key',
  },
];

const PROVIDERS: readonly BadConfig[] = [
  {
    what: 'no provider',
    service: `§${NAMES}${OPEN}`,
    key: 'provider',
    problem: 'is missing',
    remedy: 'add `provider:',
  },
  {
    what: 'an empty provider',
    service: at('§{}'),
    key: 'provider',
    problem: 'neither',
    remedy: 'add `url:`',
  },
  {
    what: 'two kinds of provider',
    service: at("§{ reference: search, url: 'https://orders.example' }"),
    key: 'provider',
    problem: 'both',
    remedy: 'keep one',
  },
  {
    what: 'an unknown reference provider',
    service: at('{ reference: §serch }'),
    key: 'provider.reference',
    problem: '"serch" is not known',
    remedy: 'did you mean search?',
  },
  {
    what: 'defects of a real service',
    service: at("{ url: 'https://orders.example', defects: §[always-200] }"),
    key: 'provider.defects',
    problem: 'belongs to a reference provider',
    remedy: 'remove',
  },
  {
    what: 'an address that is none',
    service: at('{ url: §orders }'),
    key: 'provider.url',
    problem: 'is not a URL',
    remedy: 'https://',
  },
  {
    what: 'an impossible port',
    service: at("{ url: §'http://a:99999' }"),
    key: 'provider.url',
    problem: 'is not a URL',
    remedy: 'https://',
  },
  {
    what: 'another protocol',
    service: at("{ url: §'ftp://a/b' }"),
    key: 'provider.url',
    problem: 'ftp:',
    remedy: 'https://',
  },
  {
    what: 'an address with a password',
    service: at("{ url: §'https://me:hush-hush@orders.example' }"),
    key: 'provider.url',
    problem: 'user name or password',
    remedy: 'credentials',
  },
  {
    what: 'an address with a query',
    service: at("{ url: §'https://orders.example/?key=hush' }"),
    key: 'provider.url',
    problem: 'query',
    remedy: 'leave it out',
  },
  {
    what: 'an address with a fragment',
    service: at("{ url: §'https://orders.example/#a' }"),
    key: 'provider.url',
    problem: 'fragment',
    remedy: 'leave it out',
  },
  {
    what: 'a bad address on the command line',
    options: { providerUrl: 'orders' },
    key: 'provider.url',
    problem: '--provider-url: is not a URL',
    remedy: 'https://',
  },
  {
    what: 'an address on the command line for several services',
    files: { 'services/bills.yaml': GOOD_SERVICE.replace('service: orders', 'service: bills') },
    options: { providerUrl: 'https://orders.example' },
    problem: 'for one service, not for 2',
    remedy: 'bills, orders',
  },
];

const CHOICES: readonly BadConfig[] = [
  {
    what: 'an unknown service',
    options: { services: ['order'] },
    problem: 'there is no service "order"',
    remedy: 'did you mean orders?',
  },
  {
    what: 'an unknown environment',
    service: and('environments: §{ staging: {}, release: {} }\n'),
    options: { environment: 'stagging' },
    key: 'environments',
    problem: 'has no environment "stagging"',
    remedy: 'did you mean staging? It is one of: staging, release',
  },
  {
    what: 'an environment where there is none',
    service: `§${GOOD_SERVICE}`,
    options: { environment: 'staging' },
    key: 'environments',
    problem: 'has no environment "staging"',
    remedy: 'add one under `environments:`',
  },
  {
    what: 'an environment that extends itself',
    service: and('environments:\n  staging: { extends: §staging }\n'),
    key: 'environments.staging.extends',
    problem: 'staging -> staging',
    remedy: 'without `extends`',
  },
  {
    what: 'environments that extend each other',
    service: and('environments:\n  a: { extends: b }\n  b: { extends: c }\n  c: { extends: §b }\n'),
    key: 'environments.c.extends',
    problem: 'b -> c -> b',
    remedy: 'without `extends`',
  },
  {
    what: 'an environment that extends an unknown one',
    service: and('environments:\n  staging: {}\n  release: { extends: §stagin }\n'),
    key: 'environments.release.extends',
    problem: 'no environment "stagin"',
    remedy: 'did you mean staging?',
  },
  {
    what: 'an environment with an unfit name',
    service: and('environments: { §Staging EU: {} }\n'),
    key: 'environments.Staging EU',
    problem: 'is not a name of lower-case letters',
    remedy: 'lower-case',
  },
  {
    what: 'an unknown contract',
    service: GOOD_SERVICE.replace('contract: orders', 'contract: §ordres'),
    key: 'contract',
    problem: 'there is no contract "ordres"',
    remedy: 'did you mean orders?',
  },
];

describe('a service config that says something wrong', () => {
  it.each([...KEYS, ...PROVIDERS, ...CHOICES])('is refused: $what', expectFault);
});
