import { isMap, parseDocument, YAMLSeq } from 'yaml';
import type { KnownFailure } from './known-list.ts';

/** An entry as it is written. */
export type WrittenFailure = Omit<KnownFailure, 'place'> & { readonly environment?: string };

const AS_WRITTEN = { lineWidth: 0, flowCollectionPadding: false } as const;

/** What tells one entry from another. */
export type Named = Pick<WrittenFailure, 'check' | 'got'>;

/**
 * The text of a list with these entries in it. One that stands there for the same check and environment is written
 * anew; all others, the comments and the order stay.
 *
 * @param text of a list that has been read without a fault, or of a new one.
 */
export function withEntries(text: string, entries: readonly WrittenFailure[]): string {
  const document = parseDocument(text);
  const list = listOf(document);
  for (const entry of entries) {
    const node = document.createNode(entry);
    const at = list.items.findIndex((item) => {
      const written = plain(item);
      return written?.check === entry.check && written.environment === entry.environment;
    });
    const before = list.items[at];
    if (before === undefined) list.add(node);
    else {
      if (isMap(before)) node.commentBefore = before.commentBefore ?? null;
      list.items[at] = node;
    }
  }
  return document.toString(AS_WRITTEN);
}

/** The text of a list without these entries, and how many of them stood there. */
export function withoutEntries(
  text: string,
  entries: readonly Named[],
): { readonly text: string; readonly removed: number } {
  const document = parseDocument(text);
  const list = listOf(document);
  const kept = list.items.filter((item) => {
    const written = plain(item);
    return !entries.some(
      ({ check, got }) => written?.check === check && JSON.stringify(written.got) === JSON.stringify(got),
    );
  });
  const removed = list.items.length - kept.length;
  list.items = kept;
  return { text: removed === 0 ? text : document.toString(AS_WRITTEN), removed };
}

function listOf(document: ReturnType<typeof parseDocument>): YAMLSeq {
  const list = document.get('known');
  if (list instanceof YAMLSeq && list.items.length > 0) return list;
  // What is empty is written `[]`, and grows as a block.
  const fresh = new YAMLSeq();
  document.set('known', fresh);
  return fresh;
}

function plain(item: unknown): Partial<WrittenFailure> | null {
  return isMap(item) ? (item.toJSON() as Partial<WrittenFailure>) : null;
}
