import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { InconclusiveError } from '../../base/exit.ts';
import { reasonOf } from '../../base/thrown.ts';
import type {
  Companion,
  ContainerConfig,
  ContainerProvider,
  ImageSource,
} from '../../config/provider/kind.ts';
import { createLogCapture, explained, type LogCapture, withLastLines } from '../log-capture.ts';
import { handOver } from '../process/reaper.ts';
import { type RunningProvider, StartFailure, type StartOptions } from '../provider.ts';
import { awaitReady, httpProbe, logProbe, type ProbeOptions, type ReadinessProbe } from '../readiness.ts';
import { labelsOf, removeStart, sweep, sweepOnce } from '../runtime/leftovers.ts';
import { openRuntime, REQUEST_MS, type Runtime, within } from '../runtime/runtime.ts';
import { type PresentImage, presentImage } from './image.ts';
import { type Launched, launch, type Role } from './launch.ts';

/** The judged image stays the same, even if its name or its build folder changes. */
type ImagesAtHand = Map<ImageSource, PresentImage>;

/**
 * Starts a provider's companions and then its container, and waits until it is ready.
 *
 * @throws InconclusiveError when there is no container runtime, or one of the containers does not start, ends or is
 * not ready in time; all are removed then.
 */
export async function startContainer(
  service: string,
  config: ContainerProvider,
  redact: (text: string) => string,
  options: StartOptions,
  images: ImagesAtHand = new Map(),
): Promise<RunningProvider> {
  const runtime = await openRuntime();
  await sweepOnce(runtime, options.say);
  const group = new ContainerGroup(runtime, service, options, images);
  try {
    const { aliases, port, companions } = config;
    if (companions.length + aliases.length > 0) await group.openNetwork();
    for (const companion of companions) await startCompanion(group, companion, options);
    const { launched, image } = await group.start(config, { called: 'the container', aliases, port });
    const url = `${launched.address}${config.path}`;
    await group.ready(launched, config.timeoutMs, providerProbe(runtime, config, url, launched, options));
    return {
      kind: 'container',
      url,
      image: `${image.name} (${image.id})`,
      stop: () => group.stop(),
      again: () => startContainer(service, config, redact, options, images),
      logs: () => redact(group.logs()),
      async ending(patienceMs) {
        const ending = await group.ending(patienceMs);
        return ending === null ? null : redact(ending);
      },
    };
  } catch (error) {
    await group.stop();
    throw error instanceof InconclusiveError
      ? new StartFailure(redact(error.message), redact(group.logs()))
      : error;
  }
}

async function startCompanion(
  group: ContainerGroup,
  companion: Companion,
  options: StartOptions,
): Promise<void> {
  const { name, port, timeoutMs } = companion;
  const called = `its companion ${name}`;
  const { launched, image } = await group.start(companion, { called, aliases: [name], port });
  await group.ready(launched, timeoutMs, companionProbe(group.runtime, companion, image, launched, options));
}

/** The containers of one start and the network that they share: started one by one, ended together. */
class ContainerGroup {
  readonly runtime: Runtime;
  readonly #service: string;
  readonly #options: StartOptions;
  readonly #images: ImagesAtHand;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #release: () => void;
  readonly #running: Launched[] = [];
  readonly #outputs: { readonly called: string; readonly logs: LogCapture }[] = [];
  readonly #startId = randomUUID();
  /** Its name; null if none. */
  #network: string | null = null;
  #stopping: Promise<void> | null = null;

  constructor(runtime: Runtime, service: string, options: StartOptions, images: ImagesAtHand) {
    this.runtime = runtime;
    this.#service = service;
    this.#options = options;
    this.#images = images;
    this.#labels = labelsOf({ runId: options.runId, startId: this.#startId, service });
    this.#release = handOver({ kind: 'containers', startId: this.#startId });
  }

