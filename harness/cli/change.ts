import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join, resolve } from 'node:path';
import { UsageError } from '../base/exit.ts';
import { reasonOf } from '../base/thrown.ts';
import { onSignal } from './process.ts';

/** Editors write a file several times; a change counts when it has been calm for so long, in ms. */
const CALM_MS = 200;

type News = 'changed' | 'signalled';

/** Watches from the moment it is made: what happens while nobody asks is told to the next who does. */
export interface FolderWatch {
  /**
   * Resolves at the next change of a file below the folder, or when a signal has asked for the end.
   *
   * @throws UsageError when the folder can be watched no more.
   */
  next(): Promise<News>;
  close(): void;
}

/**
 * Watches a folder but for what lies below `except`, hidden folders and dependencies.
 *
 * @throws UsageError when it cannot be watched.
 */
export function watchBelow(folder: string, except: string): FolderWatch {
  let news = Promise.withResolvers<News>();
  let signalled = false;
  let calm: NodeJS.Timeout | undefined;
  const failed = (error: unknown) => {
    const why = reasonOf(error);
    news.reject(new UsageError(`${folder} cannot be watched: ${why}`));
  };
  const folders = new WatchedFolders(folder, except, failed, () => {
    clearTimeout(calm);
    calm = setTimeout(() => news.resolve('changed'), CALM_MS);
  });
  const signals = onSignal(() => {
    signalled = true;
    news.resolve('signalled');
  });
  // Whether anybody asks is not known yet.
  news.promise.catch(() => {});
  folders.update();
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
 * One watcher for each folder. Node's recursive one watches each file instead, and loses it as soon as an editor
 * puts a new one in its place.
 */
class WatchedFolders {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #root: string;
  readonly #except: string;
  readonly #failed: (error: unknown) => void;
  readonly #changed: () => void;

  constructor(root: string, except: string, failed: (error: unknown) => void, changed: () => void) {
    this.#root = root;
    this.#except = resolve(except);
    this.#failed = failed;
    this.#changed = changed;
  }

  /** Folders may come and go. */
  update(): void {
    try {
      const there = new Set([this.#root, ...this.#below(this.#root)]);
      for (const [folder, watcher] of this.#watchers) {
        if (there.has(folder)) continue;
        watcher.close();
        this.#watchers.delete(folder);
      }
      for (const folder of there)
        if (!this.#watchers.has(folder)) this.#watchers.set(folder, this.#watch(folder));
    } catch (error) {
      this.#failed(error);
    }
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  #watch(folder: string): FSWatcher {
    const watcher = watch(folder, () => {
      this.update();
      this.#changed();
    });
    watcher.on('error', this.#failed);
    return watcher;
  }

  #below(folder: string): readonly string[] {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      .map((entry) => join(folder, entry.name))
      .filter((path) => resolve(path) !== this.#except)
      .flatMap((path) => [path, ...this.#below(path)]);
  }
}
