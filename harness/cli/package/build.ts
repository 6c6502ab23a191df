import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, packageOf } from './bundle.ts';

/**
 * Builds the package into `dist/`: JavaScript in few files, since a start would take a quarter longer with one for each
 * source; the declarations of the package's surface; and the files read at run time. Runs before `npm pack` and
 * `npm publish`; development does not need it.
 */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DIST = join(ROOT, 'dist');
/** Read at run time, by a path relative to the reading module. */
const DATA = [
  'harness/report/html/script/*.js',
  'harness/**/*.css',
  'harness/**/*.schema.json',
  'harness/report/diagnosis/dictionary.json',
  'config/**/*',
  // The operations that the proof describes: `explain` reads them.
  'harness/proof/config/**/*.yaml',
];
/** What `exports` of package.json names. */
const SURFACES = ['harness/index', 'harness/vitest'];
/** What `harness/cli/conform.js` starts. */
const PROGRAM = 'harness/cli/main';

rmSync(DIST, { recursive: true, force: true });
declare();
// Checks of users are bundled with what loads them.
keepDeclarationsOf([...SURFACES, 'harness/check'].map((each) => `${each}.d.ts`));
const inside = await bundle([...SURFACES, PROGRAM], DIST, 'built');
writeFileSync(join(DIST, 'LICENSES.txt'), licencesOf(inside));
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

/** `npm run lint` checks the types. One thread: each of several would resolve all exports again. */
function declare(): void {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['--noCheck', '--singleThreaded', '--declaration', 'true', '--emitDeclarationOnly', 'true'];
  execFileSync(process.execPath, [compiler, '-p', join(ROOT, 'tsconfig.build.json'), ...options], {
    stdio: 'inherit',
  });
}

/** Removes declarations that the surface does not reach. */
function keepDeclarationsOf(surfaces: readonly string[]): void {
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
  for (const surface of surfaces) visit(join(DIST, surface));
  for (const path of globSync('**/*.d.ts', { cwd: DIST }).map((each) => join(DIST, each))) {
    if (!kept.has(path)) rmSync(path);
  }
}

/** The licences of the packages whose code is bundled. */
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
