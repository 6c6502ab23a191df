import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UsageError } from '../../base/exit.ts';
import { isJsonObject, parseJson } from '../../base/json-text.ts';
import { codeOf } from '../../base/thrown.ts';
import { newestRules, rulesOf } from '../blocks/rules.ts';
import type { Draft } from '../draft/draft.ts';
import { list, text } from '../shape/kinds.ts';
import { configFolder, isOneFile } from '../yaml/config-place.ts';
import { type OwnCheck, ownChecksFault } from './own-check.ts';
import { importOwn, moduleDigest } from './own-module.ts';

export const OWN_CHECKS = list(
  'Modules with checks of your own, relative to this file. They are observed until `conform prove` has seen them fail.',
  { maxItems: 20, uniqueItems: true, nullable: true, expected: 'a list of modules such as [./house.ts]' },
  text('Path of a module whose default export is a list of checks.', { examples: ['./house.ts'] }),
);

/** A module with checks of the user's own. */
export interface OwnChecksFile {
  /** Absolute. */
  readonly path: string;
  /** Ids of those that are proven as they stand now. */
  readonly proven: readonly string[];
}

/** Written by `conform prove`, next to `services/` or `conform.yaml`: ids of checks with the digest of their module. */
export function provenFile(config: string): string {
  return join(configFolder(config), isOneFile(config) ? 'conform.proven.json' : 'proven.json');
}

/** @throws UsageError for a module that is not there or has no checks. */
export async function buildOwnChecks(
  draft: Draft,
  written: readonly string[] | undefined | null,
  configDir: string,
): Promise<readonly OwnChecksFile[]> {
  const files: OwnChecksFile[] = [];
  const owners = new Map<string, string>();
  const proven = provenIn(configDir);
  for (const [index, name] of (written ?? []).entries()) {
    const path = resolve(draft.scope.folder, name);
    const fault = draft.faultFor(`checks.${index}`);
    const found = await stat(path).catch(() => null);
    if (!found?.isFile())
      throw fault(`there is no module ${name}`, 'name a file such as ./house.ts, relative to this file');
    const checks = await loadOwnChecks(path);
    for (const { id } of checks) {
      const owner = owners.get(id);
      if (owner !== undefined) throw fault(`${id} is in ${owner} too`, 'give each check an id of its own');
      owners.set(id, name);
    }
    const digest = moduleDigest(path);
    files.push({ path, proven: checks.map(({ id }) => id).filter((id) => proven[id] === digest) });
  }
  return files;
}

/** The checks of a module. @throws UsageError with the place of the fault. */
export async function loadOwnChecks(path: string): Promise<readonly OwnCheck[]> {
  const exported = await importOwn(path);
  const fault = ownChecksFault(exported, shippedSuites());
  if (fault === null) return exported as readonly OwnCheck[];
  const [problem, remedy] = fault;
  throw new UsageError(problem, { place: placeOf(path, problem), remedy });
}

/** The line that names the check at fault, if one does. */
function placeOf(file: string, problem: string) {
  const [id = ''] = /^[a-z][\w.-]*\.[\w-]+/.exec(problem) ?? [];
  const at =
    id === ''
      ? -1
      : readFileSync(file, 'utf8')
          .split('\n')
          .findIndex((line) => line.includes(id));
  return at === -1 ? { file } : { file, line: at + 1 };
}

/** The names of the suites that ship. */
function shippedSuites(): readonly string[] {
  const [, date = ''] = newestRules('all').split('@');
  const ids = Object.values(rulesOf(date)).flat();
  return [...new Set(ids.map((id) => id.split('.')[0] ?? ''))];
}

/** @throws UsageError if the file is there and cannot be read. */
export function provenIn(configDir: string): Readonly<Record<string, string>> {
  const file = provenFile(configDir);
  let text = '{}';
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error;
  }
  const known = parseJson(text);
  if (!isJsonObject(known))
    throw new UsageError('is no JSON object', {
      place: { file },
      remedy: 'remove the file; `conform prove` writes it again',
    });
  return Object.fromEntries(
    Object.entries(known).filter(([, digest]) => typeof digest === 'string'),
  ) as Record<string, string>;
}
