import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { listening } from '../../base/loopback.ts';
import { Secret } from '../../base/secret.ts';
import type { CommandProvider } from '../../config/provider/kind.ts';
import { runs } from '../fixtures/processes.ts';
import type { RunningProvider } from '../provider.ts';
import { startCommand } from './command.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');
const SECRET = 'example-secret-for-tests';
const ANY_PORT = '$' + '{PORT}';

function command(more: Partial<CommandProvider> = {}, fault = ''): CommandProvider {
  return {
    kind: 'command',
    freshForEachSuite: false,
    run: [process.execPath, 'small-server.ts'],
    cwd: FIXTURES,
    env: { FAULT: [fault], SECRET: ['the secret ', new Secret('SECRET', SECRET)] },
    url: `http://127.0.0.1:${ANY_PORT}`,
    ready: null,
    timeoutMs: 20_000,
    ...more,
  };
}

const started: RunningProvider[] = [];
afterAll(() => Promise.all(started.map((provider) => provider.stop())));

async function start(
  config: CommandProvider,
  signal = new AbortController().signal,
): Promise<RunningProvider> {
  const provider = await startCommand(config, (text) => text.replaceAll(SECRET, '[redacted:SECRET]'), {
    runId: 'run-for-tests',
    signal,
    say: () => undefined,
  });
  started.push(provider);
  return provider;
}

const failing = (config: CommandProvider, signal?: AbortSignal): Promise<string> =>
  start(config, signal).then(
    () => 'it started',
    (error: unknown) => String(error),
  );

/** Ids of the processes that a provider has said it is made of. */
const processes = (provider: RunningProvider): readonly number[] =>
  [...(provider.logs?.() ?? '').matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid));

describe.concurrent('a provider that is a command', () => {
  it('is given a free port, and answers there', async () => {
    const [one, other] = await Promise.all([start(command()), start(command())]);
    expect(one.url).not.toBe(other.url);
    expect((await fetch(`${one.url}/v1/resources`)).status).toBe(200);
    expect(one.kind).toBe('command');
    expect(await one.ending?.(0)).toBeNull();
  });

  it('may be a line for the shell', async () => {
    const provider = await start(command({ run: `"${process.execPath}" small-server.ts # on $PORT` }));
    expect((await fetch(provider.url)).status).toBe(200);
    await provider.stop();
    expect(processes(provider).filter(runs)).toEqual([]);
  });

  it('is ready by a path, or by what it writes', async () => {
    const byPath = await start(command({ ready: { kind: 'http', path: '/healthz', status: 204 } }));
    const byLine = await start(command({ ready: { kind: 'log', text: 'listening', times: 1 } }));
    expect(byPath.logs?.()).toContain('listening');
    expect((await fetch(byLine.url)).status).toBe(200);
  });

  it('is ready by a path in HTTP/2, if it speaks nothing else', async () => {
    const provider = await start(command({ ready: { kind: 'http', path: '/healthz', status: 204 } }, 'h2'));
    expect(provider.logs?.()).toContain('listening');
  });

  it('writes: all of it is kept, but for its secrets', async () => {
    const provider = await start(command());
    expect(provider.logs?.()).toMatch(
      /^started with the secret \[redacted:SECRET\], process \d+\nlistening$/,
    );
  });

  it.for(['children', 'leavers'])('is ended with all that it started: %s', async (fault, { expect }) => {
    const provider = await start(command({}, fault));
    await expect.poll(() => processes(provider)).toHaveLength(2);
    await provider.stop();
    await expect.poll(() => processes(provider).filter(runs)).toEqual([]);
    await provider.stop();
  });

  it('is given what every program needs and what the config gives it, and none of the keys around it', async () => {
    vi.stubEnv('SOMEBODY_ELSES_KEY', 'example-key-of-somebody-else');
    const says = 'console.log(JSON.stringify(process.env)); setInterval(() => undefined, 1000)';
    const ready = { kind: 'log', text: '{', times: 1 } as const;
    const provider = await start(command({ run: [process.execPath, '--eval', says], ready }, 'none'));
    vi.unstubAllEnvs();
    const { PATH, FAULT, PORT, ...others } = JSON.parse(provider.logs?.() ?? '');
    expect([PATH, FAULT]).toEqual([process.env.PATH, 'none']);
    expect(PORT).toMatch(/^\d+$/);
    expect(others).not.toHaveProperty('SOMEBODY_ELSES_KEY');
  });

  it('is killed when it does not end by itself', async ({ expect }) => {
    const provider = await start(command({}, 'stubborn'));
    await provider.stop();
    expect(provider.logs?.()).toContain('not yet');
    await expect.poll(() => processes(provider).filter(runs)).toEqual([]);
  });

  it.for(['children', 'leavers'])(
    'is ended at once when the process is on its way out: %s',
    async (fault, { expect }) => {
      const provider = await start(command({}, fault));
      await expect.poll(() => processes(provider)).toHaveLength(2);
      provider.abandon?.();
      await expect.poll(() => processes(provider).filter(runs)).toEqual([]);
    },
  );

  it('exits at its start', async () => {
    expect(await failing(command({}, 'exit'))).toMatch(
      /the command exited with code 7 before it was ready; its last lines: started with the secret \[redacted:SECRET\], process \d+ \| the index is corrupt$/,
    );
  });

  it('is never ready', async () => {
    const ready = { kind: 'http', path: '/', status: 503 } as const;
    expect(await failing(command({ ready, timeoutMs: 15_000 }))).toMatch(
      /the command was not ready within 15 s: GET \/ was answered with 200; its last lines: /,
    );
  });

  it('never listens', async () => {
    expect(await failing(command({ timeoutMs: 1_000 }, 'deaf'))).toMatch(
      /not ready within 1 s: GET \/ was not answered: connect ECONNREFUSED/,
    );
  });

  it('never writes what is waited for', async () => {
    const ready = { kind: 'log', text: 'listening', times: 3 } as const;
    expect(await failing(command({ ready, timeoutMs: 3_000 }))).toMatch(
      /1 of 3 lines that it wrote held "listening"/,
    );
  });

  it('cannot be started', async () => {
    expect(await failing(command({ run: ['./no-such-program'] }))).toMatch(/could not be started: ENOENT/);
  });

  it('leaves everything to a child and ends: that is no provider', async () => {
    const message = await failing(command({ run: 'node -e "" ; exit 0' }));
    expect(message).toMatch(/exited with code 0 before it was ready; it wrote nothing/);
  });

  it('would be taken for another service that has its port', async () => {
    const other = createServer();
    const port = await listening(other);
    const message = await failing(command({ url: `http://127.0.0.1:${port}` }));
    other.close();
    expect(message).toMatch(/something listens at http:\/\/127\.0\.0\.1:\d+ already/);
  });

  it('dies: its ending is known', async ({ expect }) => {
    const provider = await start(command());
    await fetch(`${provider.url}/die`).catch(() => undefined);
    await expect
      .poll(() => provider.ending?.(0))
      .toMatch(/^the command exited with code 9; its last lines: .*listening$/);
    await provider.stop();
    expect(await provider.ending?.(0)).toBeNull();
  });

  it('is given up when the run is interrupted', async () => {
    const interruption = new AbortController();
    const message = failing(command({ timeoutMs: 60_000 }, 'deaf'), interruption.signal);
    setImmediate(() => interruption.abort('SIGINT'));
    expect(await message).toMatch(/its start was given up: SIGINT/);
  });
});
