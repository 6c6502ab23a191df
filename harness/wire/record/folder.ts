import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf } from '../../base/thrown.ts';

/**
 * Makes a folder and all that lies above it, step by step: Node's own recursive mkdir tries for ever where a folder
 * is there and yet says that nothing can be made in it because it is not (ENOENT, as /proc does). Links above it are
 * followed. Throws the system's error, whose `path` is the step that could not be made.
 */
export function makeFolders(folder: string): void {
  const missing = [resolve(folder)];
  for (let above = dirname(resolve(folder)); !existsSync(above); above = dirname(above))
    missing.unshift(above);
  for (const step of missing) makeFolder(step);
}

/** Another run, at work in the same place, may make it first. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST' || !statSync(folder).isDirectory()) throw cause;
  }
}

/** Makes a file beside its place and then renames it: it is there whole or not at all, and a link there is replaced. */
export function intoPlace(path: string, make: (temporary: string) => void): void {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    make(temporary);
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw cause;
  }
}
