import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../../base/exit.ts';
import { codeOf } from '../../base/thrown.ts';

/** Where the shipped contracts and services stand; shown relative to the working folder when below it. */
export const SHIPPED_CONFIG = shown(fileURLToPath(new URL('../../../config', import.meta.url)));

/** Where services and contracts are when nothing says so: `conformance`, or `config` where only that is there. */
export function usualFolder(): string {
  return existsSync('config/services') && !existsSync('conformance') ? 'config' : 'conformance';
}

/** A path for a person: relative to the working folder when below it. */
export function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short !== '' && !short.startsWith('..') && !isAbsolute(short) ? short : path;
}

/**
 * The YAML files of a folder by the name they carry; empty when there is no such folder.
 *
 * @throws UsageError when two files carry the same name, and when the folder cannot be read.
 */
export async function namedFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  let listed: readonly string[];
  try {
    listed = await readdir(folder);
  } catch (error) {
    const code = codeOf(error) ?? 'unknown error';
    if (code === 'ENOENT') return new Map();
    throw new UsageError(`cannot be read as a folder (${code})`, {
      place: { file: folder },
      remedy: 'name a folder with --config',
    });
  }
  const files = new Map<string, string>();
  for (const file of listed.toSorted()) {
    const [, name] = /^([^.].*)\.ya?ml$/.exec(file) ?? [];
    if (name === undefined) continue;
    const earlier = files.get(name);
    if (earlier !== undefined) {
      throw new UsageError(`${JSON.stringify(name)} is described by ${earlier} already`, {
        place: { file: join(folder, file) },
        remedy: 'keep one of the two files',
      });
    }
    files.set(name, join(folder, file));
  }
  return files;
}
