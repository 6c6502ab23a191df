import { isJsonObject } from '../../../base/json-text.ts';
import { type JournalEvent, readEvent } from './events.ts';

/** Something that a run has created at a service, and the request that removes it. */
export type LeftBehind = Extract<JournalEvent, { readonly type: 'created' }>;

const TOLD_BY: readonly unknown[] = ['created', 'removed'] satisfies JournalEvent['type'][];

/** What is still there by these entries of a journal, in the order in which it was created. */
export function leftBehind(entries: readonly unknown[]): readonly LeftBehind[] {
  const left = new Map<string, LeftBehind>();
  for (const entry of entries) {
    // To hold all entries of a long journal against their schemas takes seconds.
    if (!isJsonObject(entry) || !TOLD_BY.includes(entry.type)) continue;
    const read = readEvent(entry);
    if (read.kind !== 'event') continue;
    const { event } = read;
    if (event.type === 'created') left.set(keyOf(event), event);
    if (event.type === 'removed') left.delete(keyOf(event));
  }
  return [...left.values()];
}

function keyOf({ service, method, target }: Pick<LeftBehind, 'service' | 'method' | 'target'>): string {
  return JSON.stringify([service, method, target]);
}

/** For the report, so that a person can remove it. */
export function stillThere({ method, target }: Pick<LeftBehind, 'method' | 'target'>, why: string): string {
  return `what this run created may still be there: ${method} ${target} ${why}`;
}
