import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { formatPlace, UsageError } from '../../base/exit.ts';
import { Faults } from '../draft/faults.ts';
import { type Loaded, list, mapping, needed } from '../shape/kinds.ts';
import { loaded } from '../shape/loaded.ts';
import { faultsIn } from '../shape/validation.ts';
import { namedFiles } from '../yaml/catalogue-folder.ts';
import { originsOf, plainOf, readLocated } from '../yaml/located.ts';
import { didYouMean } from '../yaml/nearest.ts';
import { faultsOf } from '../yaml/origin.ts';

/** Lists that a user keeps of each service, `FOLDER/SERVICE.yaml`, of entries that hold in one environment or in all. */
export interface KeptList<E extends TSchema> {
  /** Folder in the config folder; the key of the list as well. */
  readonly folder: string;
  readonly shape: TSchema;
  /**
   * The lists of all services, by name. What is said of other environments is left out.
   *
   * @param all names of all services of the folder: a list of any other is a fault.
   * @throws UsageError for all that is wrong with the lists: nothing is known of a list that cannot be read.
   */
  read(configDir: string, setting: KeptSetting): Promise<ReadonlyMap<string, readonly Kept<E>[]>>;
}

interface KeptSetting {
  readonly all: readonly string[];
  readonly environment: string | null;
}

/** An entry, and where it stands: `config/known/search.yaml:12`. */
export type Kept<E> = Omit<Loaded<E>, 'environment'> & { readonly place: string };

/** `of`: what the entries are, for a person. */
export function keptList<E extends TSchema>(folder: string, of: string, entry: E): KeptList<E> {
  const entries = list('', { maxItems: 2_000, expected: `a list of ${of}` }, entry);
  const shape = mapping(
    `The ${of} of one service.`,
    { required: [folder] },
    { [folder]: needed(entries, `write \`${folder}: []\` when there is none`) },
  );
  const frameFaults = faultsIn(shape);

  async function readOne(file: string, environment: string | null): Promise<readonly Kept<E>[]> {
    const tree = await readLocated(file);
    const faults = new Faults();
    faults.add(...frameFaults(tree));
    faults.hold();
    const origins = originsOf(tree);
    const all = loaded(shape, plainOf(tree), { faultAt: faultsOf(origins), faults });
    faults.hold();
    const written = all[folder] as readonly (Loaded<E> & { readonly environment?: string })[];
    return written.flatMap(({ environment: only, ...each }, index) => {
      const origin = origins.get(`${folder}.${index}`);
      const { line } = origin?.kind === 'file' ? origin.place : {};
      const place = formatPlace({ file, ...(line === undefined ? {} : { line }) });
      return only === undefined || only === environment ? [{ ...each, place } as Kept<E>] : [];
    });
  }

  return {
    folder,
    shape,
    async read(configDir, { all, environment }) {
      const faults = new Faults();
      const lists = new Map<string, readonly Kept<E>[]>();
      for (const [service, file] of await namedFiles(join(configDir, folder))) {
        if (!all.includes(service)) {
          const problem = `there is no service ${JSON.stringify(service)} to keep ${of} of`;
          faults.add(new UsageError(problem, { place: { file }, remedy: didYouMean(service, all) }));
          continue;
        }
        const kept = await faults.attempt(() => readOne(file, environment));
        if (kept) lists.set(service, kept);
      }
      faults.hold();
      return lists;
    },
  };
}
