import type { Suite } from '../../check/check.ts';
import { HarnessError } from '../../exit.ts';
import { reasonOf } from '../../thrown.ts';

/** The shipped suites, in the order in which they are judged. */
export const SUITES_URL = new URL('../../../suites/catalogue.ts', import.meta.url).href;

/** Importing has no limit of its own: a module may wait for something that never comes. */
const LOAD_MS = 10_000;

/**
 * Loads the `suites` of a catalogue module and holds the ids to be unique.
 *
 * @throws HarnessError when the module does not load, or an id is declared twice.
 */
export async function loadSuites(url: string): Promise<readonly Suite[]> {
  const suites = await importSuites(url);
  const seen = new Set<string>();
  for (const { id } of suites.flatMap(({ checks }) => checks)) {
    if (seen.has(id)) throw new HarnessError(`the check id ${id} is declared twice`);
    seen.add(id);
  }
  return suites;
}

async function importSuites(url: string): Promise<readonly Suite[]> {
  const patience = Promise.withResolvers<never>();
  const timer = setTimeout(() => patience.reject(new Error(`nothing after ${LOAD_MS} ms`)), LOAD_MS);
  try {
    const { suites } = (await Promise.race([import(url), patience.promise])) as { suites: readonly Suite[] };
    return suites;
  } catch (cause) {
    const why = reasonOf(cause);
    throw new HarnessError(`the suites of ${url} do not load: ${why}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}
