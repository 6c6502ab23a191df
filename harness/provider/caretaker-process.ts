import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { Instruction, Ward } from './caretaker.ts';
import { endGroup } from './process-group.ts';

/** The program of the caretaker: see `caretaker.ts`. */

/** What a group may take to end when it is asked to. */
const GRACE_MS = 1_000;
const LATE_MS = 1_500;
/** A runtime that does not answer is not waited for. */
const PATIENCE_MS = 20_000;

const wards = new Map<string, Ward>();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const { keep, release } = JSON.parse(line) as Instruction;
  if (keep) wards.set(JSON.stringify(keep), keep);
  if (release) wards.delete(JSON.stringify(release));
}

setTimeout(() => process.exit(1), PATIENCE_MS).unref();
await Promise.allSettled([...wards.values()].map(end));
process.exit();

async function end(ward: Ward): Promise<void> {
  if (ward.kind === 'group') return endGroup(ward.group, GRACE_MS);
  const { openRuntime } = await import('./container/runtime.ts');
  const { removeStart } = await import('./container/leftovers.ts');
  const runtime = await openRuntime();
  await removeStart(runtime, ward.startId);
  // What the runtime was about to create when the harness ended.
  await pause(LATE_MS);
  await removeStart(runtime, ward.startId);
}