  async openNetwork(): Promise<void> {
    const name = `conform-${this.#startId}`;
    await createNetwork(this.runtime, name, this.#labels);
    this.#network = name;
  }

  async start(
    config: ContainerConfig,
    role: Pick<Role, 'called' | 'aliases' | 'port'>,
  ): Promise<{ readonly launched: Launched; readonly image: PresentImage }> {
    const { signal, say } = this.#options;
    const purpose = [this.#service, ...role.aliases].join('-');
    const image =
      this.#images.get(config.image) ??
      (await presentImage(this.runtime, config.image, purpose, this.#options));
    this.#images.set(config.image, image);
    if (config.ready?.kind === 'health' && !image.hasHealthCheck) {
      const hint =
        this.runtime.podman && config.image.kind === 'build'
          ? ' (Podman leaves it out of what it builds)'
          : '';
      throw new InconclusiveError(
        `the image ${image.name} has no HEALTHCHECK${hint}: use ready.http or ready.log`,
      );
    }
    say(`starting ${role.called} from ${image.name}`);
    const place = { ...role, labels: this.#labels, network: this.#network };
    const logs = createLogCapture();
    this.#outputs.push({ called: role.called, logs });
    const launched = await launch(this.runtime, image, config, place, logs, signal);
    this.#running.push(launched);
    return { launched, image };
  }

  async ready({ called, ended, logs }: Launched, timeoutMs: number, probe: ReadinessProbe): Promise<void> {
    try {
      await awaitReady({ called, probe, ended, timeoutMs, signal: this.#options.signal });
    } catch (error) {
      throw explained(error, logs);
    }
  }

  /** The first container that ended by itself. */
  async ending(patienceMs: number): Promise<string | null> {
    if (this.#stopping !== null) return null;
    await Promise.race([...this.#running.map(({ ended }) => ended), pause(patienceMs)]);
    const endings = await Promise.all(
      this.#running.map(async ({ how, logs }) => ({ how: await how(), logs })),
    );
    const [first] = endings.flatMap(({ how, logs }) => (how === null ? [] : [withLastLines(how, logs)]));
    return this.#stopping === null ? (first ?? null) : null;
  }

  /** Output of each container, under its name if there are several. */
  logs(): string {
    const [only, ...others] = this.#outputs;
    if (only !== undefined && others.length === 0) return only.logs.text();
    return this.#outputs.map(({ called, logs }) => `== ${called}\n${logs.text()}\n`).join('\n');
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** By label, so that a container that is still being created is found too. */
  async #stop(): Promise<void> {
    for (const launched of this.#running) launched.giveUp();
    // A container that a killed run had requested may have appeared after this run began.
    const swept = sweep(this.runtime).catch(() => undefined);
    try {
      await removeStart(this.runtime, this.#startId);
      this.#release();
    } catch {
      // The reaper, or the next run, removes the rest.
    }
    await swept;
  }
}
/** @throws InconclusiveError when the runtime does not create it. */
async function createNetwork(
  { client }: Runtime,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const creating = client.network.create({ Name: name, Driver: 'bridge', Labels: { ...labels } });
  try {
    await within(creating, REQUEST_MS, 'it was not created');
  } catch (error) {
    const reason = reasonOf(error);
    throw new InconclusiveError(`no network for the containers: ${reason.trim()}`);
  }
}

/** Without `ready:` a provider is ready when it answers at all. A published port is open before the provider listens. */
export function providerProbe(
  runtime: Runtime,
  { ready, port }: ContainerProvider,
  url: string,
  launched: Launched,
  options: ProbeOptions,
): ReadinessProbe {
  switch (ready?.kind) {
    case undefined:
      return listening(port, httpProbe(`${url}/`, 'any', options));
    case 'http':
      return listening(port, httpProbe(`${url}${ready.path}`, ready.status, options));
    case 'log':
      return logProbe(ready.text, ready.times, launched.logs);
    case 'health':
      return healthProbe(runtime, launched);
  }
}

/** Without `ready:` a companion is ready when its image's health check says so; without one, when it runs. */
export function companionProbe(
  runtime: Runtime,
  { ready, port }: Companion,
  image: PresentImage,
  launched: Launched,
  options: ProbeOptions,
): ReadinessProbe {
  switch (ready?.kind) {
    case undefined:
      return image.hasHealthCheck ? healthProbe(runtime, launched) : async () => null;
    case 'http':
      return listening(port, httpProbe(`${launched.address}${ready.path}`, ready.status, options));
    case 'log':
      return logProbe(ready.text, ready.times, launched.logs);
    case 'health':
      return healthProbe(runtime, launched);
  }
}

function listening(port: number | null, probe: ReadinessProbe): ReadinessProbe {
  return async (signal) => {
    const seen = await probe(signal);
    if (seen === null || !seen.includes('not answered')) return seen;
    return `${seen} (does it listen on port ${port}, on every interface of its container?)`;
  };
}

function healthProbe({ podman }: Runtime, { health }: Launched): ReadinessProbe {
  return async () => {
    const status = await health();
    if (status === 'healthy') return null;
    const hint = podman
      ? ' (Podman runs health checks only where systemd is: use ready.http or ready.log)'
      : '';
    return `its health check says ${status ?? 'nothing'}${hint}`;
  };
}
