import { join } from 'node:path';
import { expect, it } from 'vitest';
import { conformOver } from '../fixtures/conform-process.ts';
import { containedIn, everythingSaid, readings } from '../fixtures/everything-said.ts';
import { spellings } from '../fixtures/hostile-servers.ts';

/** Unusual keys, by where they come from; each is known to one of two services, and told by both. */
const SECRETS = {
  env: `example-"quoted"-key's\\end`,
  file: 'example_%41%2Fpercent+plus',
  exec: '<b>example&amp;markup</b>',
  reference: '4711081547110815',
  env2: 'exämple-kéy-öf-lätin-1',
  file2: 'ZXhhbXBsZS1rZXktaW4tYmFzZTY0',
  exec2: `example-${'0123456789'.repeat(20)}`,
  broker: 'EXAMPLE.key-ABABABABABABABAB',
  short: 'q7!Zk$',
  gateway: 'example+/=key?&#;',
  signs: 'Ex4mple~!*_-.^`|$',
  path: 'v1/resources',
};
const TELLTALE = join(import.meta.dirname, '../fixtures/telltale-server.ts');

function service(name: string, key: string, second: string, more: string): string {
  const command = `{ run: ["${process.execPath}", "${TELLTALE}"], url: "http://127.0.0.1:\${PORT}", env: { ALL: "\${env:ALL}" } }`;
  return `service: ${name}
contract: search
provider: { command: ${command} }
credentials: { scheme: bearer, key: "${key}", secondKey: "${second}" }
plan: { requests: 5000, window: 1s }
safety: { exceedRateLimit: false }
${more}`;
}

it.for([
  [
    'workers of their own',
    ['--concurrency', '2', '--suite', 'auth', 'headers', 'operations', 'pact', 'paths', 'websocket'],
  ],
  // What one knows of the other's secrets shows in any suite.
  ['one worker', ['--concurrency', '1', '--suite', 'auth', 'pact']],
] as const)(
  'no secret of services in %s is in anything that the run says, whoever tells it',
  async ([, options]) => {
    const operation = `operations: [{ id: a, method: GET, path: "/v1/orders/\${env:REFERENCE}", fields: { X-Order: "\${exec:cat exec}", X-Short: "\${env:SHORT}", X-Signs: "\${env:SIGNS}", X-Path: "\${env:SAME}", X-Version: "\${env:VERSION}" } }]
headers: { X-Gateway: "\${env:GATEWAY}" }
websocket: { url: /ws, dialect: raw }
`;
    const pacts = `pacts: { broker: { url: "http://127.0.0.1:9", token: "\${env:BROKER}" } }\noperations: [{ id: b, method: GET, path: /v1/b, fields: { X-Key: "\${exec:cat exec2}" } }]\n`;
    const files = {
      'services/one.yaml': service('one', `\${env:KEY}`, `\${file:file}`, operation),
      'services/two.yaml': service('two', `\${env:KEY_2}`, `\${file:file2}`, pacts),
      'services/file': SECRETS.file,
      'services/exec': SECRETS.exec,
      'services/file2': SECRETS.file2,
      'services/exec2': SECRETS.exec2,
    };
    const ran = await conformOver(files, ['--verbose', ...options], {
      ALL: JSON.stringify(Object.values(SECRETS)),
      KEY: SECRETS.env,
      KEY_2: SECRETS.env2,
      REFERENCE: SECRETS.reference,
      BROKER: SECRETS.broker,
      SHORT: SECRETS.short,
      GATEWAY: SECRETS.gateway,
      SIGNS: SECRETS.signs,
      SAME: SECRETS.path,
      VERSION: '2026',
    });
    expect(ran.code).toBe(1);
    const said = everythingSaid(ran, ran.reports);
    expect(
      [...said.keys()].filter((path) => /\.(log|ndjson|html|xml|md|json)$/.test(path)).length,
    ).toBeGreaterThan(8);
    const names = new Map(
      Object.entries(SECRETS).flatMap(([name, secret]) => spellings(secret).map((each) => [each, name])),
    );
    const shownIn = containedIn([...names.keys()]);
    const left = [...said].flatMap(([where, text]) =>
      readings(text)
        .flatMap(shownIn)
        .map((each) => `${names.get(each)} in ${where.replace(ran.reports, '')}`),
    );
    expect(left).toEqual([]);
    const [one] = ran.results().services;
    expect(one?.remarks).toEqual([
      'fewer than 6 characters cannot be hidden: reports show the value of VERSION',
    ]);
    const hasConversation = /"kind": ?"conversation"/.test(ran.report('results.json'));
    expect(hasConversation).toBe(options.some((each) => each === 'websocket'));
  },
);
