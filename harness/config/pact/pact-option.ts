import { resolve } from 'node:path';
import type { LocatedEntry, LocatedMap } from '../yaml/located.ts';
import type { Origin } from '../yaml/origin.ts';
import { isUrl } from './pacts.ts';

/** The service with the pacts that the command line names in place of its configured files and broker. */
export function withPactOption(tree: LocatedMap, pacts: readonly string[]): LocatedMap {
  if (pacts.length === 0) return tree;
  const origin: Origin = { kind: 'option', option: '--pact' };
  const entry = (value: LocatedEntry['value']): LocatedEntry => ({ keyPlace: null, value });
  const items = pacts.map(
    (pact) => ({ kind: 'scalar', origin, value: isUrl(pact) ? pact : resolve(pact) }) as const,
  );
  const before = tree.entries.get('pacts')?.value;
  const block = new Map(before?.kind === 'map' ? before.entries : []);
  block.delete('broker');
  block.set('files', entry({ kind: 'list', origin, items }));
  return {
    ...tree,
    entries: new Map(tree.entries).set('pacts', entry({ kind: 'map', origin, entries: block })),
  };
}
