import { realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { formatPlace, UsageError } from '../../base/exit.ts';
import { hasMembers, type JsonObject } from '../../base/json-text.ts';
import { tokenMember } from '../../wire/json/shape.ts';
import { percentDecoded } from '../../wire/request.ts';
import { type ReadFault, readText } from '../yaml/read-text.ts';
import { withOverlays } from './document-overlay.ts';
import type { DocumentRemark } from './source.ts';
import { children, type DocumentNode, faultAt, refOf, type SourceFile, sourceOf } from './source.ts';

/** Octets of one file, and of all files of a document together. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 4_096;
/** A reference to a reference to a reference … */
const MAX_REF_CHAIN = 32;

/** `shown`: the path in messages. @throws UsageError for other text than YAML or JSON, at its place. */
export async function readSource(
  path: string,
  shown: string,
): Promise<{ readonly source: SourceFile; readonly bytes: number } | { readonly fault: ReadFault }> {
  const read = await readText(path, MAX_FILE_BYTES);
  if ('fault' in read) return read;
  return { source: sourceOf(read.text, await realpath(path), shown), bytes: read.text.length };
}

/** A document and the files below its folder that it refers to. Sizes, counts and depths are bounded. */
export class SourceFiles {
  readonly root: DocumentNode;
  readonly folder: string;
  readonly #files: ReadonlyMap<string, SourceFile>;
  /** By the text of the reference and the folder it is relative to. */
  readonly #faults: ReadonlyMap<string, ReadFault>;

  private constructor(
    root: SourceFile,
    files: ReadonlyMap<string, SourceFile>,
    faults: ReadonlyMap<string, ReadFault>,
  ) {
    this.root = { file: root, pointer: [], value: root.root };
    this.folder = dirname(root.path);
    this.#files = files;
    this.#faults = faults;
  }

  /** `overlays`: applied to the document itself. @throws UsageError for other text than YAML or JSON, at its place. */
  static async open(
    path: string,
    shown: string,
    overlays: readonly SourceFile[] = [],
  ): Promise<SourceFiles | { readonly fault: ReadFault }> {
    const read = await readSource(path, shown);
    if ('fault' in read) return read;
    return SourceFiles.around(await withOverlays(read.source, overlays), read.bytes);
  }

  /** A document that is read already, with the files that it refers to. `bytes`: its size. */
  static async around(root: SourceFile, bytes = 0): Promise<SourceFiles> {
    const { shown } = root;
    const folder = dirname(root.path);
    const files = new Map([[root.path, root]]);
    const faults = new Map<string, ReadFault>();
    let total = bytes;
    for (const file of files.values()) {
      for (const name of filesNamedIn(file.root)) {
        const target = pathFrom(file, name);
        if (files.has(target) || faults.has(target)) continue;
        const found = await below(folder, target, name);
        if ('fault' in found) {
          faults.set(target, found.fault);
          continue;
        }
        total += found.text.length;
        if (files.size >= MAX_FILES || total > MAX_TOTAL_BYTES) {
          const problem = `refers to more than ${MAX_FILES} files or ${MAX_TOTAL_BYTES / 1024 / 1024} MiB`;
          const remedy = 'bundle only the needed parts into one document';
          throw new UsageError(problem, { place: { file: shown }, remedy });
        }
        const inner = join(dirname(shown), relative(folder, target));
        try {
          files.set(target, sourceOf(found.text, target, inner));
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
          const place = error.place ? `${formatPlace(error.place)}: ` : '';
          const remedy = error.remedy ?? 'correct it';
          faults.set(target, { problem: `${place}${error.problem}`, remedy });
        }
      }
    }
    return new SourceFiles(root, files, faults);
  }

  /** The value itself where it is a Reference Object, else the same. @throws UsageError for a reference to nothing. */
  dereferenced(at: DocumentNode): DocumentNode {
    let here = at;
    for (let step = 0; step < MAX_REF_CHAIN; step += 1) {
      const ref = refOf(here.value);
      if (ref === null) return here;
      here = this.target(ref, here);
    }
    const problem = 'refers from one reference to the next and never to anything';
    throw faultAt(at, problem, 'refer to the thing itself');
  }

  /** What a reference that stands at a place points at; itself possibly a reference. */
  target(ref: string, at: DocumentNode): DocumentNode {
    const hash = ref.indexOf('#');
    const name = hash === -1 ? ref : ref.slice(0, hash);
    const fragment = hash === -1 ? '' : ref.slice(hash + 1);
    const file = name === '' ? at.file : this.#named(name, ref, at);
    if (fragment !== '' && !fragment.startsWith('/'))
      throw faultAt(at, `the reference ${ref} names an anchor`, 'write a JSON Pointer: #/components/…');
    const pointer = fragment.split('/').slice(1).map(unescaped);
    let value = file.root;
    for (const token of pointer) {
      value = hasMembers(value) && Object.hasOwn(value, token) ? value[token] : undefined;
    }
    if (value === undefined) throw faultAt(at, `the reference ${ref} points at nothing`, 'correct it');
    return { file, pointer, value };
  }

  /** The other file that a reference leads into, and where there; null where it stays in its own, or leads to none. */
  elsewhere(ref: string, { file }: DocumentNode): { file: SourceFile; fragment: string } | null {
    const [name = '', fragment = ''] = ref.split('#', 2);
    const other = name === '' || REMOTE.test(name) ? undefined : this.#files.get(pathFrom(file, name));
    return other === undefined ? null : { file: other, fragment };
  }

  /** @throws UsageError for the first reference of all the files that leads to nothing. */
  holdReferences(): void {
    const visit = (at: DocumentNode): void => {
      const ref = refOf(at.value);
      // An anchor may stand anywhere.
      if (ref !== null && !/#[^/]/.test(ref)) this.target(ref, at);
      for (const [, inner] of children(at)) visit(inner);
    };
    for (const file of this.#files.values()) visit({ file, pointer: [], value: file.root });
  }

  /** Faults of syntax in the files that change nothing. */
  get remarks(): readonly DocumentRemark[] {
    return [...this.#files.values()].flatMap(({ remarks = [] }) => remarks);
  }

  /** One of the files has a member of one of these names. */
  mention(...names: readonly string[]): boolean {
    let found = false;
    for (const { root } of this.#files.values()) {
      eachObject(root, (node) => {
        found ||= names.some((name) => Object.hasOwn(node, name));
      });
    }
    return found;
  }

  #named(name: string, ref: string, at: DocumentNode): SourceFile {
    if (REMOTE.test(name)) {
      const problem = `the reference ${ref} is remote, and nothing is fetched`;
      throw faultAt(at, problem, 'save it beside the document');
    }
    const target = pathFrom(at.file, name);
    const file = this.#files.get(target);
    if (file !== undefined) return file;
    const unknown = { problem: 'there is no such file', remedy: 'correct it' };
    const { problem, remedy } = this.#faults.get(target) ?? unknown;
    throw faultAt(at, `the reference ${ref}: ${problem}`, remedy);
  }
}

const REMOTE = /^(?:[a-z][a-z0-9+.-]+:|\/\/)/i;

function pathFrom(file: SourceFile, name: string): string {
  return resolve(dirname(file.path), percentDecoded(name));
}

function unescaped(token: string): string {
  return tokenMember(percentDecoded(token));
}

async function below(
  folder: string,
  target: string,
  name: string,
): Promise<{ readonly text: string } | { readonly fault: ReadFault }> {
  const outside: ReadFault = {
    problem: 'lies outside the folder of the document',
    remedy: 'keep what belongs together in one folder',
  };
  if (!isBelow(folder, target)) return { fault: outside };
  const real = await realpath(target).catch(() => null);
  // A symbolic link must not lead out either.
  if (real !== null && !isBelow(folder, real)) return { fault: outside };
  const read = await readText(target, MAX_FILE_BYTES);
  return 'fault' in read ? { fault: { ...read.fault, problem: `${name}: ${read.fault.problem}` } } : read;
}

function isBelow(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function filesNamedIn(root: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  eachObject(root, (node) => {
    const name = refOf(node)?.split('#', 1)[0] ?? '';
    if (name !== '' && !REMOTE.test(name)) names.add(name);
  });
  return names;
}

/** The depth of a file is bounded. */
function eachObject(node: unknown, visit: (object: JsonObject) => void): void {
  if (!hasMembers(node)) return;
  visit(node);
  for (const value of Object.values(node)) eachObject(value, visit);
}
