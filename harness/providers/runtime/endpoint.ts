import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../../base/json-text.ts';
import { request } from '../../base/node-http.ts';
import { codeOf } from '../../base/thrown.ts';

/** Where a container runtime listens. */
export type RuntimeAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number };

/** A place where a container runtime may listen. */
export interface RuntimeEndpoint {
  /** For messages. */
  readonly name: string;
  readonly address: RuntimeAddress;
}

/** The runtime there, or why there is none. */
export type RuntimeFound =
  | { readonly podman: boolean }
  | { readonly reason: string; readonly silent: boolean };

const DEFAULT_PORT = 2375;

/**
 * The endpoint that DOCKER_HOST names, else the usual sockets that exist. null for TLS, which only the client library
 * can open.
 *
 * @throws Error saying why DOCKER_HOST cannot be used.
 */
export function endpoints(env: NodeJS.ProcessEnv): readonly RuntimeEndpoint[] | null {
  const named = env.DOCKER_HOST ?? '';
  if (named === '') return usualSockets(env).filter(({ address }) => existsSync(address.socketPath));
  const url = URL.canParse(named) ? new URL(named) : null;
  switch (url?.protocol) {
    case 'unix:':
      return [socket(decodeURIComponent(url.pathname), BY_VARIABLE)];
    case 'tcp:':
    case 'http:': {
      if (env.DOCKER_TLS_VERIFY === '1') return null;
      const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      return [{ name: `${url.host}${BY_VARIABLE}`, address: { host, port } }];
    }
    case 'https:':
    case 'npipe:':
      return null;
    default:
      throw new Error(
        `DOCKER_HOST names ${url === null ? 'no address' : `a ${url.protocol} address`}; only unix:, tcp: and http: ones can be used`,
      );
  }
}

type RuntimeSocket = RuntimeEndpoint & { readonly address: { readonly socketPath: string } };

const BY_VARIABLE = ' (named by DOCKER_HOST)';

function socket(socketPath: string, namedBy = ''): RuntimeSocket {
  return { name: `${socketPath}${namedBy}`, address: { socketPath } };
}

/** In the order in which testcontainers tries them. */
function usualSockets({ XDG_RUNTIME_DIR }: NodeJS.ProcessEnv): readonly RuntimeSocket[] {
  return [
    '/var/run/docker.sock',
    ...(XDG_RUNTIME_DIR === undefined ? [] : [join(XDG_RUNTIME_DIR, 'docker.sock')]),
    join(homedir(), '.docker/run/docker.sock'),
    join(homedir(), '.docker/desktop/docker.sock'),
    `/run/user/${userInfo().uid}/docker.sock`,
  ].map((path) => socket(path));
}

/** Asks the endpoint whether it is a container runtime. Never rejects. */
export async function ask({ name, address }: RuntimeEndpoint, timeoutMs: number): Promise<RuntimeFound> {
  if ('socketPath' in address && !mayOpen(address.socketPath)) {
    const reason = existsSync(address.socketPath)
      ? `${name} may not be opened by this user (is the user in the group docker?)`
      : `there is no socket ${name}`;
    return { reason, silent: false };
  }
  try {
    // Not its version: for that a runtime starts other programs, which takes seconds on a busy machine.
    const { status, fields } = await get(address, '/_ping', timeoutMs);
    if (status !== 200 || fields['api-version'] === undefined) {
      return {
        reason: `${name} answers, but not as a container runtime does (status ${status})`,
        silent: false,
      };
    }
    return { podman: 'libpod-api-version' in fields };
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') {
      return { reason: `${name} does not answer within ${timeoutMs / 1_000} s`, silent: true };
    }
    const code = codeOf(error) ?? String(error);
    return { reason: `no answer at ${name}: ${code}`, silent: false };
  }
}

function mayOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const LOOPBACK = '127.0.0.1';
const REQUEST_MS = 2_000;

/**
 * The host at which this process reaches the published ports of a local runtime: the loopback interface, or the gateway
 * if this process is itself in a container of that runtime with its own network.
 */
export async function publishedHost(address: RuntimeAddress, mounts: string = ownMounts()): Promise<string> {
  const id = containerOf(mounts);
  if (id === null) return LOOPBACK;
  try {
    const { status, json } = await get(address, `/containers/${id}/json`, REQUEST_MS);
    return status === 200 ? (gatewayOf(json) ?? LOOPBACK) : LOOPBACK;
  } catch {
    // This runtime does not know the container.
    return LOOPBACK;
  }
}

/** Runtimes mount a container's /etc/hosts from a folder named by its id. */
function containerOf(mounts: string): string | null {
  return /\/(?:overlay-)?containers\/([0-9a-f]{64})\//.exec(mounts)?.[1] ?? null;
}

function ownMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}

interface Inspected {
  readonly HostConfig?: { readonly NetworkMode?: unknown };
  readonly NetworkSettings?: { readonly Networks?: Readonly<Record<string, { readonly Gateway?: unknown }>> };
}

/** null if it shares the network of its machine. */
function gatewayOf(json: unknown): string | null {
  if (!isJsonObject(json)) return null;
  const { HostConfig, NetworkSettings }: Inspected = json;
  if (HostConfig?.NetworkMode === 'host') return null;
  const gateways = Object.values(NetworkSettings?.Networks ?? {}).map(({ Gateway }) => Gateway);
  return gateways.find((gateway): gateway is string => typeof gateway === 'string' && gateway !== '') ?? null;
}

/** Octets read of an answer. */
const LONGEST_ANSWER = 1024 * 1024;

interface RuntimeAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly fields: IncomingHttpHeaders;
  /** undefined if the content is no JSON. */
  readonly json: unknown;
}

/**
 * GETs a path of a runtime's interface. Rejects with an AbortError when it takes longer than `timeoutMs`, and when
 * there is no answer.
 */
export async function get(address: RuntimeAddress, path: string, timeoutMs: number): Promise<RuntimeAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const asked = request({ ...address, path, agent: false, signal }, (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > LONGEST_ANSWER) response.destroy(new Error('its answer does not end'));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          fields: response.headers,
          json: parseJson(Buffer.concat(chunks).toString('utf8')),
        }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });
}
