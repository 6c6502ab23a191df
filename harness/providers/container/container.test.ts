import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it, vi } from 'vitest';
import { InconclusiveError } from '../../base/exit.ts';
import { Secret } from '../../base/secret.ts';
import type { Companion, ContainerProvider } from '../../config/provider/kind.ts';
import { providerContext, REFUSING_SERVER } from '../fixtures/provider-image.ts';
import type { RunningProvider, StartOptions } from '../provider.ts';
import { stateOf } from '../runtime/container-state.ts';
import { removeContainer } from '../runtime/leftovers.ts';
import { openRuntime } from '../runtime/runtime.ts';
import { startContainer } from './container.ts';

const KEY = 'example-key-for-tests';
const RUN = `container-test-${process.pid}`;
const TAKE_ALL = 'const taken = []; for (;;) taken.push(Buffer.alloc(16 * 1024 ** 2, 1));';
/** For providers that never become ready: their program starts within this time on a busy machine too. */
const NEVER_READY_MS = 20_000;
const { image, none } = inject('containers');

describe.skipIf(none !== null)(
  `a provider in a container${none === null ? '' : ` (${none})`}`,
  { concurrent: true },
  () => {
    const started: RunningProvider[] = [];
    const folders: string[] = [];

    afterAll(async () => {
      await Promise.all(started.map((provider) => provider.stop()));
      expect(await leftOver()).toEqual([]);
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });

    /** The containers and networks of these tests. */
    async function leftOver(): Promise<readonly string[]> {
      const { docker } = await openRuntime();
      const filters = { label: [`conform.run=${RUN}`] };
      const containers = await docker.listContainers({ all: true, filters });
      const networks = await docker.listNetworks({ filters });
      return [
        ...containers.map(({ Names, Status }) => `${Names} ${Status}`),
        ...networks.map(({ Name }) => Name),
      ];
    }

    function provider(more: Partial<ContainerProvider> = {}): ContainerProvider {
      return {
        kind: 'container',
        image: { kind: 'image', name: image },
        env: {},
        secrets: { '/run/secrets/api-key': new Secret('SEARCH_API_KEY', KEY) },
        files: {},
        command: null,
        ready: null,
        timeoutMs: 120_000,
        limits: { memoryBytes: null, cpus: null },
        capabilities: [],
        port: 8080,
        path: '',
        aliases: [],
        companions: [],
        freshForEachSuite: false,
        ...more,
      };
    }

    const {
      kind: _kind,
      path: _path,
      aliases: _aliases,
      companions: _companions,
      freshForEachSuite: _fresh,
      ...plain
    } = provider();
    const companion = (more: Partial<Companion>): Companion => ({
      ...plain,
      image: { kind: 'image', name: image },
      name: 'index',
      port: null,
      ...more,
    });

    async function start(
      config: ContainerProvider,
      options: Partial<StartOptions> = {},
    ): Promise<RunningProvider> {
      const running = await startContainer(
        'search',
        config,
        (text) => text.replaceAll(KEY, '[redacted:SEARCH_API_KEY]'),
        {
          runId: RUN,
          signal: new AbortController().signal,
          say: () => undefined,
          ...options,
        },
      );
      started.push(running);
      return running;
    }

    const failing = (
      more: Partial<ContainerProvider>,
      options: Partial<StartOptions> = {},
    ): Promise<string> =>
      start(provider(more), options).then(
        () => 'it started',
        (error: unknown) => (error instanceof InconclusiveError ? error.message : String(error)),
      );

    const status = async ({ url }: RunningProvider, key = KEY): Promise<number> =>
      (await fetch(`${url}/v1/resources`, { headers: { Authorization: `Bearer ${key}` } })).status;

    async function inspected({ url }: RunningProvider) {
      const { docker } = await openRuntime();
      const all = await docker.listContainers({ filters: { label: [`conform.run=${RUN}`] } });
      const port = Number(new URL(url).port);
      const found = all.find(({ Ports }) => Ports.some(({ PublicPort }) => PublicPort === port));
      return docker.getContainer(found?.Id ?? '').inspect();
    }

    it('answers on a port of this machine alone, with the key that it was given as a file', async () => {
      const running = await start(provider());
      expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect([await status(running), await status(running, 'another-key')]).toEqual([200, 401]);
      expect(running.image).toMatch(/^conform-built\/fixture-provider-\d+:latest \(sha256:[0-9a-f]{64}\)$/);
      expect(await running.ending?.(0)).toBeNull();
      const { HostConfig } = await inspected(running);
      expect(HostConfig.PortBindings['8080/tcp']).toEqual([{ HostIp: '127.0.0.1', HostPort: '0' }]);
    });

    it('may do no more than it must, and shows its secret to nobody who inspects it', async () => {
      const running = await start(
        provider({
          limits: { memoryBytes: 256 * 1024 ** 2, cpus: 0.5 },
          capabilities: ['NET_BIND_SERVICE'],
          env: { PLAN: ['5/1000'] },
        }),
      );
      const found = await inspected(running);
      expect(found.HostConfig).toMatchObject({
        CapDrop: ['ALL'],
        CapAdd: ['NET_BIND_SERVICE'],
        SecurityOpt: ['no-new-privileges'],
        Memory: 256 * 1024 ** 2,
        NanoCpus: 5e8,
        Privileged: false,
      });
      expect(found.Config.Env).toContain('PLAN=5/1000');
      expect(JSON.stringify(found)).not.toContain(KEY);
    });

    it('keeps what it wrote, without its secrets', async () => {
      const running = await start(provider({ ready: { kind: 'log', text: 'listening on', times: 1 } }));
      await status(running);
      await running.stop();
      expect(running.logs?.()).toMatch(/^listening on 8080\nGET \/v1\/resources 200/);
      expect(running.logs?.()).not.toContain(KEY);
    });

    it('is built from a folder, without what .dockerignore names, and is ready when its health check says so', async () => {
      const probe = `fetch('http://127.0.0.1:8080/').then(() => process.exit(0), () => process.exit(1))`;
      const context = await providerContext(
        `HEALTHCHECK --interval=1s --timeout=2s CMD ["/usr/bin/node", "-e", ${JSON.stringify(probe)}]`,
      );
      folders.push(context);
      const build = { kind: 'build', context, dockerfile: 'Dockerfile', target: null, args: {} } as const;
      const running = await start(provider({ image: build, ready: { kind: 'health' } }));
      expect(await status(running)).toBe(200);
    });

    it('reaches its companions by their names, which start before it', async () => {
      const said: string[] = [];
      const ask = `
      const { status } = await fetch('http://index:8080/v1/resources');
      process.stdout.write('the index answers ' + status + '\\n');
      await import('/app/harness/providers/fixtures/image/serve.js');`;
      const running = await start(
        provider({
          command: ['--input-type=module', '--eval', ask],
          companions: [companion({ ready: { kind: 'log', text: 'listening', times: 1 } })],
        }),
        { say: (text) => said.push(text) },
      );
      expect(await status(running)).toBe(200);
      expect(running.logs?.()).toContain('the index answers 401');
      expect(said.filter((text) => text.startsWith('starting'))).toEqual([
        `starting its companion index from ${image}`,
        `starting the container from ${image}`,
      ]);
    });

    it('is given files, and is reached by its companions under its own names', async ({ expect }) => {
      const folder = mkdtempSync(join(tmpdir(), 'conform-files-'));
      folders.push(folder);
      writeFileSync(join(folder, 'synonyms.txt'), 'quick: fast\n');
      const read = `
      process.stdout.write(require('node:fs').readFileSync('/etc/search/synonyms.txt', 'utf8'));
      import('/app/harness/providers/fixtures/image/serve.js');`;
      const ask = `
      const asked = () => fetch('http://search-api:8080/').then(({ status }) => process.stdout.write('it answers ' + status + '\\n'));
      const again = () => asked().catch(() => setTimeout(again, 100));
      again();
      setInterval(() => undefined, 1_000);`;
      const running = await start(
        provider({
          files: { '/etc/search/synonyms.txt': join(folder, 'synonyms.txt') },
          command: ['--eval', read],
          aliases: ['search-api'],
          companions: [companion({ command: ['--eval', ask] })],
        }),
      );
      await expect.poll(() => running.logs?.() ?? '').toMatch(/^it answers 401$/m);
      expect(running.logs?.()).toMatch(/^quick: fast$/m);
    });

    it('is ended when it takes more memory than it may: says so', async () => {
      const limits = { memoryBytes: 128 * 1024 ** 2, cpus: null };
      expect(await failing({ command: ['--eval', TAKE_ALL], limits })).toMatch(
        /^the container exited with code 137, out of memory before it was ready/,
      );
    });

    it('is ended when it takes more memory than it may, and its runtime hears of that late: says so', async () => {
      const { docker } = await openRuntime();
      const HostConfig = { Memory: 128 * 1024 ** 2 };
      const container = await docker.createContainer({ Image: image, Cmd: ['--eval', TAKE_ALL], HostConfig });
      await container.start();
      await container.wait();
      const found = await container.inspect();
      const State = { ...found.State, OOMKilled: false };
      vi.spyOn(container, 'inspect').mockResolvedValue({ ...found, State });
      const state = await stateOf(docker, container, 'it');
      await removeContainer(docker, container.id);
      expect(state?.ending).toBe('it exited with code 137, out of memory');
    });

    it('is ended by somebody else: says nothing of memory', async () => {
      const { docker } = await openRuntime();
      const container = await docker.createContainer({
        Image: image,
        Cmd: ['--eval', 'setInterval(Date, 1)'],
      });
      await container.start();
      await container.kill();
      await container.wait();
      const state = await stateOf(docker, container, 'it');
      await removeContainer(docker, container.id);
      expect(state?.ending).toBe('it exited with code 137');
    });

    it('exits at its start: says so at once, with its code and what it wrote', async () => {
      const message = await failing({ env: { FAULT: ['exit'] } });
      expect(message).toBe(
        'the container exited with code 7 before it was ready; its last lines: ' +
          'cannot reach the index with the key [redacted:SEARCH_API_KEY]',
      );
    });

    it('exits before anybody could have looked', async () => {
      expect(await failing({ command: ['--version'] })).toBe(
        `the container exited with code 0 before it was ready; its last lines: v${process.versions.node}`,
      );
    });

    it('is never ready', async () => {
      const message = await failing({
        command: ['--eval', REFUSING_SERVER],
        ready: { kind: 'http', path: '/healthz', status: null },
        timeoutMs: NEVER_READY_MS,
      });
      expect(message).toMatch(
        /^the container was not ready within 20 s: GET \/healthz was answered with 401; its last lines: .*GET \/healthz 401/,
      );
    });

    it('listens on another port', async () => {
      expect(
        await failing({ command: ['--eval', REFUSING_SERVER], port: 9_999, timeoutMs: NEVER_READY_MS }),
      ).toMatch(
        /not ready within 20 s: GET \/ was not answered: .+ \(does it listen on port 9999, .*listening on 8080/,
      );
    });

    it('has no such image', async () => {
      const name = 'localhost:1/conform/no-such-image:1';
      expect(await failing({ image: { kind: 'image', name } })).toMatch(
        /^the image localhost:1\/conform\/no-such-image:1 is not there and could not be pulled: /,
      );
    });

    it('has no such program', async () => {
      expect(await failing({ command: ['no-such-file.ts'] })).toMatch(
        /^the container exited with code 1 before it was ready; its last lines: .*no-such-file\.ts/,
      );
    });

    it('cannot be built', async () => {
      const context = await providerContext('COPY no-such-folder/ /');
      folders.push(context);
      const build = { kind: 'build', context, dockerfile: 'Dockerfile', target: null, args: {} } as const;
      expect(await failing({ image: build })).toMatch(/^the image could not be built: .*no-such-folder/);
    });

    it('has no health check to wait for', async () => {
      expect(await failing({ ready: { kind: 'health' } })).toMatch(/has no HEALTHCHECK/);
    });

    it('needs a companion that does not start', async () => {
      const broken = companion({
        env: { FAULT: ['exit'] },
        ready: { kind: 'log', text: 'listening', times: 1 },
      });
      expect(await failing({ companions: [broken] })).toMatch(
        /^its companion index exited with code 7 before it was ready/,
      );
    });

    it('dies: its ending is known, with its code and last lines', async ({ expect }) => {
      const running = await start(
        provider({ env: { FAULT: ['die:2'] }, ready: { kind: 'log', text: 'listening', times: 1 } }),
      );
      await status(running);
      await status(running).catch(() => undefined);
      await expect
        .poll(() => running.ending?.(0))
        .toMatch(/^the container exited with code 9; its last lines: .*the index is corrupt/);
    });

    it('is given up when the run is interrupted', async () => {
      const interruption = new AbortController();
      const never = { kind: 'http', path: '/healthz', status: null } as const;
      const message = failing(
        { ready: never },
        {
          signal: interruption.signal,
          say: (text) => text.startsWith('starting') && interruption.abort('SIGINT'),
        },
      );
      expect(await message).toMatch(/its start was given up: SIGINT/);
    });

    it('writes without end: what is kept of it is bounded', async ({ expect }) => {
      const running = await start(provider({ env: { FAULT: ['flood'] } }));
      await expect.poll(() => running.logs?.() ?? '').toContain('lines left out');
      expect(await status(running)).toBe(200);
      expect(running.logs?.().length).toBeLessThan(5_000_000);
    });
  },
);
