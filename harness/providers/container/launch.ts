import { setTimeout as pause } from 'node:timers/promises';
import { GenericContainer, PullPolicy, type WaitStrategy } from 'testcontainers';
import { InconclusiveError } from '../../base/exit.ts';
import { revealed } from '../../base/secret.ts';
import { reasonLineOf } from '../../base/thrown.ts';
import type { ContainerConfig } from '../../config/provider/kind.ts';
import { type LogCapture, withLastLines } from '../log-capture.ts';
import { type Container, endingOf, followOutput, stateOf } from '../runtime/container-state.ts';
import { removeContainer } from '../runtime/leftovers.ts';
import { type Runtime, within } from '../runtime/runtime.ts';
import type { PresentImage } from './image.ts';

/** The part of a container among those of its start. */
export interface Role {
  /** Its name in messages: `the container`, `its companion cache`. */
  readonly called: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Name of the network that it joins; null for the default. */
  readonly network: string | null;
  /** Its names there. */
  readonly aliases: readonly string[];
  /** Port to publish; null if none. */
  readonly port: number | null;
}

/** A started container, ready or not. */
export interface Launched {
  readonly called: string;
  /** `http://host:port` of its published port; null if none. */
  readonly address: string | null;
  readonly logs: LogCapture;
  /** Resolves with how it ended, if it ends by itself. */
  readonly ended: Promise<string>;
  /** How it ended; null while it runs, and if unknown. */
  how(): Promise<string | null>;
  /** By its image's HEALTHCHECK: `starting`, `healthy`, `unhealthy`; null if it has none. */
  health(): Promise<string | null>;
  /** From now on its end is expected. */
  giveUp(): void;
}

/** Milliseconds to create and start it from a present image. */
const START_MS = 60_000;
/** Milliseconds for one look at its health, which is repeated. */
const LOOK_MS = 2_000;
/** Milliseconds for pending calls to settle after a start is given up. */
const SETTLE_MS = 2_000;

/**
 * Creates and starts a container with only the capabilities of its config and no way to gain privileges. It does not
 * wait until the container is ready: none of the client library's wait strategies always notices its end.
 *
 * @throws InconclusiveError when it does not start.
 */
export async function launch(
  { docker, host, podman }: Runtime,
  image: PresentImage,
  config: ContainerConfig,
  role: Role,
  logs: LogCapture,
  signal: AbortSignal,
): Promise<Launched> {
  const { called, port } = role;
  const created = Promise.withResolvers<Container>();
  const givenUp = new AbortController();
  const ended = created.promise.then((container) => endingOf(docker, container, called, givenUp.signal));

  const definition = new ProviderContainer(image, async (id) => {
    const container = docker.getContainer(id);
    if (givenUp.signal.aborted) {
      await removeContainer(docker, id);
      throw new InconclusiveError('its start was given up');
    }
    await followOutput(docker, container, logs);
    created.resolve(container);
  });
  define(definition, config, role, isLocal(host));
  if (podman) definition.bindExposed(image.exposedPorts);

  const starting = definition.start();
  const endedEarly = ended.then((how) => {
    throw new InconclusiveError(withLastLines(`${how} before it was ready`, logs));
  });
  try {
    const started = await within(
      Promise.race([starting, endedEarly]),
      START_MS,
      `${called} was not started`,
      signal,
    );
    const container = docker.getContainer(started.getId());
    return {
      called,
      address: port === null ? null : `http://${reachable(host)}:${started.getMappedPort(port)}`,
      logs,
      ended,
      how: async () => (await stateOf(docker, container, called))?.ending ?? null,
      health: async () => (await stateOf(docker, container, called, LOOK_MS))?.health ?? null,
      giveUp: () => givenUp.abort(),
    };
  } catch (error) {
    givenUp.abort();
    const known = await Promise.race([created.promise, pause(0, null)]);
    // The library polls the container until it is removed.
    if (known) await removeContainer(docker, known.id).catch(() => undefined);
    await Promise.race([starting.catch(() => undefined), pause(SETTLE_MS)]);
    if (error instanceof InconclusiveError) throw error;
    throw new InconclusiveError(`${called} could not be started: ${reasonLineOf(error)}`);
  }
}

function define(
  container: ProviderContainer,
  config: ContainerConfig,
  { labels, network, aliases, port }: Role,
  local: boolean,
): void {
  const { env, secrets, files, command, limits, capabilities } = config;
  container
    .withLabels(labels)
    .withEnvironment(Object.fromEntries(Object.entries(env).map(([name, text]) => [name, revealed(text)])))
    .withDroppedCapabilities('ALL')
    .withAddedCapabilities(...capabilities)
    .withSecurityOpt('no-new-privileges')
    .withResourcesQuota({
      ...(limits.memoryBytes === null ? {} : { memory: limits.memoryBytes / 1024 ** 3 }),
      ...(limits.cpus === null ? {} : { cpu: limits.cpus }),
    })
    .withCopyContentToContainer(
      // The file belongs to root; the provider's user must be able to read it.
      Object.entries(secrets).map(([target, secret]) => ({ target, content: secret.reveal(), mode: 0o444 })),
    )
    .withCopyFilesToContainer(Object.entries(files).map(([target, source]) => ({ target, source })));
  if (command !== null) container.withCommand([...command]);
  if (network !== null) container.withNetworkMode(network).withNetworkAliases(...aliases);
  if (port !== null) container.publish(port, local);
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '127.0.0.1';
}

/** As in a URL. A port published on 127.0.0.1 is not reachable at ::1, which `localhost` may mean. */
function reachable(host: string): string {
  if (isLocal(host)) return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Otherwise a provider with endless output fills the disk. */
const LOG_FILES = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } };

/** Readiness is awaited after the start, not during it. */
const AT_ONCE: WaitStrategy = {
  waitUntilReady: () => Promise.resolve(),
  withStartupTimeout: () => AT_ONCE,
  isStartupTimeoutSet: () => true,
  getStartupTimeout: () => 0,
};

/** Settings that the client library does not expose: the exact image, the loopback interface, the creation hook. */
class ProviderContainer extends GenericContainer {
  readonly #onCreated: (id: string) => Promise<void>;

  /** `onCreated` gets the id before the container starts. */
  constructor(image: PresentImage, onCreated: (id: string) => Promise<void>) {
    super(image.name);
    this.#onCreated = onCreated;
    this.withPullPolicy(PullPolicy.neverPull());
    // By content: the name may refer to another image by now.
    this.createOpts.Image = image.id;
    this.hostConfig.LogConfig = LOG_FILES;
    this.withWaitStrategy(AT_ONCE);
    // The library's reaper is a container from a public registry with access to the runtime; ours replaces it.
    this.withAutoCleanup(false);
  }

  /** `local`: reachable from this machine only. */
  publish(port: number, local: boolean): void {
    this.withExposedPorts(port);
    if (local) this.hostConfig.PortBindings = { [`${port}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: '0' }] };
  }

  /**
   * Podman lists the exposed ports of an image among those to bind, and the client library waits for all of them. So
   * they are bound, on this machine only.
   */
  bindExposed(ports: readonly string[]): void {
    const bound = this.hostConfig.PortBindings ?? {};
    const others = ports.filter((port) => !(port in bound));
    this.hostConfig.PortBindings = {
      ...bound,
      ...Object.fromEntries(others.map((port) => [port, [{ HostIp: '127.0.0.1', HostPort: '0' }]])),
    };
  }

  protected override async containerCreated(id: string): Promise<void> {
    await this.#onCreated(id);
  }
}
