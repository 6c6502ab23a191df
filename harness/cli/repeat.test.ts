import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../base/fixtures/folder.ts';
import { loadOnly } from '../config/fixtures/config-folder.ts';
import { serviceSecrets } from '../config/secrets.ts';
import type { ReferenceName, ServiceConfig } from '../config/service.ts';
import { judge } from '../engine/check/judge.ts';
import { MAIN } from '../engine/fixtures/built-program.ts';
import { conform, EXAMPLE_KEY, resultsIn } from '../engine/fixtures/conform-process.ts';
import { mayUse } from '../engine/fixtures/system-tools.ts';
import { loadSuites, SUITES_URL } from '../engine/selection/selection.ts';
import { sessionAt } from '../engine/session/fixtures/session.ts';
import { startReference } from '../reference/reference.ts';
import { environmentName } from '../wire/forms/shell-word.ts';

/** Every kind of command that repeats a finding, run by a shell: it shows the fault where it is, and nowhere else. */

const CURL = mayUse('curl');
const CONFIG = fileURLToPath(new URL('../../config', import.meta.url));
const PROOF = fileURLToPath(new URL('../proof/config', import.meta.url));
const checks = (await loadSuites(SUITES_URL)).flatMap((suite) => suite.checks);

interface Case {
  /** Search when left out. */
  readonly service?: ReferenceName;
  readonly defect: string;
  readonly check: string;
  /** With the operations of the proof. */
  readonly isDescribed?: true;
  /** What kind of command it is. */
  readonly command: RegExp;
  /** What the fault looks like in what the command says. */
  readonly fault: RegExp;
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
  'a handshake': {
    service: 'realtime',
    defect: 'ws-drops-plain-http',
    check: 'websocket.plain-http',
    command: /^curl -sS -i -N -m 5 \S+/,
    fault: /Empty reply/,
  },
};

// Beside each other: most of their time they wait for what a service still says.
describe.concurrent('a command that repeats', () => {
  for (const [what, each] of Object.entries(CASES)) {
    it.skipIf(!CURL)(what, async ({ onTestFinished }) => {
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

  it.for([
    ['a request that curl does not send', 'search', 'accepts-two-hosts', 'framing.two-hosts'],
    ['the frames of a WebSocket', 'realtime', 'ws-wrong-pong', 'websocket.ping'],
  ] as const)('%s runs the check alone', async ([, service, defect, check], { onTestFinished }) => {
    const faulty = await serviceWith({ service }, [defect], onTestFinished);
    const { reproduce } = await judged({ check }, faulty);
    expect(reproduce).toBe(`conform run ${service} --check ${check} --verbose`);
  });

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

/** Called when the test is over. */
type StopAfter = (stop: () => Promise<void> | void) => void;

interface Running {
  readonly config: ServiceConfig;
  readonly url: string;
  readonly port: string;
}

async function serviceWith(
  { service = 'search', isDescribed }: Pick<Case, 'service' | 'isDescribed'>,
  defects: readonly string[],
  stopAfter: StopAfter,
): Promise<Running> {
  const { config } = await loadOnly(isDescribed ? PROOF : CONFIG, { services: [service], env: {} });
  const { credentials } = config;
  const provider = await startReference({ service, credentials, plan: null, defects });
  stopAfter(() => provider.stop());
  const { url } = provider;
  return { config, url, port: new URL(url).port };
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
