import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, parseDocument, YAMLSeq } from 'yaml';
import { schemaLine } from '../written/first-service.ts';

/** An entry of a list as it is written. */
export type Entry = Readonly<Record<string, unknown>> & { readonly environment?: string };

const AS_WRITTEN = { lineWidth: 0, flowCollectionPadding: false } as const;

/** The file of a service's list in `FOLDER/` of a config folder, and what stands in it, or in a new one; the folder is made. */
export function keptFile(
  configDir: string,
  folder: string,
  service: string,
): { readonly file: string; readonly text: string } {
  const places = ['yml', 'yaml'].map((end) => join(configDir, folder, `${service}.${end}`));
  const there = places.find((place) => existsSync(place));
  if (there !== undefined) return { file: there, text: readFileSync(there, 'utf8') };
  mkdirSync(join(configDir, folder), { recursive: true });
  const head = schemaLine(configDir, folder, `${folder}.schema.json`);
  return { file: join(configDir, folder, `${service}.yaml`), text: `${head}\n${folder}: []\n` };
}

/**
 * The text of a list with these entries in it. One that stands there under the same name, its `key`, and for the same
 * environment is written anew; all others, the comments and the order stay.
 *
 * @param text of a list that has been read without a fault, or of a new one.
 */
export function withEntries(
  text: string,
  { folder, key }: { readonly folder: string; readonly key: string },
  entries: readonly Entry[],
): string {
  const document = parseDocument(text);
  const list = listOf(document, folder);
  for (const entry of entries) {
    const node = document.createNode(entry);
    const at = list.items.findIndex((item) => {
      const written = plain(item);
      return written?.[key] === entry[key] && written?.environment === entry.environment;
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

/** The text of a list without these entries, told by some of what they say, and how many of them stood there. */
export function withoutEntries(
  text: string,
  folder: string,
  entries: readonly Entry[],
): { readonly text: string; readonly removed: number } {
  const document = parseDocument(text);
  const list = listOf(document, folder);
  const kept = list.items.filter((item) => {
    const written = plain(item);
    return !entries.some((entry) =>
      Object.entries(entry).every(
        ([name, value]) => JSON.stringify(written?.[name]) === JSON.stringify(value),
      ),
    );
  });
  const removed = list.items.length - kept.length;
  list.items = kept;
  return { text: removed === 0 ? text : document.toString(AS_WRITTEN), removed };
}

function listOf(document: ReturnType<typeof parseDocument>, folder: string): YAMLSeq {
  const list = document.get(folder);
  if (list instanceof YAMLSeq && list.items.length > 0) return list;
  // What is empty is written `[]`, and grows as a block.
  const fresh = new YAMLSeq();
  document.set(folder, fresh);
  return fresh;
}

function plain(item: unknown): Entry | null {
  return isMap(item) ? (item.toJSON() as Entry) : null;
}
