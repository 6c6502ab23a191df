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
 * The place of the files that built code reads: `built`, next to it, where they are copied; `source`, next to the source.
 */
type Data = 'built' | 'source';

/**
 * Builds modules with their imports, in few files. Entries and modules named by URL keep the place of their source;
 * shared code goes to `chunks/`, with the packages that every start needs.
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
    plugins: [compiledAhead, places(data), builtIns],
    // One start imports a module statically, another dynamically.
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

/** A module names files and modules relative to its source, wherever its code is bundled. */
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

/** Node reads the whole of a built-in module for an `import`, also the parts that it otherwise leaves until they are used. */
const builtIns: Plugin = {
  name: 'built-ins',
  renderChunk: (code) =>
    code.replaceAll(BUILT_IN, (_, whole = '', all, names, module) => {
      const parts = [all ?? whole, names && `{${names.replaceAll(' as ', ': ')}}`].filter(Boolean);
      return parts.map((part) => `const ${part} = process.getBuiltinModule('${module}');`).join(' ');
    }),
};
const BUILT_IN = /^import (?:([\w$]+)(?:, | ))?(?:\* as ([\w$]+) |\{([^}]*)\} )?from "(node:[^"]+)";$/gm;

/** The module that is replaced. */
const MODULE = /harness\/wire\/json\/latest-schema\.ts$/;
const require = createRequire(import.meta.url);

/** Replaces the module that compiles the schema of schemas at each start by ajv's standalone code for it. */
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
    // Lazy: it requires parts of ajv, which most importers do not need.
    'function compiled() {',
    '  const module = {};',
    standaloneCode(engine, validate),
    '  return module.exports;',
    '}',
  ].join('\n');
}

const SUITES = 'suites/catalogue.ts';

/** The program of a worker. No other module may change its process. */
const WORKER = 'harness/engine/worker/entry.ts';

/** Modules loaded together: by every command, by a run, and by its workers. */
const STARTS = {
  command: ['harness/cli/program.ts', 'harness/engine/worker/worker-process.ts'],
  run: ['harness/cli/commands/run.ts', SUITES],
  worker: [WORKER, SUITES],
};
type Start = keyof typeof STARTS;

/** Packages with a hundred files on the way of a start; all others are loaded from where they are installed. */
const INSIDE = [
  '@scalar/helpers',
  '@scalar/openapi-upgrader',
  'commander',
  'fastest-levenshtein',
  'js-yaml',
  'json-schema-faker',
  'p-limit',
  'structured-headers',
  'undici',
  'ws',
  'yaml',
  'yocto-queue',
];
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/** @param id the specifier of an import, or its resolved path. */
export function isOutside(id: string): boolean {
  if (/^[./]/.test(id)) return false;
  return !INSIDE.some((name) => id === name || id.startsWith(`${name}/`));
}

/** The package folder of a file; null for our own. */
export function packageOf(path: string): string | null {
  return PACKAGE.exec(path)?.[0] ?? null;
}

/**
 * Modules that are always loaded together are in one file: finding a file takes as long as reading it. A module goes to
 * the first group that needs it, so shared groups come first.
 */
export function chunks(): CodeSplittingGroup[] {
  const found = new Map<Start, ReadonlySet<string>>();
  const needs = (start: Start, context: ChunkingContext) => {
    const known = found.get(start) ?? needed(start, context);
    found.set(start, known);
    return known;
  };
  /** The modules that all of these starts need. */
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

/** All static imports of a start, with its modules but without programs. */
function needed(start: Start, context: ChunkingContext): ReadonlySet<string> {
  const all = new Set(STARTS[start].map((path) => join(ROOT, path)));
  for (const id of all)
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) all.add(imported);
  all.delete(join(ROOT, WORKER));
  return all;
}
