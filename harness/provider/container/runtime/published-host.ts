import { readFileSync } from 'node:fs';
import { isJsonObject } from '../../../json-text.ts';
import { type Address, get } from './runtime-request.ts';

const LOOPBACK = '127.0.0.1';
const REQUEST_MS = 2_000;

/**
 * The host on which this process reaches the ports that a runtime behind a local socket publishes: this machine's
 * loopback interface; the gateway when the process is itself in a container of that runtime, with a network of its own.
 */
export async function publishedHost(address: Address, mounts: string = ownMounts()): Promise<string> {
  const id = containerOf(mounts);
  if (id === null) return LOOPBACK;
  try {
    const { status, json } = await get(address, `/containers/${id}/json`, REQUEST_MS);
    return status === 200 ? (gatewayOf(json) ?? LOOPBACK) : LOOPBACK;
  } catch {
    // Whatever it is in, it is not known to this runtime.
    return LOOPBACK;
  }
}

/** Runtimes mount a container's own /etc/hosts and the like from a folder that has its id for a name. */
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

/** null when it shares the network of its machine. */
function gatewayOf(json: unknown): string | null {
  if (!isJsonObject(json)) return null;
  const { HostConfig, NetworkSettings }: Inspected = json;
  if (HostConfig?.NetworkMode === 'host') return null;
  const gateways = Object.values(NetworkSettings?.Networks ?? {}).map(({ Gateway }) => Gateway);
  return gateways.find((gateway): gateway is string => typeof gateway === 'string' && gateway !== '') ?? null;
}
