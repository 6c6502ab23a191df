import { isGone, ownLabel } from './harness-process.ts';
import type { Docker, Runtime } from './runtime.ts';
import { within } from './within.ts';

/** On everything that is created for a run. */
const HARNESS_LABEL = 'conform.harness';
const START_LABEL = 'conform.start';
const RUN_LABEL = 'conform.run';

/** For one request to the runtime. */
const REQUEST_MS = 10_000;

export function labelsOf(about: {
  readonly runId: string;
  readonly startId: string;
  readonly service: string;
}): Readonly<Record<string, string>> {
  return {
    [HARNESS_LABEL]: ownLabel(),
    [RUN_LABEL]: about.runId,
    [START_LABEL]: about.startId,
    'conform.service': about.service,
  };
}

interface Labelled {
  readonly id: string;
  readonly harness: string;
  readonly createdMs: number;
}

/** Removes the containers and networks of one start. Returns how many containers. */
export async function removeStart({ docker }: Runtime, startId: string): Promise<number> {
  const label = `${START_LABEL}=${startId}`;
  return removeAll(docker, await containersWith(docker, label), await networksWith(docker, label));
}

/** Removes what killed runs left behind. Returns how many containers. */
export async function sweep({ docker }: Runtime): Promise<number> {
  const now = Date.now();
  const left = ({ harness, createdMs }: Labelled) => isGone(harness, createdMs, now);
  const containers = (await containersWith(docker, HARNESS_LABEL)).filter(left);
  const networks = (await networksWith(docker, HARNESS_LABEL)).filter(left);
  return removeAll(docker, containers, networks);
}

let swept: Promise<void> | null = null;

/** Sweeps when this process first starts a container. What cannot be swept hinders nobody. */
export function sweepOnce(runtime: Runtime, say: (text: string) => void): Promise<void> {
  swept ??= sweep(runtime).then(
    (count) => {
      if (count > 0) say(`removed ${count} container${count === 1 ? '' : 's'} that a killed run left behind`);
    },
    (error: unknown) => say(`what killed runs left behind could not be removed: ${String(error)}`),
  );
  return swept;
}

async function containersWith(docker: Docker, label: string): Promise<readonly Labelled[]> {
  const listed = docker.listContainers({ all: true, filters: { label: [label] } });
  const containers = await within(listed, REQUEST_MS, 'the container runtime did not list its containers');
  return containers.map(({ Id, Labels, Created }) => ({
    id: Id,
    harness: Labels?.[HARNESS_LABEL] ?? '',
    createdMs: Created * 1_000,
  }));
}

async function networksWith(docker: Docker, label: string): Promise<readonly Labelled[]> {
  const listed = docker.listNetworks({ filters: { label: [label] } });
  const networks = await within(listed, REQUEST_MS, 'the container runtime did not list its networks');
  return networks.map(({ Id, Labels, Created }) => ({
    id: Id,
    harness: Labels?.[HARNESS_LABEL] ?? '',
    createdMs: Date.parse(Created),
  }));
}

async function removeAll(
  docker: Docker,
  containers: readonly Labelled[],
  networks: readonly Labelled[],
): Promise<number> {
  await Promise.all(containers.map(({ id }) => removeContainer(docker, id)));
  // A network goes only when nothing is on it any more.
  await Promise.all(networks.map(({ id }) => removeNetwork(docker, id)));
  return containers.length;
}

/** Ends and removes it, with its anonymous volumes. @throws when it is still there. */
export async function removeContainer(docker: Docker, id: string): Promise<void> {
  const removed = docker.getContainer(id).remove({ force: true, v: true });
  await within(unlessGone(removed), REQUEST_MS, `the container ${id.slice(0, 12)} was not removed`);
}

async function removeNetwork(docker: Docker, id: string): Promise<void> {
  const removed = docker.getNetwork(id).remove();
  await within(unlessGone(removed), REQUEST_MS, `the network ${id.slice(0, 12)} was not removed`);
}

/** 404: it is not there; 409: somebody else is removing it. */
async function unlessGone(removed: Promise<unknown>): Promise<void> {
  try {
    await removed;
  } catch (error) {
    const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
    if (status !== 404 && status !== 409) throw error;
  }
}
