import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../base/exit.ts';
import { readRegularFile, UnreadableFile } from '../../base/regular-file.ts';
import { codeOf } from '../../base/thrown.ts';
import { readJsonText } from '../../wire/json/text.ts';

/** Why a file could not be read, for a `UsageError` of the caller, who knows the place to name. */
export interface ReadFault {
  readonly problem: string;
  readonly remedy: string;
  /** Where in the file itself, where that is known; counted from 1. */
  readonly line?: number;
  readonly column?: number;
}

const REASONS: Readonly<Record<string, ReadFault>> = {
  ENOENT: { problem: 'there is no such file', remedy: 'create it, or correct the path' },
  ENOTDIR: { problem: 'there is no such file', remedy: 'correct the path: a part of it is not a folder' },
  EACCES: { problem: 'the file may not be read', remedy: 'give the user who runs this the right to read it' },
  EISDIR: { problem: 'is a folder, not a file', remedy: 'name a file' },
  ELOOP: { problem: 'is a symbolic link that leads to itself', remedy: 'name a file' },
};

/** Reads a whole UTF-8 file of at most `maxBytes`. Pipes and devices are refused: they could hang or never end. */
export async function readText(
  path: string,
  maxBytes: number,
): Promise<{ readonly text: string } | { readonly fault: ReadFault }> {
  try {
    const octets = readRegularFile(path, maxBytes);
    return isUtf8(octets) ? { text: octets.toString('utf8') } : { fault: notUtf8(octets) };
  } catch (error) {
    if (error instanceof UnreadableFile) return { fault: unreadable(error, maxBytes) };
    const code = codeOf(error) ?? 'unknown error';
    const unknown = { problem: `cannot be read (${code})`, remedy: 'name a readable file' };
    return { fault: REASONS[code] ?? unknown };
  }
}

function unreadable({ kind }: UnreadableFile, maxBytes: number): ReadFault {
  if (kind === 'large') return tooLarge(maxBytes);
  const problem = kind === 'folder' ? 'is a folder, not a file' : 'is not a regular file';
  return { problem, remedy: 'name a file' };
}

function tooLarge(maxBytes: number): ReadFault {
  return { problem: `is larger than ${maxBytes / 1024} KiB`, remedy: 'split it, or name the right file' };
}

function notUtf8(octets: Buffer): ReadFault {
  let line = 1;
  let start = 0;
  for (;;) {
    const end = octets.indexOf(0x0a, start);
    const row = octets.subarray(start, end === -1 ? octets.length : end);
    if (!isUtf8(row) || end === -1) {
      const column = Math.max(1, row.toString('utf8').indexOf('\uFFFD') + 1);
      return { problem: 'is not UTF-8 text', remedy: 'save the file as UTF-8', line, column };
    }
    line += 1;
    start = end + 1;
  }
}

export type JsonTextFault = Omit<ReadFault, 'remedy'>;

/** null when it is JSON. Quotes nothing of it: a file with a key may have been named by mistake. */
export function jsonFault(text: string): JsonTextFault | null {
  const octets = Buffer.from(text);
  const { faults, limit } = readJsonText(octets);
  const [fault] = faults;
  if (fault) return { problem: 'is not JSON', ...placeOf(octets, fault.offset) };
  return limit === null ? null : { problem: `cannot be read: ${limit}` };
}

function placeOf(octets: Buffer, offset: number): { readonly line: number; readonly column: number } {
  const lines = octets.toString('utf8', 0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

/** Where the shipped contracts and services stand; shown relative to the working folder when below it. */
export const SHIPPED_CONFIG = shown(fileURLToPath(new URL('../../../config', import.meta.url)));

/** The config of one service in one file. */
export const CONFIG_FILE = 'conform.yaml';

/**
 * The config when no option names one: the nearest `conform.yaml`, folder `conformance`, or `config` with services, in this
 * folder or in one above it, up to the root of the repository. `conformance` if there is none.
 */
export function usualConfig(): string {
  for (let folder = ''; ; folder = join('..', folder)) {
    if (existsSync(join(folder, CONFIG_FILE))) return join(folder, CONFIG_FILE);
    if (existsSync(join(folder, 'conformance'))) return join(folder, 'conformance');
    if (existsSync(join(folder, 'config/services'))) return join(folder, 'config');
    const isRoot = existsSync(join(folder, '.git')) || resolve(folder) === resolve(folder, '..');
    if (isRoot) return 'conformance';
  }
}

/** A path for a person: relative to the working folder when below it. */
export function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short !== '' && !short.startsWith('..') && !isAbsolute(short) ? short : path;
}

/** YAML files of a folder by name; empty without a folder. @throws UsageError if two have the same name. */
export async function namedFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  let listed: readonly string[];
  try {
    listed = await readdir(folder);
  } catch (error) {
    const code = codeOf(error) ?? 'unknown error';
    if (code === 'ENOENT') return new Map();
    const remedy = 'name a folder with --config';
    throw new UsageError(`cannot be read as a folder (${code})`, { place: { file: folder }, remedy });
  }
  const files = new Map<string, string>();
  for (const file of listed.toSorted()) {
    const [, name] = /^([^.].*)\.ya?ml$/.exec(file) ?? [];
    if (name === undefined) continue;
    const earlier = files.get(name);
    if (earlier !== undefined) {
      const detail = { place: { file: join(folder, file) }, remedy: 'keep one of the two files' };
      throw new UsageError(`${JSON.stringify(name)} is described by ${earlier} already`, detail);
    }
    files.set(name, join(folder, file));
  }
  return files;
}
