import { createServer } from 'node:http';
import { connect, createServer as createRawServer, type Server } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../base/fixtures/folder.ts';
import type { RunningProvider } from './provider.ts';
import { startUnixSocket } from './unix-socket.ts';

let path: string;

beforeEach(() => {
  path = join(temporaryFolder(), 'api.sock');
});

async function listening<S extends Server>(server: S): Promise<S> {
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return server;
}

async function started(): Promise<RunningProvider> {
  const provider = await startUnixSocket({ kind: 'unixSocket', path });
  onTestFinished(() => provider.stop());
  return provider;
}

describe('a service behind a Unix domain socket', () => {
  it('is reached at a port of this machine', async () => {
    await listening(createServer((request, response) => response.end(`${request.method} ${request.url}`)));
    const { kind, url } = await started();
    const answers = await Promise.all(['/a', '/b'].map(async (at) => (await fetch(`${url}${at}`)).text()));
    expect([kind, ...answers]).toEqual(['unixSocket', 'GET /a', 'GET /b']);
  });

  it('has what it ends and what it breaks off told apart', async () => {
    await listening(
      createRawServer({ allowHalfOpen: true }, (socket) => {
        socket.on('data', (octets) => (octets.includes('break') ? socket.destroy() : socket.end('bye')));
      }),
    );
    const { url } = await started();
    const { port } = new URL(url);
    const say = (text: string) =>
      new Promise<string>((resolve) => {
        const client = connect(Number(port), '127.0.0.1', () => client.write(text));
        let heard = '';
        client.on('data', (octets) => {
          heard += octets;
        });
        client.on('error', () => undefined);
        client.on('close', () => resolve(heard));
      });
    expect([await say('end'), await say('break')]).toEqual(['bye', '']);
  });

  it('that nobody serves is told before anything is sent', async () => {
    await expect(started()).rejects.toThrow(`no service listens on the socket ${path}: ENOENT`);
  });

  it('that goes away is known to have ended, but not when it is stopped', async () => {
    const server = await listening(createServer((_, response) => response.end()));
    const running = await started();
    expect(await running.ending?.(0)).toBeNull();
    server.close();
    expect(await running.ending?.(2_000)).toMatch(/^no service listens on the socket .* any more: E/);
    await running.stop();
    expect(await running.ending?.(0)).toBeNull();
  });
});
