import { resolve } from 'node:path';
import { readSource } from '../document/files.ts';
import type { SourceFile } from '../document/source.ts';
import type { Draft } from './draft.ts';

/** The overlays of a config, by their paths relative to it. @throws UsageError at the place of one that cannot be read. */
export async function readOverlays(
  draft: Draft,
  overlays: readonly string[],
): Promise<readonly SourceFile[]> {
  const applied: SourceFile[] = [];
  for (const [index, overlay] of overlays.entries()) {
    const key = `overlays.${index}`;
    const found = await readSource(resolve(draft.scope.folder, overlay), draft.shownBeside(key, overlay));
    if ('fault' in found) throw draft.fileFault(key, `the overlay ${overlay}`, found.fault);
    applied.push(found.source);
  }
  return applied;
}
