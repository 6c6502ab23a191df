import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SUITES = 'suites/catalogue.ts';

/** The program of a worker: what it does to its process is done to no other. */
const WORKER = 'harness/engine/worker/entry.ts';

/** What is loaded at once: by every command, by a run, and by its workers. */
const STARTS = {
  command: ['harness/cli/program.ts', 'harness/engine/worker/worker-process.ts'],
  run: ['harness/cli/commands/run/run.ts', SUITES],
  worker: [WORKER, 'harness/engine/rehearsal/estimate.ts', SUITES],
};
type Start = keyof typeof STARTS;

/** Packages of which a start would look for a hundred files; all others are loaded where they are installed. */
const INSIDE = [
  '@scalar/helpers',
  '@scalar/openapi-upgrader',
  'commander',
  'fastest-levenshtein',
  'p-limit',
  'structured-headers',
  'undici',
  'ws',
  'yaml',
  'yocto-queue',
];
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/** @param id as an import names it, or the path that was found for it. */
export function isOutside(id: string): boolean {
  if (/^[./]/.test(id)) return false;
  return !INSIDE.some((name) => id === name || id.startsWith(`${name}/`));
}

/** The folder of the package that a file belongs to; null for our own. */
export function packageOf(path: string): string | null {
  return PACKAGE.exec(path)?.[0] ?? null;
}

/**
 * What is always loaded together lies in one file, since to look for a file takes as long as to read it. The first that
 * wants a module has it: what is needed by several comes before what is needed by one.
 */
export function chunks(): CodeSplittingGroup[] {
  const found = new Map<Start, ReadonlySet<string>>();
  const needs = (start: Start, context: ChunkingContext) => {
    const known = found.get(start) ?? needed(start, context);
    found.set(start, known);
    return known;
  };
  /** Of the modules that all of these starts need. */
  const chunk = (name: string, ...starts: readonly Start[]): CodeSplittingGroup => ({
    debugName: name,
    name: (id, context) => (starts.every((start) => needs(start, context).has(id)) ? name : null),
  });
  return [
    chunk('command', 'command'),
    chunk('run-and-worker', 'run', 'worker'),
    chunk('run', 'run'),
    chunk('worker', 'worker'),
  ];
}

/** What the modules of a start import before they run, whatever that imports in turn, and themselves but for programs. */
function needed(start: Start, context: ChunkingContext): ReadonlySet<string> {
  const all = new Set(STARTS[start].map((path) => join(ROOT, path)));
  for (const id of all)
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) all.add(imported);
  all.delete(join(ROOT, WORKER));
  return all;
}
