import { join } from 'node:path';
import { type Place, UsageError } from '../../base/exit.ts';
import { namedFiles } from '../yaml/catalogue-folder.ts';
import { originsOf, plainOf, readLocated } from '../yaml/located.ts';

/**
 * Where the clauses of a contract of one's own are written, by key. None of a shipped contract, and none of a file that
 * cannot be read any more.
 */
export async function clausePlaces(configDir: string, contract: string): Promise<ReadonlyMap<string, Place>> {
  try {
    const path = (await namedFiles(join(configDir, 'contracts'))).get(contract);
    if (path === undefined) return new Map();
    const tree = await readLocated(path);
    const { clauses = [] } = plainOf(tree) as { readonly clauses?: readonly { readonly key?: unknown }[] };
    const origins = originsOf(tree);
    return new Map(
      clauses.flatMap(({ key }, index) => {
        const origin = origins.get(`clauses.${index}.key`);
        return origin?.kind === 'file' ? [[String(key), origin.place] as const] : [];
      }),
    );
  } catch (error) {
    if (error instanceof UsageError) return new Map();
    throw error;
  }
}
