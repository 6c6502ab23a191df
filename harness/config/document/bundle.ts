import { relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hasMembers, isJsonObject, type JsonObject } from '../../base/json-text.ts';
import { DIALECTS, type Dialect, dialectNamed, LATEST } from '../../wire/json/dialect.ts';
import type { SourceFiles } from './files.ts';
import { child, children, type DocumentNode, faultAt, refOf, type SourceFile } from './source.ts';

/** A schema with the files that it refers to as its parts. @throws UsageError for unknown or mixed dialects. */
export function bundled(files: SourceFiles): unknown {
  const dialect = namedDialect(child(files.root, '$schema'), LATEST);
  const bundle = new Bundle(files, dialect);
  const root = bundle.copy(files.root);
  const parts = bundle.parts();
  if (!isJsonObject(root) || parts.length === 0) return files.root.value;
  const place = dialect.lonelyRef ? 'definitions' : '$defs';
  const own = isJsonObject(root[place]) ? root[place] : {};
  const id = bundle.nameOf(files.root.file);
  return { ...root, [idOf(dialect)]: id, [place]: { ...own, ...Object.fromEntries(parts) } };
}

/** The dialect that a `$schema` names, else that of its surroundings. @throws UsageError for an unknown one. */
export function namedDialect(named: DocumentNode, around: Dialect): Dialect {
  if (named.value === undefined) return around;
  const dialect = dialectNamed(named.value);
  if (dialect !== undefined) return dialect;
  const known = DIALECTS.map(({ uri }) => uri).join(', ');
  const problem = `names a dialect of JSON Schema that is not known: ${JSON.stringify(named.value)}`;
  throw faultAt(named, problem, `name one of ${known}, or leave it out for ${LATEST.name}`);
}

function idOf({ name }: Dialect): 'id' | '$id' {
  return name === 'draft-04' ? 'id' : '$id';
}

class Bundle {
  readonly #files: SourceFiles;
  readonly #dialect: Dialect;
  /** The files that are referred to, each as it stands in the bundle. */
  readonly #parts = new Map<SourceFile, unknown>();

  constructor(files: SourceFiles, dialect: Dialect) {
    this.#files = files;
    this.#dialect = dialect;
  }

  parts(): readonly (readonly [name: string, part: unknown])[] {
    return [...this.#parts].map(([file, part]) => [this.nameOf(file), part] as const);
  }

  /** Its own identifier, or one made of where it lies. */
  nameOf(file: SourceFile): string {
    const own = hasMembers(file.root) ? file.root[idOf(this.#dialect)] : undefined;
    if (typeof own === 'string' && URL.canParse(own)) return own.replace(/#$/, '');
    const path = relative(this.#files.folder, file.path).split(sep).join('/');
    return pathToFileURL(`/${path}`).href.replace('file:', 'conform:');
  }

  copy(at: DocumentNode): unknown {
    if (Array.isArray(at.value)) return children(at).map(([, item]) => this.copy(item));
    if (!isJsonObject(at.value)) return at.value;
    const ref = refOf(at.value);
    const named = ref === null ? null : this.#elsewhere(ref, at);
    const copies = children(at).map(([name, inner]) => [name, this.copy(inner)] as const);
    return { ...Object.fromEntries(copies), ...(named !== null && { $ref: named }) };
  }

  /** What a reference into another file is in the bundle; null for one that is to stay as it is. */
  #elsewhere(ref: string, at: DocumentNode): string | null {
    const { file, fragment } = this.#files.elsewhere(ref, at) ?? {};
    if (file === undefined) return null;
    if (file !== this.#files.root.file && !this.#parts.has(file)) this.#add(file);
    return `${this.nameOf(file)}#${fragment}`;
  }

  #add(file: SourceFile): void {
    const root: DocumentNode = { file, pointer: [], value: file.root };
    const dialect = namedDialect(child(root, '$schema'), this.#dialect);
    if (dialect !== this.#dialect) {
      const problem = `is ${dialect.name}, and the schema that refers to it ${this.#dialect.name}`;
      throw faultAt(child(root, '$schema'), problem, 'write both in one dialect');
    }
    // Files may refer to each other.
    this.#parts.set(file, true);
    const { $schema: _, ...copy } = asMembers(this.copy(root));
    this.#parts.set(file, { ...copy, [idOf(dialect)]: this.nameOf(file) });
  }
}

/** A schema of true or false has no room for a name. */
function asMembers(schema: unknown): JsonObject {
  return isJsonObject(schema) ? schema : { allOf: [schema] };
}
