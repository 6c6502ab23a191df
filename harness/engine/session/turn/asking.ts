import { AsyncLocalStorage } from 'node:async_hooks';

const asking = new AsyncLocalStorage<string>();

/** Does what a probe of this name has to do; whatever is sent meanwhile is sent for it. */
export function onBehalfOf<T>(probe: string, send: () => Promise<T>): Promise<T> {
  return asking.run(probe, send);
}

/** Name of the probe for which something is sent here and now; null outside of all. */
export function askingProbe(): string | null {
  return asking.getStore() ?? null;
}
