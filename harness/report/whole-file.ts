import {
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, sep } from 'node:path';
import { HarnessError } from '../base/exit.ts';
import { codeOf, reasonOf } from '../base/thrown.ts';
import { intoPlace, makeFolder, makeFolders } from '../wire/record/journal.ts';
import type { ReportText } from './format.ts';

/** Files that are there whole or not at all, in folders that are what they seem. Everything is synchronous. */

/** Makes `folder` and everything between it and `root`. Below `root` a link is refused. */
export function ensureFolder(root: string, folder: string): void {
  attempt('make', root, () => makeFolders(root));
  let path = root;
  for (const step of relative(root, folder)
    .split(sep)
    .filter((part) => part !== '')) {
    path = join(path, step);
    if (!isFolder(path)) attempt('make', path, () => makeFolder(path));
  }
}

/** Whether there is a real folder; false for nothing. Throws HarnessError for anything else in its place. */
export function isFolder(path: string): boolean {
  const found = lookAt(path);
  if (found === null || found.isDirectory()) return found !== null;
  const what = found.isSymbolicLink() ? 'a symbolic link' : 'a file';
  throw new HarnessError(`cannot write reports below ${path}: it is ${what}, not a folder; remove it`);
}

/** Milliseconds to wait for another process; one that was killed meanwhile blocks others no longer. */
const LOCK_MS = 5_000;
const LOCK_STEP_MS = 20;

export function oneAtATime<T>(folder: string, act: () => T): T {
  const lock = join(folder, '.lock');
  for (let waitedMs = 0; !locked(lock) && waitedMs < LOCK_MS; waitedMs += LOCK_STEP_MS) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_STEP_MS);
  }
  try {
    return act();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function locked(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false;
    throw writeFault('make', lock, cause);
  }
}

/** Writes beside the place, then renames: a link at the place is replaced, not followed. */
export function writeWhole(path: string, content: ReportText): void {
  const write = (temporary: string) => {
    const file = openSync(temporary, 'wx');
    try {
      for (const piece of typeof content === 'string' ? [content] : content()) writeFileSync(file, piece);
    } finally {
      closeSync(file);
    }
  };
  attempt('write', path, () => intoPlace(path, write));
}

/** Copies a file so that the copy is whole when it appears; a file onto itself is left alone. */
export function copyWhole(from: string, path: string): void {
  const source = attempt('read', from, () => realpathSync(from));
  const target = lookAt(path)?.isFile() ? attempt('read', path, () => realpathSync(path)) : null;
  if (source === target) return;
  const copy = (temporary: string) => copyFileSync(source, temporary, constants.COPYFILE_EXCL);
  attempt('write', path, () => intoPlace(path, copy));
}

/** Removes a file or a link, never what a link leads to; nothing there is fine. */
export function removeFile(path: string): void {
  const found = lookAt(path);
  if (found !== null && !found.isDirectory()) attempt('remove', path, () => unlinkSync(path));
}

/** Names of what lies in a real folder; none when there is no such folder. */
export function listFiles(folder: string): readonly string[] {
  return lookAt(folder)?.isDirectory() ? attempt('read', folder, () => readdirSync(folder)) : [];
}

/** Keeps the newest matching folders and those to spare. Returns which could not be removed. */
export function keepNewest(
  root: string,
  pattern: RegExp,
  count: number,
  spare: (name: string) => boolean,
): readonly string[] {
  const names = listFiles(root)
    .filter((name) => pattern.test(name) && lookAt(join(root, name))?.isDirectory())
    .sort();
  const notes: string[] = [];
  for (const name of names.slice(0, Math.max(0, names.length - count)).filter((old) => !spare(old))) {
    try {
      // Another run may be removing it at this moment.
      rmSync(join(root, name), { recursive: true, force: true });
    } catch (cause) {
      notes.push(`the old run ${join(root, name)} could not be removed: ${refusalOf(cause)}`);
    }
  }
  return notes;
}

/** When a file was last written to, in ms of Unix time; null when there is none. */
export function writtenAt(path: string): number | null {
  return lookAt(path)?.mtimeMs ?? null;
}

/** A file name for each name, safe on every system; names that would fall together are numbered. */
export function fileNames(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const result = new Map<string, string>();
  for (const name of names) {
    const base =
      name
        .replace(/[^A-Za-z0-9._-]+/g, '-')
        .replace(/^[.-]+/, '')
        .slice(0, 80) || 'unnamed';
    let candidate = base;
    for (let n = 2; taken.has(candidate.toLowerCase()); n += 1) candidate = `${base}-${n}`;
    taken.add(candidate.toLowerCase());
    result.set(name, candidate);
  }
  return result;
}

function lookAt(path: string): Stats | null {
  return attempt('read', path, () => lstatSync(path, { throwIfNoEntry: false })) ?? null;
}

function attempt<T>(what: string, path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw writeFault(what, path, cause);
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'a file is in the way',
  EISDIR: 'a folder is in the way',
  ENOENT: 'no such file or folder',
};

function refusalOf(cause: unknown): string {
  return REFUSALS[codeOf(cause) ?? ''] ?? reasonOf(cause);
}

function writeFault(what: string, path: string, cause: unknown): HarnessError {
  // The system names the step of the path that it refused.
  const { path: refused = path } = what === 'make' ? (cause as NodeJS.ErrnoException) : {};
  return new HarnessError(`cannot ${what} ${refused}: ${refusalOf(cause)}`, { cause });
}
