import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { zstdDecompressSync } from 'node:zlib';

/**
 * The start of the single executable: Node with the installed package as an asset. The files are unpacked at the first
 * start, into a folder of the user's cache that is named by their digest. Processes of the run are the same executable
 * with a module of the package as argument.
 */
const PROGRAM = 'node_modules/conform-api/dist/harness/cli/main.js';

void start();

async function start(): Promise<void> {
  const folder = unpacked();
  // Modules of the executable itself cannot import files; a file can.
  const importer = join(folder, 'import.cjs');
  const load: (url: string) => Promise<unknown> = createRequire(importer)(importer);
  const args = process.argv.slice(2);
  const at = args.findIndex((each) => each.startsWith(folder + sep) && each.endsWith('.js'));
  // The options that `fork` gives to Node.
  for (const option of args.slice(0, Math.max(0, at))) {
    const [, module] = /^--import=(.*)$/.exec(option) ?? [];
    if (module === undefined) setFlagsFromString(option);
    else await load(module);
  }
  const [program = '', ...rest] = at === -1 ? [join(folder, PROGRAM), ...args] : args.slice(at);
  process.argv = [process.execPath, program, ...rest];
  await load(pathToFileURL(program).href);
}

function unpacked(): string {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'conform');
  const folder = join(cache, getAsset('digest', 'utf8'));
  if (isOwn(folder)) return folder;
  try {
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    const fresh = mkdtempSync(join(cache, 'new-'));
    unpackInto(fresh);
    try {
      renameSync(fresh, folder);
    } catch (error) {
      // Another process was faster.
      rmSync(fresh, { recursive: true, force: true });
      if (!isOwn(folder)) throw error;
    }
    return folder;
  } catch {
    const once = mkdtempSync(join(tmpdir(), 'conform-'));
    process.once('exit', () => rmSync(once, { recursive: true, force: true }));
    unpackInto(once);
    return once;
  }
}

/** Code of another user is not run. */
function isOwn(folder: string): boolean {
  return existsSync(folder) && statSync(folder).uid === process.getuid?.();
}

/** The asset: the number of octets of an index, the index as JSON, then the files. */
function unpackInto(folder: string): void {
  const octets = zstdDecompressSync(Buffer.from(getRawAsset('package')));
  const length = octets.readUInt32LE(0);
  const index: readonly (readonly [path: string, size: number])[] = JSON.parse(
    octets.toString('utf8', 4, 4 + length),
  );
  let at = 4 + length;
  for (const [path, size] of index) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, octets.subarray(at, at + size));
    at += size;
  }
}
