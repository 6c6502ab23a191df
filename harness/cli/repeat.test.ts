import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../base/fixtures/folder.ts';
import { serving } from '../base/fixtures/server.ts';
import { loadOnly } from '../config/fixtures/config-folder.ts';
import { serviceSecrets } from '../config/secrets.ts';
import type { ReferenceName, ServiceConfig } from '../config/service.ts';
import { judge } from '../engine/check/judge.ts';
import { MAIN } from '../engine/fixtures/built-program.ts';
import { conform, EXAMPLE_KEY, resultsIn } from '../engine/fixtures/conform-process.ts';
import { mayUse } from '../engine/fixtures/system-tools.ts';
import { loadSuites, SUITES_URL } from '../engine/selection/selection.ts';
import { sessionAt } from '../engine/session/fixtures/session.ts';
import { selfSigned } from '../proof/certificate.ts';
import { startReference } from '../reference/reference.ts';
import { environmentName } from '../wire/forms/shell-word.ts';

/** Every kind of command that repeats a finding, run by a shell: it shows the fault where it is, and nowhere else. */

const NC = mayUse('nc');
const CURL = mayUse('curl');
const OPENSSL = mayUse('openssl');
const CONFIG = fileURLToPath(new URL('../../config', import.meta.url));
const PROOF = fileURLToPath(new URL('../proof/config', import.meta.url));
const checks = (await loadSuites(SUITES_URL)).flatMap((suite) => suite.checks);

interface Case {
  /** Search when left out. */
  readonly service?: ReferenceName;
  readonly defect: string;
  readonly check: string;
  readonly isTls?: true;
  /** With the operations of the proof. */
  readonly isDescribed?: true;
  /** What kind of command it is. */
  readonly command: RegExp;
  /** What the fault looks like in what the command says. */
  readonly fault: RegExp;
  /** Whether the tools that it needs are there, where curl alone will not do. */
  readonly isThere?: boolean;
}

const OK = /^HTTP\/1\.1 20\d/m;

const CASES: Readonly<Record<string, Case>> = {
  'a request': {
    defect: 'accepts-missing-key',
    check: 'auth.missing-credential',
    command: /^curl -sS -i http:\/\/127\.0\.0\.1:\d+\/v1\/resources -H 'Content-Type: application\/json'$/,
    fault: OK,
  },
  'a request with a secret that is made of another': {
    defect: 'accepts-key-prefix',
    check: 'auth.truncated-credential',
    command: /^curl .* -H 'Authorization: Bearer '"\$\{SEARCH_API_KEY%\?\}"$/,
    fault: OK,
  },
  'a request with a long value': {
    defect: 'oversized-key-is-500',
    check: 'auth.oversized-credential',
    command: /^curl .* -H 'Authorization: Bearer '"\$\(head -c \d{4} \/dev\/zero \| tr '\\0' k\)"$/,
    fault: /^HTTP\/1\.1 500/m,
  },
  'a request with content': {
    isDescribed: true,
    defect: 'operation-accepts-surplus-member',
    check: 'operations.negative-surplus',
    command: /^printf '\{.*\}' \| curl -sS -i -X POST .* --data-binary @-$/,
    fault: OK,
  },
  'a request that curl does not send': {
    defect: 'accepts-two-hosts',
    check: 'framing.two-hosts',
    command:
      /^printf 'GET \S+ HTTP\/1\.1\\r\\n.*Host: .*\\r\\nHost: .*' "\$SEARCH_API_KEY" \| nc -w 3 127\.0\.0\.1 \d+$/,
    fault: OK,
    isThere: NC,
  },
  'the same over TLS': {
    defect: 'accepts-two-hosts',
    check: 'framing.two-hosts',
    isTls: true,
    command: /^\{ printf .*; sleep 3; \} \| openssl s_client .* -connect 127\.0\.0\.1:\d+$/,
    fault: OK,
    isThere: OPENSSL,
  },
  'a handshake': {
    service: 'realtime',
    defect: 'ws-drops-plain-http',
    check: 'websocket.plain-http',
    command: /^curl -sS -i -N -m 5 \S+/,
    fault: /Empty reply/,
  },
  'the frames of a WebSocket': {
    service: 'realtime',
    defect: 'ws-wrong-pong',
    check: 'websocket.ping',
    command:
      /^\{ printf 'GET \/ws HTTP\/1\.1.*; sleep 1; printf '\\211.*; \} \| nc -w 3 127\.0\.0\.1 \d+ \| od -c$/,
    fault: / 212 004 {3}p {3}o {3}n {3}g/,
    isThere: NC,
  },
};

