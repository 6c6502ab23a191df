import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type ChunkingContext, type CodeSplittingGroup, type Plugin, rolldown } from 'rolldown';
import { LATEST } from '../../wire/json/dialect.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Modules that are named by URL: processes, the worker's entry, the suites. */
const NAMED = /new URL\('([^']+)\.ts', import\.meta\.url\)/g;
const PLACE = /PLACE_OF\("([^"]+)"\)/g;

/**
 * Where built code looks for the files that it reads: beside itself, where they have been copied to, or where its source
 * lies.
 */
type Data = 'built' | 'source';

/**
 * Builds modules and what they import, in few files. Each entry lies where its source does, and so does what is named
 * by URL; what they share lies in `chunks/`, with the code of the packages that every start needs.
 *
 * @param entries paths below the repository, without `.ts`
 * @returns the paths of the modules whose code is in there.
 */
export async function bundle(
  entries: readonly string[],
  dir: string,
  data: Data,
): Promise<readonly string[]> {
  const build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(ROOT, `${entry}.ts`)])),
    platform: 'node',
    external: isOutside,
    preserveEntrySignatures: 'exports-only',
    tsconfig: join(ROOT, 'tsconfig.build.json'),
    plugins: [compiledAhead, places(data)],
    // What one start imports at once is imported by another when it is needed.
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await build.write({
    dir,
    comments: false,
    codeSplitting: { groups: chunks() },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  await build.close();
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
}

/** A module keeps its place, from which it names files and modules, wherever its code comes to lie. */
const places = (data: Data): Plugin => ({
  name: 'places',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return null;
    for (const [, path = ''] of code.matchAll(NAMED)) {
      const module = resolve(dirname(id), `${path}.ts`);
      this.emitFile({ type: 'chunk', id: module, fileName: relative(ROOT, module).replace(/ts$/, 'js') });
    }
    const built = `PLACE_OF(${JSON.stringify(relative(ROOT, id).replace(/ts$/, 'js'))})`;
    const own = data === 'built' ? built : JSON.stringify(pathToFileURL(id).href);
    return code.replaceAll(NAMED, `new URL('$1.js', ${built})`).replaceAll('import.meta.url', own);
  },
  renderChunk: (code, { fileName }) =>
    code.replaceAll(PLACE, (_, path: string) => {
      const from = relative(dirname(fileName), path).replace(/^(?!\.)/, './');
      return `new URL(${JSON.stringify(from)}, import.meta.url).href`;
    }),
});

/** The module whose code is made here. */
const MODULE = /harness\/wire\/json\/latest-schema\.ts$/;
const require = createRequire(import.meta.url);

/** Puts what ajv makes of the schema of schemas in place of the module that would have it made at each start. */
export const compiledAhead: Plugin = {
  name: 'compiled-ahead',
  load: { filter: { id: MODULE }, handler: () => ({ code: latestSchema(), moduleType: 'js' }) },
};

function latestSchema(): string {
  const { default: standaloneCode }: typeof import('ajv/dist/standalone/index.js') =
    require('ajv/dist/standalone');
  const engine = LATEST.engine({ strict: false, logger: false, code: { source: true } });
  const validate = engine.getSchema(LATEST.uri);
  if (validate === undefined) throw new Error(`ajv has no schema ${LATEST.uri}`);
  return [
    "import { createRequire } from 'node:module';",
    'const require = createRequire(import.meta.url);',
    'let validate;',
    'export const fitsLatest = (schema) => (validate ??= compiled())(schema);',
    // It takes parts of ajv, which is not there for everybody who imports this.
    'function compiled() {',
    '  const module = {};',
    standaloneCode(engine, validate),
    '  return module.exports;',
    '}',
  ].join('\n');
}

const SUITES = 'suites/catalogue.ts';

/** The program of a worker: what it does to its process is done to no other. */
const WORKER = 'harness/engine/worker/entry.ts';

/** What is loaded at once: by every command, by a run, and by its workers. */
const STARTS = {
  command: ['harness/cli/program.ts', 'harness/engine/worker/worker-process.ts'],
  run: ['harness/cli/commands/run.ts', SUITES],
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
