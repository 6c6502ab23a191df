import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join, resolve } from 'node:path';
import { UsageError } from '../base/exit.ts';
import { reasonOf } from '../base/thrown.ts';
import { configFolder, isOneFile } from '../config/yaml/config-place.ts';
import { onSignal } from './process.ts';

/** Milliseconds without a write after which a change counts: editors write a file several times. */
const CALM_MS = 200;

type WatchEvent = 'changed' | 'signalled';

/** Watches from its creation: the next call of `next` gets an earlier change too. */
export interface FolderWatch {
  /**
   * Resolves at the next change of a file below the folder, or at a signal to end.
   *
   * @throws UsageError when the folder can no longer be watched.
   */
  next(): Promise<WatchEvent>;
  close(): void;
}

/**
 * Watches a config folder, except `except`, hidden folders and dependencies. Of `conform.yaml` the folder around it is
 * watched, without those below.
 *
 * @throws UsageError when it cannot be watched.
 */
export function watchConfig(config: string, except: string): FolderWatch {
  const folder = configFolder(config);
  let news = Promise.withResolvers<WatchEvent>();
  let signalled = false;
  let calm: NodeJS.Timeout | undefined;
  // `next` may never be called.
  news.promise.catch(() => {});
  const failed = (error: unknown) =>
    news.reject(new UsageError(`${folder} cannot be watched: ${reasonOf(error)}`));
  const folders = watchFolders(folder, { except, deep: !isOneFile(config) }, failed, () => {
    clearTimeout(calm);
    calm = setTimeout(() => news.resolve('changed'), CALM_MS);
  });
  const signals = onSignal(() => {
    signalled = true;
    news.resolve('signalled');
  });
  return {
    async next() {
      const what = signalled ? 'signalled' : await news.promise;
      news = Promise.withResolvers();
      news.promise.catch(() => {});
      return signalled ? 'signalled' : what;
    },
    close() {
      clearTimeout(calm);
      signals.release();
      folders.close();
    },
  };
}

/**
 * One watcher for each folder. Node's recursive watcher watches each file instead, and loses it when an editor replaces
 * it.
 */
function watchFolders(
  root: string,
  { except, deep }: { readonly except: string; readonly deep: boolean },
  failed: (error: unknown) => void,
  changed: () => void,
): { close(): void } {
  const watchers = new Map<string, FSWatcher>();
  const below = (folder: string): readonly string[] =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      .map((entry) => join(folder, entry.name))
      .filter((path) => resolve(path) !== resolve(except))
      .flatMap((path) => [path, ...below(path)]);
  const watched = (folder: string) =>
    watch(folder, (_, name) => {
      update();
      if (name === null || resolve(folder, name) !== resolve(except)) changed();
    }).on('error', failed);
  /** Folders may come and go. */
  const update = () => {
    try {
      const there = new Set([root, ...(deep ? below(root) : [])]);
      for (const [folder, watcher] of watchers) {
        if (there.has(folder)) continue;
        watcher.close();
        watchers.delete(folder);
      }
      for (const folder of there) if (!watchers.has(folder)) watchers.set(folder, watched(folder));
    } catch (error) {
      failed(error);
    }
  };
  update();
  return {
    close() {
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
