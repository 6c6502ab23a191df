import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
  /** Search when left out. */
  readonly service?: 'realtime';
  readonly credentials: string;
  readonly further?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** `auth` when left out. */
  readonly suites?: readonly string[];
  /** Checks that must have been judged, for else nothing is shown. */
  readonly judged: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  'a key, a second one that was given and a header': {
    credentials: `{ scheme: bearer, key: "\${env:A_KEY}", secondKey: "\${env:B_KEY:-}" }`,
    further: `headers: { X-Gate: "open \${env:GATE}" }\n`,
    env: { A_KEY: 'one-of-the-keys-here', B_KEY: 'another-of-the-keys', GATE: 'a-word-for-the-gate' },
    judged: ['auth.case-flipped-credential', 'auth.second-key'],
  },
  'a key that is the same in capitals, and no second one': {
    credentials: `{ scheme: header, name: X-API-Key, key: "\${env:A_KEY}", secondKey: "\${env:B_KEY:-}" }`,
    env: { A_KEY: 'de305d5475b4431badb2eb6b9e546014' },
    judged: ['auth.truncated-credential'],
  },
  'a key that is a signed token': {
    credentials: `{ scheme: bearer, key: "\${env:A_KEY}" }`,
    env: { A_KEY: TOKEN },
    judged: ['auth.unsigned-token', 'auth.changed-token', 'auth.guessed-token', 'auth.expired-token'],
  },
  'a password': {
    credentials: `{ scheme: basic, username: bob, password: "\${env:A_PASSWORD}" }`,
    env: { A_PASSWORD: 'no-password-anybody-has' },
    judged: ['auth.wrong-credential'],
  },
  'the secret of a client that is given tokens': {
    credentials: `{ scheme: oauth2, tokenUrl: /oauth2/token, clientId: one, clientSecret: "\${env:A_SECRET}" }`,
    env: { A_SECRET: 'a-secret-of-the-client' },
    judged: ['auth.unsigned-token', 'auth.changed-token', 'auth.self-certified-token'],
  },
  'the secret of an application, which signs events too': {
    service: 'realtime',
    credentials: `{ scheme: bearer, key: "\${env:A_KEY}", app: { id: example-app, key: example-app-key, secret: "\${env:APP_SECRET}" } }`,
    further: `websocket: { url: /ws, dialect: raw, echo: true }
webhooks:
  trigger: { path: /webhooks, body: { url: "\${WEBHOOK_URL}" } }
  signature: { header: X-Webhook-Signature, prefix: sha256=, secret: "\${env:APP_SECRET}" }
  within: 5s
`,
    env: { A_KEY: 'one-of-the-keys-here', APP_SECRET: 'a-secret-of-the-application' },
    suites: ['auth', 'webhooks', 'websocket'],
    judged: ['webhooks.signature', 'websocket.missing-credential'],
  },
  'a key in a file, and one that a command prints': {
    credentials: `{ scheme: bearer, key: "\${file:../key.txt}", secondKey: "\${exec:touch ../was-run; echo a-key-of-the-command}" }`,
    env: {},
    files: { 'key.txt': 'one-of-the-keys-here' },
    judged: ['auth.wrong-credential'],
  },
};

function verdictsIn({ services, run, totals }: Results) {
  const told = services.map(({ checks, observations, trouble }) => ({
    trouble,
    observations,
    checks: checks.map(({ id, outcome, message, headline, evidence }) => {
      return { id, outcome, message, headline, evidence };
    }),
  }));
  return { told, totals, exitCode: run.exitCode };
}

describe('a verdict is the same with secrets and without', () => {
  it.for(Object.entries(CASES))('where they are %s', async ([_name, each]) => {
    const {
      service = 'search',
      credentials,
      further = '',
      env,
      files = {},
      suites = ['auth'],
      judged,
    } = each;
    const config = temporaryFolder({
      [`services/${service}.yaml`]: `service: ${service}\ncontract: ${service}\nprovider: { reference: ${service} }\ncredentials: ${credentials}\n${further}`,
      ...files,
    });
    const into = (name: string) => join(config, 'reports', name);
    const resultsIn = (name: string) => readResults(join(into(name), 'selection/results.json'));
    const common = ['--config', config];
    const ran = await conformHere(['run', ...common, '--reports', into('night'), '--suite', ...suites], env);
    expect(ran.stderr).not.toMatch(/^conform: /m);
    const night = resultsIn('night');
    const of = new Map(night.services[0]?.checks.map(({ id, outcome }) => [id, outcome]));
    for (const id of judged) expect([id, of.get(id)]).toEqual([id, expect.stringMatching(/^(?:pass|fail)$/)]);

    rmSync(join(config, 'was-run'), { force: true });
    const record = join(into('night'), 'selection');
    const judge = (name: string, variables: typeof env) =>
      conformHere(['judge', record, ...common, '--reports', into(name)], variables);
    const withThem = await judge('with', env);
    for (const name of Object.keys(files)) rmSync(join(config, name));
    const without = await judge('without', {});
    expect([withThem.stderr, without.stderr]).toEqual(['', '']);
    expect([withThem.code, without.code]).toEqual([ran.code, ran.code]);
    expect(existsSync(join(config, 'was-run'))).toBe(false);
    expect(verdictsIn(resultsIn('without'))).toEqual(verdictsIn(night));
    const text = (name: string) => readFileSync(join(into(name), 'selection/results.json'), 'utf8');
    expect(text('without')).toBe(text('with'));
    for (const secret of Object.values({ ...env, ...files })) {
      expect(readFileSync(join(record, 'journal.ndjson'), 'utf8')).not.toContain(secret);
    }
  });
});
