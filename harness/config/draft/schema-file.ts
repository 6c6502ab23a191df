import { join, resolve } from 'node:path';
import { hasMembers } from '../../base/json-text.ts';
import { reasonOf } from '../../base/thrown.ts';
import { dialectOf, SchemaBook } from '../../wire/json/schema.ts';
import { bundled } from '../document/bundle.ts';
import { SourceFiles } from '../document/files.ts';
import { faultAt } from '../document/source.ts';
import { keyWithin } from '../yaml/located.ts';
import type { Draft } from './draft.ts';

/** Of a config: many operations may name the same file. */
const read = new WeakMap<Draft, Map<string, Promise<SourceFiles>>>();
/** Each schema is compiled once, however many places name it. */
const book = new SchemaBook();

/** A schema in a config or in a file that it names. @throws UsageError if it is unreadable or no schema. */
export async function readSchema(draft: Draft, key: string, named: unknown): Promise<unknown> {
  const files =
    typeof named === 'string' ? await schemaFile(draft, key, named) : await around(draft, key, named);
  const schema = bundled(files);
  try {
    book.compile(schema);
  } catch (error) {
    // Says better where it stands.
    if (hasMembers(error) && 'missingRef' in error) files.holdReferences();
    const { name } = dialectOf(schema);
    throw faultAt(files.root, `is not a JSON Schema (${name}): ${reasonOf(error)}`, 'correct the schema');
  }
  return schema;
}

async function schemaFile(draft: Draft, key: string, named: string): Promise<SourceFiles> {
  const known = read.get(draft) ?? new Map<string, Promise<SourceFiles>>();
  read.set(draft, known);
  const path = resolve(draft.scope.folder, named);
  const files = known.get(path) ?? opened(draft, key, named);
  known.set(path, files);
  return files;
}

async function opened(draft: Draft, key: string, named: string): Promise<SourceFiles> {
  const files = await SourceFiles.open(resolve(draft.scope.folder, named), draft.shownBeside(key, named));
  if (files instanceof SourceFiles) return files;
  throw draft.fileFault(key, `the schema file ${named}`, files.fault);
}

function around(draft: Draft, key: string, root: unknown): Promise<SourceFiles> {
  const { place } = draft.faultAt(key, '', '');
  const keyOf = (pointer: readonly string[]) => pointer.reduce(keyWithin, key);
  return SourceFiles.around({
    // It has the folder of the config, and no name there.
    path: join(draft.scope.folder, '\0'),
    shown: place?.file ?? key,
    root,
    keyOf,
    placeOf: (pointer) => draft.faultAt(keyOf(pointer), '', '').place ?? { file: key },
  });
}