// Beside each other: most of their time they wait for what a service still says.
describe.concurrent('a command that repeats', () => {
  for (const [what, { isThere = CURL, ...each }] of Object.entries(CASES)) {
    it.skipIf(!isThere)(what, async ({ onTestFinished }) => {
      const faulty = await serviceWith(each, [each.defect], onTestFinished);
      const { outcome, reproduce } = await judged(each, faulty);
      expect(outcome).toMatch(/fail|warning/);
      expect(reproduce).toMatch(each.command);
      const command = reproduce ?? '';
      expect(command).not.toMatch(/example-|X-Conform-Run|\(run |(\S)\1{63}/);
      const sound = await serviceWith(each, [], onTestFinished);
      const [said, elsewhere] = await Promise.all([
        shell(command, faulty.config),
        shell(command.replaceAll(faulty.port, sound.port), sound.config),
      ]);
      expect(said).toMatch(each.fault);
      expect(elsewhere).not.toMatch(each.fault);
    });
  }

  it('what no single request shows', async () => {
    const files = (defects: string) => ({
      'mine/services/search.yaml': `service: search\ncontract: search\nprovider: { reference: search${defects} }\ncredentials: { scheme: bearer, key: "\${env:SEARCH_API_KEY}" }\nplan: { requests: 20, window: 2s }\n`,
    });
    const faulty = temporaryFolder(files(', defects: [limit-off-by-one-low]'));
    const first = await conform(['run', 'search', '--config', 'mine', '--check', 'limits.exact'], {}, faulty)
      .ended;
    const found = resultsIn(join(faulty, 'reports')).services[0]?.checks.find(
      ({ id }) => id === 'limits.exact',
    );
    expect(found?.outcome, first.stderr).toBe('fail');
    expect(found?.reproduce).toBe('conform run search --config mine --check limits.exact --verbose');
    const again = async (cwd: string) => {
      const shown = `conform() { '${process.execPath}' '${MAIN}' "$@"; }; ${found?.reproduce}`;
      const env = { PATH: process.env.PATH, SEARCH_API_KEY: EXAMPLE_KEY };
      return (await promisify(execFile)('sh', ['-c', shown], { env, cwd }).catch((failed) => failed)).stdout;
    };
    expect((await again(faulty)).replace(/\s+/g, ' ')).toContain('first refused, got request 20');
    expect(await again(temporaryFolder(files('')))).toMatch(/pass +limits\.exact/);
  });
});

/** Whatever certificate is shown. */
const ANY = { files: { ca: null, cert: null, key: null }, ca: null, client: null, insecure: true };

/** Called when the test is over. */
type StopAfter = (stop: () => Promise<void> | void) => void;

interface Running {
  readonly config: ServiceConfig;
  readonly url: string;
  readonly port: string;
}

async function serviceWith(
  { service = 'search', isTls, isDescribed }: Pick<Case, 'service' | 'isTls' | 'isDescribed'>,
  defects: readonly string[],
  stopAfter: StopAfter,
): Promise<Running> {
  const { config } = await loadOnly(isDescribed ? PROOF : CONFIG, { services: [service], env: {} });
  const { credentials } = config;
  const provider = await startReference({ service, credentials, plan: null, defects });
  stopAfter(() => provider.stop());
  const url = isTls ? await overTls(new URL(provider.url), stopAfter) : provider.url;
  return { config: isTls ? { ...config, tls: ANY } : config, url, port: new URL(url).port };
}

/** The address of a TLS server that hands everything on. */
async function overTls({ hostname, port }: URL, stopAfter: StopAfter): Promise<string> {
  const server = createServer(selfSigned('localhost'), (socket) => {
    const behind = connect(Number(port), hostname);
    socket.pipe(behind).pipe(socket);
    for (const each of [socket, behind]) each.on('error', () => {});
  });
  const { url, stop } = await serving(server, 'https');
  stopAfter(stop);
  return url;
}

async function judged({ check }: Pick<Case, 'check'>, { config, url }: Running) {
  const wanted = checks.find(({ id }) => id === check);
  if (wanted === undefined) throw new Error(`there is no check ${check}`);
  const { session } = sessionAt(url, config);
  const signal = AbortSignal.timeout(170_000);
  return judge(wanted, session, { strict: false, signal }).finally(() => session.close());
}

async function shell(command: string, config: ServiceConfig): Promise<string> {
  const keys = serviceSecrets(config).map((secret) => [environmentName(secret.name), secret.reveal()]);
  const env = { PATH: process.env.PATH, ...Object.fromEntries(keys) };
  const told = await promisify(execFile)('sh', ['-c', command], { env }).catch((failed) => failed);
  return `${told.stdout}${told.stderr}`;
}
