import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../../base/thrown.ts';
import { hasEnded, processStat } from '../process-group.ts';
import { type Docker, REQUEST_MS, type Runtime, within } from './runtime.ts';

/** A process among those of all machines that share a container runtime. */
interface HarnessProcess {
  readonly host: string;
  /** Of this start of the machine; '-' if unknown. */
  readonly boot: string;
  /** Process ids are valid only within it; '-' if unknown. */
  readonly namespace: string;
  readonly pid: number;
  /** Start time of the process: ids are reused. */
  readonly started: string;
}

/** Longer than any run: after it, a container whose harness is unknown counts as a leftover. */
const LONGEST_RUN_MS = 24 * 3_600_000;

/** The label of this process: `host/boot/namespace/pid/started`. */
export function ownLabel(): string {
  const { host, boot, namespace, pid, started } = describe(process.pid);
  return [host, boot, namespace, pid, started].join('/');
}

/** Whether the process of a label has ended; `createdMs` (Unix time) is when it set the label. */
export function isGone(label: string, createdMs: number, nowMs: number): boolean {
  const [host = '', boot = '', namespace = '', pid = '', started = ''] = label.split('/');
  if (!/^\d+$/.test(pid)) return false;
  const here = describe(Number(pid));
  if (host === here.host && boot !== here.boot) return true;
  if (host !== here.host || namespace !== here.namespace) return nowMs - createdMs > LONGEST_RUN_MS;
  return started === '-' ? !runs(Number(pid)) : started !== here.started;
}

function describe(pid: number): HarnessProcess {
  return {
    host: hostname(),
    boot: attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: attempt(() => readlinkSync('/proc/self/ns/pid')),
    pid,
    started: startOf(pid),
  };
}

function startOf(pid: number): string {
  const stat = processStat(pid);
  return stat === null || hasEnded(stat) ? '-' : stat.started;
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return '-';
  }
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** On everything that is created for a run. */
const HARNESS_LABEL = 'conform.harness';
const START_LABEL = 'conform.start';
const RUN_LABEL = 'conform.run';

/** Milliseconds in which another process may finish the same removal. */
const OTHERS_MS = 10_000;
const POLL_MS = 100;

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

/**
 * Removes the containers and networks of one start. Returns how many of both there were.
 *
 * @throws when some are still there.
 */
export async function removeStart({ docker }: Runtime, startId: string): Promise<number> {
  const label = `${START_LABEL}=${startId}`;
  const containers = await containersWith(docker, label);
  const networks = await networksWith(docker, label);
  await removeAll(docker, containers, networks);
  return containers.length + networks.length;
}

/**
 * Removes what killed runs left behind. Returns how many containers.
 *
 * @throws when some are still there.
 */
export async function sweep({ docker }: Runtime): Promise<number> {
  const now = Date.now();
  const left = ({ harness, createdMs }: Labelled) => isGone(harness, createdMs, now);
  const containers = (await containersWith(docker, HARNESS_LABEL)).filter(left);
  const networks = (await networksWith(docker, HARNESS_LABEL)).filter(left);
  await removeAll(docker, containers, networks);
  return containers.length;
}

let swept: Promise<void> | null = null;

/** Sweeps when this process first starts a container. A failure is only reported. */
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

/** Removes as much as possible, containers first: a network in use cannot be removed. */
async function removeAll(
  docker: Docker,
  containers: readonly Labelled[],
  networks: readonly Labelled[],
): Promise<void> {
  const removed = [
    ...(await Promise.allSettled(containers.map(({ id }) => removeContainer(docker, id)))),
    ...(await Promise.allSettled(networks.map(({ id }) => removeNetwork(docker, id)))),
  ];
  for (const each of removed) if (each.status === 'rejected') throw each.reason;
}

/** Ends and removes it with its anonymous volumes. @throws when it is still there. */
export function removeContainer(docker: Docker, id: string): Promise<void> {
  const remove = () => docker.getContainer(id).remove({ force: true, v: true });
  return untilGone(remove, `the container ${id.slice(0, 12)} was not removed`);
}

function removeNetwork(docker: Docker, id: string): Promise<void> {
  return untilGone(() => docker.getNetwork(id).remove(), `the network ${id.slice(0, 12)} was not removed`);
}

/** It is not there. */
const GONE = 404;
/**
 * Another run or the reaper is removing it (a container: 409) or a container on it (a network: 403). That may fail, so it
 * is asked again.
 */
const BEING_REMOVED: ReadonlySet<unknown> = new Set([403, 409]);

/** Asks for the removal until it is gone, by whatever process. */
async function untilGone(remove: () => Promise<unknown>, what: string): Promise<void> {
  for (const until = performance.now() + OTHERS_MS; ; ) {
    try {
      await within(remove(), REQUEST_MS, what);
      return;
    } catch (error) {
      const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
      if (status === GONE) return;
      if (!BEING_REMOVED.has(status) || performance.now() + POLL_MS > until) throw error;
      await pause(POLL_MS);
    }
  }
}
