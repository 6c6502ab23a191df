import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Beside the dependencies: whoever can write there can write the code itself. */
const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/conform', import.meta.url));

/**
 * Lets Node keep what it makes of the sources, types stripped and compiled, for the next start: a third of the time
 * that a start takes. Where nothing can be written everything works without. A choice of the user's own stands.
 */
export function keepCompiledCode(): void {
  if (isLeftToUs()) enableCompileCache(FOLDER);
}

/** The variables with which a worker does the same. */
export function compiledCodeEnvironment(): Readonly<Record<string, string>> {
  return isLeftToUs() ? { NODE_COMPILE_CACHE: FOLDER } : {};
}

function isLeftToUs(): boolean {
  return process.env.NODE_COMPILE_CACHE === undefined && process.env.NODE_DISABLE_COMPILE_CACHE === undefined;
}
