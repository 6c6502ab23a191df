import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { chunks, isOutside } from './chunks.ts';
import { compiledAhead } from './compiled-ahead.ts';

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
