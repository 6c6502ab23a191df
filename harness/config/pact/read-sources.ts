import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { distance } from 'fastest-levenshtein';
import { UsageError } from '../../base/exit.ts';
import { visible } from '../../wire/octets/utf8.ts';
import type { Draft } from '../draft/draft.ts';
import { type ReadFault, readText } from '../yaml/read-text.ts';
import { type PactFile, readPact } from './pact-file.ts';
import type { ExpectedInteraction } from './pacts.ts';

/** Deeper folders, and more files, are no folder of pacts. */
const MAX_DEPTH = 8;
const MAX_FILES = 1_000;

type PactPaths =
  | { readonly paths: readonly string[]; readonly kind: 'file' | 'folder' }
  | { readonly fault: string };

/** The file, or each `.json` file below a folder by name; Pact's own verifier skips sub-folders. */
export async function pactPaths(path: string): Promise<PactPaths> {
  try {
    if (!(await stat(path)).isDirectory()) return { paths: [path], kind: 'file' };
    const paths: string[] = [];
    const fault = await gather(path, 0, paths);
    return fault === null ? { paths, kind: 'folder' } : { fault };
  } catch (error) {
    const { code = 'unknown error', path: at = path } = error as NodeJS.ErrnoException;
    if (at !== path) return { fault: `holds ${at}, which cannot be read (${code})` };
    return { fault: code === 'ENOENT' ? 'there is no such file or folder' : `cannot be read (${code})` };
  }
}

async function gather(folder: string, depth: number, paths: string[]): Promise<string | null> {
  if (depth > MAX_DEPTH) return `holds folders more than ${MAX_DEPTH} deep`;
  for (const name of (await readdir(folder)).toSorted()) {
    if (name.startsWith('.') || name === 'node_modules') continue;
    const path = join(folder, name);
    if ((await stat(path)).isDirectory()) {
      const fault = await gather(path, depth + 1, paths);
      if (fault !== null) return fault;
    } else if (name.toLowerCase().endsWith('.json')) {
      paths.push(path);
    }
    if (paths.length > MAX_FILES) return `holds more than ${MAX_FILES} files`;
  }
  return null;
}

/** A large consumer has a few hundred interactions of some KiB. */
const MAX_PACT_BYTES = 8 * 1024 * 1024;

interface Source {
  readonly path: string;
  readonly key: string;
}

interface LocalPact extends PactFile {
  readonly path: string;
}

export interface ReadPacts {
  readonly interactions: readonly ExpectedInteraction[];
  readonly leftOut: readonly string[];
}

/** Reads pacts, and refuses sources that would verify nothing. @throws UsageError at its place. */
export async function readSources(
  sources: readonly Source[],
  provider: string,
  { faultAt, faults }: Draft,
): Promise<ReadPacts> {
  const interactions: ExpectedInteraction[] = [];
  const leftOut: string[] = [];
  for (const { path, key } of sources) {
    const found = await pactPaths(path);
    if ('fault' in found) throw faultAt(key, `${path}: ${found.fault}`, 'correct the path');
    if (found.paths.length === 0) {
      const problem = `${path}: no pact is in this folder or below it`;
      throw faultAt(key, problem, 'pacts are .json files: put them there');
    }
    const pacts: LocalPact[] = [];
    for (const each of found.paths) {
      const pact = await faults.attempt(() => readPactAt(each));
      if (pact) pacts.push({ ...pact, path: each });
    }
    if (pacts.length < found.paths.length) continue;
    const own = pacts.filter((pact) => pact.provider === provider);
    const foreign = pacts.filter((pact) => pact.provider !== provider);
    const misspelt = foreign.find((pact) => nearlyThe(pact.provider, provider));
    if (misspelt || own.length === 0) {
      const names = [...new Set(foreign.map((pact) => JSON.stringify(visible(pact.provider, 100))))];
      const problem = misspelt
        ? `${misspelt.path} is for the provider ${JSON.stringify(visible(misspelt.provider, 100))}, not ${JSON.stringify(provider)}`
        : `${path}: no pact here is for the provider ${JSON.stringify(provider)}, only for ${names.slice(0, 5).join(', ')}`;
      throw faultAt(key, problem, 'write its name there as `pacts.provider`, or correct the pact');
    }
    interactions.push(...own.flatMap((pact) => pact.interactions));
    const parties = ({ consumer, provider: other }: PactFile) =>
      `${visible(consumer, 100)} -> ${visible(other, 100)}`;
    leftOut.push(...foreign.map((pact) => `${pact.path} (${parties(pact)})`));
  }
  return { interactions, leftOut };
}

async function readPactAt(path: string): Promise<PactFile> {
  const error = ({ problem, remedy, ...at }: ReadFault) =>
    new UsageError(problem, { place: { file: path, ...at }, remedy });
  const read = await readText(path, MAX_PACT_BYTES);
  if ('fault' in read) throw error(read.fault);
  const pact = readPact(read.text, { source: path });
  if ('fault' in pact) {
    const problem = visible(pact.fault.problem, 300);
    throw error({ ...pact.fault, problem, remedy: 'only pacts belong here: correct it, or take it away' });
  }
  if (pact.interactions.length > 0) return pact;
  const remedy = 'take it away, or let its consumer write it again';
  throw error({ problem: 'the pact holds no interaction', remedy });
}

/** The same name but for case, punctuation or one letter: a slip, and not another provider. */
function nearlyThe(name: string, provider: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  const [one, other] = [plain(name), plain(provider)];
  if (one === other) return true;
  return !/\d/.test(one + other) && other.length >= 5 && distance(one, other) === 1;
}
