import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { CHUNKS, isOutside, packageOf } from './chunks.ts';

/**
 * Builds what the package ships into `dist/`: JavaScript of every source that runs, in few files, since a start would
 * take a quarter longer with one for each; the declarations that the package's surface needs; and the files that are
 * read at run time. Runs before `npm pack` and `npm publish`; development needs none of it.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIST = join(ROOT, 'dist');
/** Read at run time, by their place relative to the module that reads them. */
const DATA = [
  'harness/report/html/script/*.js',
  'harness/**/*.css',
  'harness/**/*.schema.json',
  'harness/diagnosis/dictionary.json',
  'config/**/*',
  // The operations that the proof describes: `explain` reads them.
  'harness/proof/config/**/*.yaml',
];
/** What `exports` of package.json names. */
const SURFACE = 'harness/index';
/** What `harness/cli/conform.js` starts. */
const PROGRAM = 'harness/cli/main';

/** Modules that are named by URL: processes, the worker's entry, the suites. */
const NAMED = /new URL\('([^']+)\.ts', import\.meta\.url\)/g;
const PLACE = /PLACE_OF\("([^"]+)"\)/g;
/** A module keeps its place, from which it names files and modules, wherever its code comes to lie. */
const PLACES: Plugin = {
  name: 'places',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return null;
    for (const [, path = ''] of code.matchAll(NAMED)) {
      const module = resolve(dirname(id), `${path}.ts`);
      this.emitFile({ type: 'chunk', id: module, fileName: relative(ROOT, module).replace(/ts$/, 'js') });
    }
    const place = `PLACE_OF(${JSON.stringify(relative(ROOT, id).replace(/ts$/, 'js'))})`;
    return code.replaceAll(NAMED, "new URL('$1.js', import.meta.url)").replaceAll('import.meta.url', place);
  },
  renderChunk: (code, { fileName }) =>
    code.replaceAll(PLACE, (_, path: string) => {
      const from = relative(dirname(fileName), path).replace(/^(?!\.)/, './');
      return `new URL(${JSON.stringify(from)}, import.meta.url).href`;
    }),
};

rmSync(DIST, { recursive: true, force: true });
declare();
keepDeclarationsOf(`${SURFACE}.d.ts`);
await bundle([SURFACE, PROGRAM]);
for (const file of globSync(DATA, { cwd: ROOT, withFileTypes: true })) {
  const path = join(file.parentPath, file.name);
  if (!file.isFile() || path.includes('/fixtures/')) continue;
  const target = join(DIST, path.slice(ROOT.length));
  if (path.endsWith('.js') && existsSync(target))
    throw new Error(`${path} would take the place of a built module`);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(path, target);
}
const { name, version, type } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
// Sources ask for package.json two folders above the command line.
writeFileSync(join(DIST, 'package.json'), `${JSON.stringify({ name, version, type })}\n`);

/** Types are `npm run lint`'s to check. */
function declare(): void {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['--noCheck', '--declaration', 'true', '--emitDeclarationOnly', 'true'];
  execFileSync(process.execPath, [compiler, '-p', join(ROOT, 'tsconfig.build.json'), ...options], {
    stdio: 'inherit',
  });
}

/** Removes every declaration that the surface does not lead to. */
function keepDeclarationsOf(surface: string): void {
  const kept = new Set<string>();
  const visit = (path: string): void => {
    if (kept.has(path) || !existsSync(path)) return;
    kept.add(path);
    for (const [, named = ''] of readFileSync(path, 'utf8').matchAll(
      /(?:from|import\()\s*['"](\.[^'"]+)['"]/g,
    )) {
      visit(resolve(dirname(path), named.replace(/\.[jt]s$/, '.d.ts')));
    }
  };
  visit(join(DIST, surface));
  for (const path of globSync('**/*.d.ts', { cwd: DIST }).map((each) => join(DIST, each))) {
    if (!kept.has(path)) rmSync(path);
  }
}

/**
 * Each entry lies where its source does, and so does what is named by URL; what they share lies in `chunks/`, with the
 * code of the packages that every start needs.
 */
async function bundle(entries: readonly string[]): Promise<void> {
  const build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(ROOT, `${entry}.ts`)])),
    platform: 'node',
    external: isOutside,
    preserveEntrySignatures: 'exports-only',
    tsconfig: join(ROOT, 'tsconfig.build.json'),
    plugins: [PLACES],
  });
  const { output } = await build.write({
    dir: DIST,
    comments: false,
    codeSplitting: { groups: CHUNKS },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  await build.close();
  const inside = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(DIST, 'LICENSES.txt'), licencesOf(inside));
}

/** What the packages ask for whose code goes along: their names and terms. */
function licencesOf(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((id) => packageOf(id) ?? []));
  const texts = [...folders].toSorted().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const [file] = globSync('{license,LICENSE}{,.md,.txt}', { cwd: folder });
    if (file === undefined) throw new Error(`${name} has no text of its licence, so it must stay outside`);
    return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
