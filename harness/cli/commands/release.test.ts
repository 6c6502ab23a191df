import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { loadServices } from '../../config/load.ts';
import { MAIN } from '../../engine/fixtures/built-program.ts';
import { until } from '../../engine/fixtures/conform-process.ts';
import { reaperOf } from '../../providers/fixtures/processes.ts';
import { REFUSING_SERVER } from '../../providers/fixtures/provider-image.ts';
import {
  beginRelease,
  example,
  expectNothingLeft,
  KEY,
  leftOf,
  messages,
  PLAN_SERVED,
  ROOT,
  release,
  releaseFolder,
  runIn,
  SHIPS,
  verdictOf,
  WITH_KEYS,
} from '../fixtures/release.ts';

/** Whether an image may ship, decided by the command line alone, with the example of the shipped config. */

const RECIPE = readFileSync(join(ROOT, 'docs/releases.md'), 'utf8');
const { image, none } = inject('containers');

/** Where it does not matter what is judged. */
const ONE_CHECK = { args: ['--partial', '--check', 'auth.missing-credential'] };

describe('the release environment of the recipe', () => {
  const load = async (environment: string) => {
    const folder = releaseFolder(environment);
    const env = {
      SEARCH_API_KEY: KEY,
      SEARCH_RELEASE_IMAGE: 'search:1',
      SEARCH_STAGING_URL: 'http://127.0.0.1:1',
    };
    const options = { configDir: join(folder, 'config'), services: ['search'], environment: 'release', env };
    return (await loadServices(options)).services[0]?.config.provider;
  };

  it('is one that can be loaded', async () => {
    const [, block = ''] = /```yaml\n(release:\n.*?)```/s.exec(RECIPE) ?? [];
    expect(await load(block.replaceAll(/^/gm, '  '))).toMatchObject({
      kind: 'container',
      image: { kind: 'image', name: 'search:1' },
      companions: [{ name: 'cache', capabilities: ['SETUID', 'SETGID'] }],
    });
  });

  it('may have a command in its place', async () => {
    const [, provider = ''] = /^`(provider: \{ command: .*\})`/m.exec(RECIPE) ?? [];
    expect(await load(`  release: { ${provider}, extends: staging }\n`)).toMatchObject({ kind: 'command' });
  });
});

describe('an image without a container runtime', () => {
  it('is not judged', async () => {
    const shipped = await release('search:1', {
      ...ONE_CHECK,
      harness: { DOCKER_HOST: 'unix:///no/such.sock' },
    });
    expect(shipped.code).toBe(3);
    expect(shipped.results.services[0]?.trouble).toBe(
      'its provider did not start: no container runtime: there is no socket /no/such.sock (named by DOCKER_HOST)',
    );
    expect(shipped.results.totals.blocked).toBe(shipped.results.services[0]?.checks.length);
    // Its reason once, however many checks have it.
    expect(shipped.stderr.match(/did not start/g)).toHaveLength(1);
  });
});

describe('a program of this machine', () => {
  const serve = [process.execPath, MAIN, 'serve', 'search', '--port', `${'$'}{PORT}`, '--plan', PLAN_SERVED];
  const environment = `  release:
    extends: staging
    provider: { command: { run: ${JSON.stringify(serve)}, cwd: ../.., ${WITH_KEYS}, url: "http://127.0.0.1:${'$'}{PORT}" } }
    safety: { exceedRateLimit: true }
`;

  it('ships: it conforms', async () => {
    const shipped = await release('', { ...ONE_CHECK, environment });
    expect(verdictOf(shipped)).toEqual(SHIPS);
    expect(shipped.results.services[0]?.provider.kind).toBe('command');
    expect(shipped.log()).toContain('Ctrl-C ends it');
  });

  it('may give out tokens, and write down what it likes: its log has none of them', async () => {
    const program = `require('node:http').createServer((request, response) => {
      console.log(request.url, request.headers.authorization);
      const token = { access_token: '${KEY.replace('-', ' ')}'.replace(' ', '-'), token_type: 'Bearer' };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(token));
    }).listen(process.env.PORT)`;
    const shipped = await release('', {
      environment: `  release:
    extends: staging
    provider: { command: { run: ${JSON.stringify([process.execPath, '-e', program])}, url: "http://127.0.0.1:${'$'}{PORT}" } }
    credentials: { scheme: oauth2, tokenUrl: /token, clientId: one, clientSecret: "${'$'}{env:SEARCH_API_KEY_2}" }
`,
      args: ['--partial', '--check', 'auth.truncated-credential', 'auth.case-flipped-credential'],
    });
    expect(shipped.log()).toMatch(/^\/token Basic /m);
    expect(shipped.log()).toContain('Bearer [redacted:ACCESS_TOKEN]');
    expect(shipped.log()).toContain('Bearer [redacted:ACCESS_TOKEN.case-flipped]');
  });
});

