import type { ContainerRuntimeClient } from 'testcontainers';
import { InconclusiveError } from '../../base/exit.ts';
import { reasonOf } from '../../base/thrown.ts';
import { ask, endpoints, publishedHost, type RuntimeAddress } from './endpoint.ts';

export interface Runtime {
  readonly client: ContainerRuntimeClient;
  readonly docker: Docker;
  readonly podman: boolean;
  /** Where published ports are reached. */
  readonly host: string;
}

export type Docker = ContainerRuntimeClient['container']['dockerode'];

/** Milliseconds after which a silent runtime counts as none. */
const ANSWER_MS = 3_000;
/** Milliseconds for the client library to query a runtime that has answered: a busy one is slow. */
const ABOUT_MS = 30_000;

let opened: Promise<Runtime> | null = null;

/**
 * The container runtime of this machine, or the one that DOCKER_HOST names. It is asked before the client library, which
 * would wait for a silent one without end, and take another one if that of DOCKER_HOST does not work.
 *
 * @throws InconclusiveError beginning with `no container runtime: `, within about 3 s.
 */
export function openRuntime(): Promise<Runtime> {
  opened ??= find().catch((error: unknown) => {
    opened = null;
    const reason = reasonOf(error);
    throw new InconclusiveError(`no container runtime: ${reason}`, { cause: error });
  });
  return opened;
}

async function find(): Promise<Runtime> {
  const candidates = endpoints(process.env);
  let answering: { readonly address: RuntimeAddress; readonly podman: boolean } | null = null;
  const reasons: string[] = [];
  for (const endpoint of candidates ?? []) {
    const answer = await ask(endpoint, ANSWER_MS);
    if ('podman' in answer) {
      answering = { address: endpoint.address, podman: answer.podman };
      break;
    }
    reasons.push(answer.reason);
    // The library would ask it too, and wait.
    if (answer.silent) break;
  }
  if (answering === null && reasons.length > 0) throw new Error(reasons.join('; '));

  const host = answering && 'socketPath' in answering.address ? await publishedHost(answering.address) : null;
  const open = () => openClient(answering === null ? ANSWER_MS : ABOUT_MS);
  const client = await withHost(host, open).catch((error: Error) => {
    if (candidates?.length === 0) throw new Error(NONE);
    throw error;
  });
  return {
    client,
    docker: client.container.dockerode,
    podman: answering?.podman ?? false,
    host: client.info.containerRuntime.host,
  };
}

async function openClient(patienceMs: number): Promise<ContainerRuntimeClient> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  return within(getContainerRuntimeClient(), patienceMs, 'it does not answer');
}

/**
 * Gives the library the host of published ports. By itself it takes a file in the root folder as proof that it is in a
 * container, and then pulls an image from a public registry. A value set by the user has priority.
 */
async function withHost<T>(host: string | null, open: () => Promise<T>): Promise<T> {
  if (host === null || process.env[HOST_VARIABLE] !== undefined) return open();
  process.env[HOST_VARIABLE] = host;
  try {
    return await open();
  } finally {
    delete process.env[HOST_VARIABLE];
  }
}

const HOST_VARIABLE = 'TESTCONTAINERS_HOST_OVERRIDE';

const NONE =
  'DOCKER_HOST is not set and there is no socket at /var/run/docker.sock; start Docker or Podman, or name its socket in DOCKER_HOST';

/** Milliseconds for one request: a busy runtime, for example one that removes an image, is slow. */
export const REQUEST_MS = 30_000;

/**
 * What the promise yields, unless it takes longer than `ms` or the signal aborts: the client library has no way to
 * cancel. The promise is then ignored.
 *
 * @throws InconclusiveError `WHAT within 3 s`, and when the signal aborts.
 */
export async function within<T>(
  promise: Promise<T>,
  ms: number,
  what: string,
  signal?: AbortSignal,
): Promise<T> {
  promise.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new InconclusiveError(`${what} within ${ms / 1_000} s`)), ms);
        onAbort = () => reject(new InconclusiveError(`its start was given up: ${String(signal?.reason)}`));
        if (signal?.aborted) onAbort();
        else signal?.addEventListener('abort', onAbort, { once: true });
      }),
    ]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal?.removeEventListener('abort', onAbort);
  }
}
