import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Builds what the package ships into `dist/`: JavaScript of every source that runs, the declarations that the
 * package's surface needs, and the files that are read at run time, each where its importer looks for it. Runs
 * before `npm pack` and `npm publish`; development needs none of it.
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
const SURFACE = 'harness/index.d.ts';

rmSync(DIST, { recursive: true, force: true });
compile('--declaration', 'false', '--removeComments', 'true');
compile('--declaration', 'true', '--emitDeclarationOnly', 'true');
keepDeclarationsOf(SURFACE);
pointAtBuiltModules();
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
function compile(...options: readonly string[]): void {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(
    process.execPath,
    [compiler, '-p', join(ROOT, 'tsconfig.build.json'), '--noCheck', ...options],
    {
      stdio: 'inherit',
    },
  );
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

/** What the compiler does for imports, for modules that are named by URL: processes, the worker's entry, the suites. */
function pointAtBuiltModules(): void {
  for (const path of globSync('**/*.js', { cwd: DIST }).map((each) => join(DIST, each))) {
    const text = readFileSync(path, 'utf8');
    const pointed = text.replaceAll(/(new URL\(['"][^'"]+)\.ts(['"], import\.meta\.url\))/g, '$1.js$2');
    if (pointed !== text) writeFileSync(path, pointed);
  }
}