// Beside each other: most of what they take is the waits for a window or for a start that does not succeed.
describe.skipIf(none !== null)(`a release${none === null ? '' : ` (${none})`}`, { concurrent: true }, () => {
  it('ships: the image conforms', async () => {
    const shipped = await release(image);
    expect(verdictOf(shipped)).toEqual(SHIPS);
    expect(shipped.results.services[0]?.provider).toMatchObject({
      kind: 'container',
      image: expect.stringMatching(/^conform-built\/fixture-provider-\d+:latest \(sha256:/),
    });
    expect(shipped.results.totals.pass).toBeGreaterThan(30);
    expect(shipped.log()).toMatch(/^listening on 8080\nGET /);
    await expectNothingLeft(shipped);
  });

  it('does not: it breaks the contract', async () => {
    const shipped = await release(image, {
      provider: { DEFECT: 'refusal-without-challenge' },
      args: ['--partial', '--check', 'auth.challenge'],
    });
    expect(shipped.code).toBe(1);
    expect(messages(shipped, 'fail').join()).toMatch(/WWW-Authenticate/);
    await expectNothingLeft(shipped);
  });

  it('does not: it exits at its start', async () => {
    const shipped = await release(image, { ...ONE_CHECK, provider: { FAULT: 'exit' } });
    expect(shipped.code).toBe(3);
    expect(shipped.results.services[0]?.trouble).toBe(
      'its provider did not start: the container exited with code 7 before it was ready; its last lines: ' +
        'cannot reach the index with the key [redacted:SEARCH_API_KEY]',
    );
    expect(shipped.log()).toBe('cannot reach the index with the key [redacted:SEARCH_API_KEY]\n');
    expect(new Set(messages(shipped, 'blocked')).size).toBe(1);
    await expectNothingLeft(shipped);
  });

  it.for([
    [
      'it is never ready',
      { http: '/healthz' },
      8080,
      /^its provider did not start: the container was not ready within 8 s: GET \/healthz was answered with 401; its last lines: /,
    ],
    [
      'its port is not open, though it says that it is ready',
      { log: 'listening' },
      9_999,
      /^the provider does not answer: /,
    ],
  ] as const)('does not: %s', async ([_what, ready, port, why]) => {
    const environment = example({})
      .replace(
        '{ log: listening }',
        `${JSON.stringify(ready)}\n        timeout: 8s\n        command: ${JSON.stringify(['--eval', REFUSING_SERVER])}`,
      )
      .replace('port: 8080', `port: ${port}`);
    const shipped = await release(image, { ...ONE_CHECK, environment });
    expect(shipped.code).toBe(3);
    expect(shipped.results.services[0]?.trouble).toMatch(why);
    expect(shipped.results.totals.pass).toBe(0);
    expect(shipped.log()).toContain('listening on 8080');
    await expectNothingLeft(shipped);
  });

  it('does not: it does not answer a consumer as its pact says', async () => {
    const verify = { command: ['pact', 'verify'] };
    const good = await release(image, verify);
    expect(verdictOf(good)).toEqual(SHIPS);
    expect(good.results.totals.pass).toBe(1);
    const bad = await release(image, { ...verify, provider: { DEFECT: 'json-wrong-content-type' } });
    expect(bad.code).toBe(1);
    expect(messages(bad, 'fail').join()).toMatch(/Content-Type/i);
    await expectNothingLeft(bad);
  });

  it('leaves nothing behind when its harness and reaper are killed, once the next run has begun', async () => {
    const killed = beginRelease(image, {
      whileJudged: ({ pid = 0 }) => {
        for (const each of [reaperOf(pid), pid]) process.kill(each, 'SIGKILL');
      },
    });
    await killed.ended;
    const next = await release(image, ONE_CHECK);
    expect(verdictOf(next)).toEqual(SHIPS);
    expect(await leftOf(runIn(killed.folder))).toEqual([]);
    await expectNothingLeft(next);
  });

  it('does not: it dies while it is judged', async () => {
    const shipped = await release(image, {
      provider: { FAULT: 'die:20' },
      args: ['--partial', '--suite', 'auth', 'json'],
    });
    expect(shipped.code).not.toBe(0);
    expect(shipped.results.services[0]?.trouble).toMatch(
      /container exited with code 9; its last lines: .*the index is corrupt/,
    );
    expect(messages(shipped, 'blocked').join('\n')).toMatch(
      /^the provider .*: the container exited with code 9; its last lines: /m,
    );
    await expectNothingLeft(shipped);
  });

  it.for([
    ['is interrupted', 1],
    ['is interrupted twice', 2],
  ] as const)('does not: the run %s', async ([_what, times]) => {
    const shipped = await release(image, {
      async whileJudged(harness, stderr) {
        harness.kill('SIGINT');
        if (times === 1) return;
        await until('the first signal is heard', () => stderr().includes('finishing'));
        harness.kill('SIGINT');
      },
    });
    expect(shipped.code).toBe(3);
    expect(shipped.results.run.interruption).toMatch(/SIGINT/);
    await expectNothingLeft(shipped);
  });

  it('does not: there is no such image', async () => {
    const shipped = await release('localhost:1/no/such/image:1', ONE_CHECK);
    expect(shipped.code).toBe(3);
    expect(shipped.results.services[0]?.trouble).toMatch(
      /the image localhost:1\/no\/such\/image:1 is not there/,
    );
  });
});
