import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { writtenToken } from '../../config/credential/json-web-token.ts';
import { readResults } from '../../report/results/read-results.ts';
import type { Results } from '../../report/results/results.ts';
import { conformHere } from '../fixtures/in-process.ts';

/** `conform judge` where the secrets of the run are not at hand: nothing is read, run or asked for that was one. */

const TOKEN = writtenToken(
  { alg: 'HS256' },
  { sub: 'client', exp: 4_000_000_000 },
  Buffer.from('signature'.repeat(3)),
);

interface Case {
  readonly name: string;
  /** Search when left out. */
  readonly reference?: 'realtime';
  readonly credentials: string;
  readonly further?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** Checks that must have been judged, for else nothing is shown. */
  readonly judged: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  'a key, a second one that was given and a header': {
    name: 'gated',
    credentials: `{ scheme: bearer, key: "\${env:A_KEY}", secondKey: "\${env:B_KEY:-}" }`,
    further: `headers: { X-Gate: "open \${env:GATE}" }\n`,
    env: { A_KEY: 'one-of-the-keys-here', B_KEY: 'another-of-the-keys', GATE: 'a-word-for-the-gate' },
    judged: ['auth.case-flipped-credential', 'auth.second-key'],
  },
  'a key that is the same in capitals, and no second one': {
    name: 'capitals',
    credentials: `{ scheme: header, name: X-API-Key, key: "\${env:HEX_KEY}", secondKey: "\${env:NO_KEY:-}" }`,
    env: { HEX_KEY: 'de305d5475b4431badb2eb6b9e546014' },
    judged: ['auth.truncated-credential'],
  },
  'a key that is a signed token': {
    name: 'token',
    credentials: `{ scheme: bearer, key: "\${env:TOKEN_KEY}" }`,
    env: { TOKEN_KEY: TOKEN },
    judged: ['auth.unsigned-token', 'auth.changed-token', 'auth.guessed-token', 'auth.expired-token'],
  },
  'a password': {
    name: 'password',
    credentials: `{ scheme: basic, username: bob, password: "\${env:A_PASSWORD}" }`,
    env: { A_PASSWORD: 'no-password-anybody-has' },
    judged: ['auth.wrong-credential'],
  },
  'the secret of a client that is given tokens': {
    name: 'client',
    credentials: `{ scheme: oauth2, tokenUrl: /oauth2/token, clientId: one, clientSecret: "\${env:A_SECRET}" }`,
    env: { A_SECRET: 'a-secret-of-the-client' },
    judged: ['auth.unsigned-token', 'auth.changed-token', 'auth.self-certified-token'],
  },
  'the secret of an application, which signs events too': {
    name: 'application',
    reference: 'realtime',
    credentials: `{ scheme: bearer, key: "\${env:C_KEY}", app: { id: example-app, key: example-app-key, secret: "\${env:APP_SECRET}" } }`,
    further: `websocket: { url: /ws, dialect: raw, echo: true }
webhooks:
  trigger: { path: /webhooks, body: { url: "\${WEBHOOK_URL}" } }
  signature: { header: X-Webhook-Signature, prefix: sha256=, secret: "\${env:APP_SECRET}" }
  within: 5s
`,
    env: { C_KEY: 'one-more-of-the-keys', APP_SECRET: 'a-secret-of-the-application' },
    judged: ['webhooks.signature', 'websocket.missing-credential'],
  },
  'a key in a file, and one that a command prints': {
    name: 'commanded',
    credentials: `{ scheme: bearer, key: "\${file:../key.txt}", secondKey: "\${exec:touch ../was-run; echo a-key-of-the-command}" }`,
    env: {},
    files: { 'key.txt': 'the-key-in-the-file' },
    judged: ['auth.wrong-credential'],
  },
};
const ALL = Object.values(CASES);
const FILES: Readonly<Record<string, string>> = Object.assign({}, ...ALL.map(({ files }) => files));
const ENVIRONMENT: Readonly<Record<string, string>> = Object.assign({}, ...ALL.map(({ env }) => env));

const config = temporaryFolder({
  ...Object.fromEntries(
    ALL.map(({ name, reference = 'search', credentials, further = '' }) => [
      `services/${name}.yaml`,
      `service: ${name}\ncontract: ${reference}\nprovider: { reference: ${reference} }\ncredentials: ${credentials}\n${further}`,
    ]),
  ),
  ...FILES,
});
const into = (name: string) => join(config, 'reports', name);
const resultsIn = (name: string) => readResults(join(into(name), 'selection/results.json'));
const record = join(into('night'), 'selection');

/** One run of all of them, judged with their secrets and without. */
beforeAll(async () => {
  const checks = new Set(ALL.flatMap(({ judged }) => judged));
  const common = ['--config', config, '--reports'];
  const ran = await conformHere(['run', ...common, into('night'), '--check', ...checks], ENVIRONMENT);
  expect(ran.stderr).not.toMatch(/^conform: /m);
  rmSync(join(config, 'was-run'));
  const judge = (name: string, env: typeof ENVIRONMENT) =>
    conformHere(['judge', record, ...common, into(name)], env);
  const withThem = await judge('with', ENVIRONMENT);
  for (const name of Object.keys(FILES)) rmSync(join(config, name));
  const without = await judge('without', {});
  expect([withThem.stderr, without.stderr]).toEqual(['', '']);
  expect([withThem.code, without.code]).toEqual([ran.code, ran.code]);
});

function verdictOf(wanted: string, { services }: Results) {
  const service = services.find((each) => each.service === wanted);
  const checks = service?.checks.map(({ id, outcome, message, headline, evidence }) => {
    return { id, outcome, message, headline, evidence };
  });
  return { trouble: service?.trouble, observations: service?.observations, checks };
}

describe('a verdict is the same with secrets and without', () => {
  it.for(Object.entries(CASES))('where they are %s', ([_what, { name, judged }]) => {
    const night = verdictOf(name, resultsIn('night'));
    for (const id of judged)
      expect(night.checks).toContainEqual(
        expect.objectContaining({ id, outcome: expect.stringMatching(/^(?:pass|fail)$/) }),
      );
    expect(verdictOf(name, resultsIn('without'))).toEqual(night);
  });

  it('and so are their reports, in which there are none', () => {
    const text = (name: string) => readFileSync(join(into(name), 'selection/results.json'), 'utf8');
    expect(text('without')).toBe(text('with'));
    expect(resultsIn('without').totals).toEqual(resultsIn('night').totals);
    expect(existsSync(join(config, 'was-run'))).toBe(false);
    const journal = readFileSync(join(record, 'journal.ndjson'), 'utf8');
    for (const secret of Object.values({ ...ENVIRONMENT, ...FILES })) expect(journal).not.toContain(secret);
  });
});
