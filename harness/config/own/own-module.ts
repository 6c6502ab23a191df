import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Place, UsageError } from '../../base/exit.ts';
import { isJsonObject } from '../../base/json-text.ts';
import { codeOf, reasonLineOf, traceOf } from '../../base/thrown.ts';

/** Importing has no limit of its own. In ms. */
const LOAD_MS = 5_000;
/** Number of files that a digest covers. */
const MOST_FILES = 100;

const SURFACE = 'conform-api/check';
const SURFACE_URL = new URL('../../check.ts', import.meta.url).href;
let isResolved = false;

/** The surface is that of the running program, also where the package is not installed. */
function resolveSurface(): void {
  if (isResolved) return;
  isResolved = true;
  // Node 22.15 and newer; an older one finds the installed package.
  module.registerHooks?.({
    resolve: (specifier, context, next) =>
      specifier === SURFACE ? { url: SURFACE_URL, shortCircuit: true } : next(specifier, context),
  });
}

/** SHA-256 of a module and of the files that it imports by relative paths. */
export function moduleDigest(file: string): string {
  const hash = createHash('sha256');
  const known = new Set<string>();
  const visit = (path: string): void => {
    if (known.has(path) || known.size >= MOST_FILES || !existsSync(path)) return;
    known.add(path);
    const text = readFileSync(path, 'utf8');
    hash.update(`${text.length}\n${text}`);
    for (const [, named = ''] of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"\n]+)['"]/g))
      visit(resolve(dirname(path), named));
  };
  visit(file);
  return hash.digest('hex');
}

/** The default export of a module. @throws UsageError with the place of the fault and a remedy. */
export async function importOwn(file: string): Promise<unknown> {
  resolveSurface();
  const patience = Promise.withResolvers<never>();
  const remedy = 'leave out what waits while the module loads';
  const late = () => new UsageError(`did not load in ${LOAD_MS / 1000} s`, { place: { file }, remedy });
  const timer = setTimeout(() => patience.reject(late()), LOAD_MS);
  try {
    // The digest has a changed module read again, where a run is repeated.
    const url = `${pathToFileURL(file).href}?${moduleDigest(file).slice(0, 16)}`;
    const loaded: unknown = await Promise.race([import(url), patience.promise]);
    return isJsonObject(loaded) ? loaded.default : undefined;
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    const place = placeIn(traceOf(thrown), file) ?? (await syntaxPlace(thrown, file)) ?? { file };
    throw new UsageError(`does not load: ${reasonLineOf(thrown)}`, { place, remedy: remedyFor(thrown) });
  } finally {
    clearTimeout(timer);
  }
}

const NO_MODULE = 'correct the path or the name of the import; relative paths need their extension';

const REMEDIES: Readonly<Record<string, string>> = {
  ENOENT: NO_MODULE,
  ERR_MODULE_NOT_FOUND: NO_MODULE,
  ERR_UNKNOWN_FILE_EXTENSION: 'use Node 22.18 or newer for TypeScript, or write the module in JavaScript',
  ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX:
    'write types that can be removed: no enum, no namespace, no parameter property',
  ERR_INVALID_TYPESCRIPT_SYNTAX: 'correct the syntax there',
};

function remedyFor(thrown: unknown): string {
  const known = REMEDIES[codeOf(thrown) ?? ''];
  return known ?? (thrown instanceof SyntaxError ? 'correct the syntax there' : 'see docs/own-checks.md');
}

/** The first place in this file that a stack names. */
export function placeIn(stack: string, file: string): Place | null {
  for (const [, named = '', line, column] of stack.matchAll(
    /(file:\/\/\/[^\s()]+?|\/[^\s():]+?|[A-Z]:\\[^\s()]+?)(?:\?[0-9a-f]*)?:(\d+)(?::(\d+))?(?=[\s)]|$)/g,
  )) {
    const path = named.startsWith('file:') ? fileURLToPath(named) : named;
    if (path !== file) continue;
    return { file, line: Number(line), ...(column !== undefined && { column: Number(column) }) };
  }
  return null;
}

/** Node names no line for the syntax of a JavaScript module, except if asked to check it. */
async function syntaxPlace(thrown: unknown, file: string): Promise<Place | null> {
  if (!(thrown instanceof SyntaxError)) return null;
  const options = { timeout: LOAD_MS, env: {} };
  return promisify(execFile)(process.execPath, ['--check', file], options).then(
    () => null,
    ({ stderr }: { readonly stderr?: unknown }) => placeIn(String(stderr), file),
  );
}
