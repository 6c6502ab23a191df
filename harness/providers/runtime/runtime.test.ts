import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../base/fixtures/folder.ts';
import { freePort } from '../../base/loopback.ts';
import { ask, endpoints, publishedHost, type RuntimeEndpoint } from './endpoint.ts';
import { openRuntime } from './runtime.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

async function listening(server: Server): Promise<string> {
  const path = join(temporaryFolder(), 'runtime.sock');
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

const answering = (status: number, body: string, fields: Readonly<Record<string, string>> = {}) =>
  listening(
    createHttpServer((_request, response) => {
      response.writeHead(status, fields).end(body);
    }),
  );

const at = (path: string): RuntimeEndpoint => ({ name: path, address: { socketPath: path } });

async function opening(dockerHost: string): Promise<string> {
  vi.stubEnv('DOCKER_HOST', dockerHost);
  return openRuntime().then(
    () => 'opened',
    (error: unknown) => String(error),
  );
}

describe('no container runtime', () => {
  it('where DOCKER_HOST names a socket that is not there: no other one is taken instead', async () => {
    expect(await opening('unix:///no/such.sock')).toBe(
      'InconclusiveError: no container runtime: there is no socket /no/such.sock (named by DOCKER_HOST)',
    );
  });

  it('where nobody listens', async () => {
    expect(await opening(`tcp://127.0.0.1:${await freePort()}`)).toMatch(
      /no container runtime: no answer at 127\.0\.0\.1:\d+ \(named by DOCKER_HOST\): ECONNREFUSED/,
    );
  });

  it('where DOCKER_HOST is nothing that can be used', async () => {
    expect(await opening('ssh://user:hush@host')).toMatch(
      /DOCKER_HOST names a ssh: address; only unix:, tcp:/,
    );
    expect(await opening('docker')).toMatch(/DOCKER_HOST names no address/);
  });

  it('where a socket takes connections and is silent', async () => {
    const path = await listening(createServer(() => undefined));
    expect(await opening(`unix://${path}`)).toMatch(/does not answer within 3 s$/);
  });

  it('where something else answers', async () => {
    expect(await ask(at(await answering(404, 'not found')), 3_000)).toMatchObject({
      reason: expect.stringMatching(/answers, but not as a container runtime does \(status 404\)$/),
    });
    expect(await ask(at(await answering(200, '<html>')), 3_000)).toHaveProperty('reason');
    expect(await ask(at(await answering(200, 'x'.repeat(1_000_000))), 3_000)).toHaveProperty('reason');
  });
});

describe('the host of published ports', () => {
  const id = 'a'.repeat(64);
  const mounts = `1 2 0:1 /var/lib/docker/containers/${id}/hosts /etc/hosts rw - ext4 /dev/sda rw`;
  const inside = async (container: object) =>
    publishedHost({ socketPath: await answering(200, JSON.stringify(container)) }, mounts);
  const networks = { bridge: { Gateway: '172.17.0.1' } };

  it('is this machine, for a process that is in no container', async () => {
    expect(await publishedHost({ socketPath: '/no/such.sock' }, '1 2 0:1 / /proc rw - proc proc rw')).toBe(
      '127.0.0.1',
    );
  });

  it('is the gateway, for a process in a container with a network of its own', async () => {
    expect(
      await inside({ HostConfig: { NetworkMode: 'default' }, NetworkSettings: { Networks: networks } }),
    ).toBe('172.17.0.1');
  });

  it('is this machine, for a process in a container on the network of its machine', async () => {
    expect(
      await inside({ HostConfig: { NetworkMode: 'host' }, NetworkSettings: { Networks: networks } }),
    ).toBe('127.0.0.1');
  });

  it('is this machine, for a process in a container of another runtime', async () => {
    const other = await answering(404, '{"message":"No such container"}');
    expect(await publishedHost({ socketPath: other }, mounts)).toBe('127.0.0.1');
  });
});

describe('where a container runtime may be', () => {
  it('is where DOCKER_HOST says', () => {
    const address = (named: string) => endpoints({ DOCKER_HOST: named })?.map((endpoint) => endpoint.address);
    expect(address('unix:///run/user/1000/podman/podman.sock')).toEqual([
      { socketPath: '/run/user/1000/podman/podman.sock' },
    ]);
    expect(address('tcp://build.example')).toEqual([{ host: 'build.example', port: 2375 }]);
    expect(address('tcp://[::1]:2376')).toEqual([{ host: '::1', port: 2376 }]);
  });

  it('is for the client library to find out over TLS', () => {
    expect(endpoints({ DOCKER_HOST: 'tcp://build.example:2376', DOCKER_TLS_VERIFY: '1' })).toBeNull();
  });

  it('is asked for a sign of life alone: all else takes a busy one seconds', async () => {
    const busy = createHttpServer(({ url }, response) => {
      if (url === '/_ping') response.writeHead(200, { 'Api-Version': '1.48' }).end('OK');
    });
    expect(await ask(at(await listening(busy)), 3_000)).toEqual({ podman: false });
  });

  it('tells Docker and Podman apart', async () => {
    const docker = await answering(200, 'OK', { 'Api-Version': '1.48' });
    const podman = await answering(200, 'OK', { 'Api-Version': '1.41', 'Libpod-API-Version': '4.3.1' });
    expect(await ask(at(docker), 3_000)).toEqual({ podman: false });
    expect(await ask(at(podman), 3_000)).toEqual({ podman: true });
  });
});
