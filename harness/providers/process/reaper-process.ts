import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { endGroup } from '../process-group.ts';
import type { Charge, Instruction } from './reaper.ts';

/** The program of the reaper: see `reaper.ts`. */

/** Milliseconds between the request to end and the kill. */
const GRACE_MS = 1_000;
/** Milliseconds in which a runtime may still create a requested container after the harness ended. */
const LATE_MS = 1_500;
const POLL_MS = 250;
/** Milliseconds after which the next run has to remove the rest. */
const PATIENCE_MS = 60_000;

const charges = new Map<string, Charge>();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const { keep, release } = JSON.parse(line) as Instruction;
  if (keep) charges.set(JSON.stringify(keep), keep);
  if (release) charges.delete(JSON.stringify(release));
}

setTimeout(() => process.exit(1), PATIENCE_MS).unref();
await Promise.allSettled([...charges.values()].map(end));
process.exit();

async function end(charge: Charge): Promise<void> {
  if (charge.kind === 'group') return endGroup(charge.group, GRACE_MS);
  const { openRuntime } = await import('../runtime/runtime.ts');
  const { removeStart } = await import('../runtime/leftovers.ts');
  for (let found = performance.now(); performance.now() - found < LATE_MS; await pause(POLL_MS)) {
    // A runtime that is busy or restarting is asked again.
    const count = await openRuntime()
      .then((runtime) => removeStart(runtime, charge.startId))
      .catch(() => null);
    if (count !== 0) found = performance.now();
  }
}
