import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Deeper folders, and more files, are no folder of pacts. */
const MAX_DEPTH = 8;
const MAX_FILES = 1_000;

export type PactPaths =
  | { readonly paths: readonly string[]; readonly kind: 'file' | 'folder' }
  | { readonly fault: string };

/**
 * The file itself, or every `.json` file of a folder and of the folders below it, by name. Pact's own verifier does
 * not look into sub-folders, and says nothing.
 */
export async function pactPaths(path: string): Promise<PactPaths> {
  try {
    if (!(await stat(path)).isDirectory()) return { paths: [path], kind: 'file' };
    const paths: string[] = [];
    const fault = await gather(path, 0, paths);
    return fault === null ? { paths, kind: 'folder' } : { fault };
  } catch (error) {
    const { code = 'unknown error', path: at = path } = error as NodeJS.ErrnoException;
    if (at !== path) return { fault: `holds ${at}, which cannot be read (${code})` };
    return { fault: code === 'ENOENT' ? 'there is no such file or folder' : `cannot be read (${code})` };
  }
}

async function gather(folder: string, depth: number, paths: string[]): Promise<string | null> {
  if (depth > MAX_DEPTH) return `holds folders more than ${MAX_DEPTH} deep`;
  for (const name of (await readdir(folder)).toSorted()) {
    if (name.startsWith('.') || name === 'node_modules') continue;
    const path = join(folder, name);
    if ((await stat(path)).isDirectory()) {
      const fault = await gather(path, depth + 1, paths);
      if (fault !== null) return fault;
    } else if (name.toLowerCase().endsWith('.json')) {
      paths.push(path);
    }
    if (paths.length > MAX_FILES) return `holds more than ${MAX_FILES} files`;
  }
  return null;
}
