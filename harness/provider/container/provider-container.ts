import { GenericContainer, PullPolicy, type WaitStrategy } from 'testcontainers';
import type { PresentImage } from './image.ts';

/** Else a provider that writes without end fills the disk. */
const LOG_FILES = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } };

/** Readiness is waited for when the container is known, not on the way to it. */
const AT_ONCE: WaitStrategy = {
  waitUntilReady: () => Promise.resolve(),
  withStartupTimeout: () => AT_ONCE,
  isStartupTimeoutSet: () => true,
  getStartupTimeout: () => 0,
};

/** What the client library keeps to itself of a container: the exact image, the loopback interface, its creation. */
export class ProviderContainer extends GenericContainer {
  readonly #onCreated: (id: string) => Promise<void>;

  /** `onCreated` is told the id before the container starts. */
  constructor(image: PresentImage, onCreated: (id: string) => Promise<void>) {
    super(image.name);
    this.#onCreated = onCreated;
    this.withPullPolicy(PullPolicy.neverPull());
    // By its content: the name may mean another image by now.
    this.createOpts.Image = image.id;
    this.hostConfig.LogConfig = LOG_FILES;
    this.withWaitStrategy(AT_ONCE);
    // The reaper is a container from a public registry that gets hold of the runtime; the caretaker does its work.
    this.withAutoCleanup(false);
  }

  /** `local`: for this machine alone, not for its neighbours. */
  publish(port: number, local: boolean): void {
    this.withExposedPorts(port);
    if (local) this.hostConfig.PortBindings = { [`${port}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: '0' }] };
  }

  /**
   * Podman counts what an image exposes among the ports that are to be bound, and the client library waits until they
   * all are: so they are, for this machine alone.
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
