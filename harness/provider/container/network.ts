import { InconclusiveError } from '../../exit.ts';
import { reasonOf } from '../../thrown.ts';
import type { Runtime } from './runtime/runtime.ts';
import { REQUEST_MS, within } from './runtime/within.ts';

/** @throws InconclusiveError when the runtime does not create it. */
export async function createNetwork(
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
