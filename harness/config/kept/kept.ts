import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { formatPlace, UsageError } from '../../base/exit.ts';
import { Faults } from '../draft/faults.ts';
import { environmentNames } from '../draft/overlay.ts';
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
   * @throws UsageError for all that is wrong with the lists: nothing is known of a list that cannot be read.
   */
  read(configDir: string, setting: KeptSetting): Promise<ReadonlyMap<string, readonly Kept<E>[]>>;
}

interface KeptSetting {
  /** The files of all services of the folder, by name: a list of any other, or for an environment of none, is a fault. */
  readonly files: ReadonlyMap<string, string>;
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

  async function readOne(
    file: string,
    { service, serviceFile, environment }: ReadOne,
  ): Promise<readonly Kept<E>[]> {
    const tree = await readLocated(file);
    const faults = new Faults();
    faults.add(...frameFaults(tree));
    faults.hold();
    const origins = originsOf(tree);
    const all = loaded(shape, plainOf(tree), { faultAt: faultsOf(origins), faults });
    faults.hold();
    const environments = await environmentsIn(serviceFile);
    const written = all[folder] as readonly (Loaded<E> & { readonly environment?: string })[];
    const kept = written.flatMap(({ environment: only, ...each }, index) => {
      if (only !== undefined && environments !== null && !environments.includes(only)) {
        const problem = `the service ${service} has no environment ${JSON.stringify(only)}`;
        faults.add(
          faultsOf(origins)(`${folder}.${index}.environment`, problem, didYouMean(only, environments)),
        );
      }
      const origin = origins.get(`${folder}.${index}`);
      const { line } = origin?.kind === 'file' ? origin.place : {};
      const place = formatPlace({ file, ...(line === undefined ? {} : { line }) });
      return only === undefined || only === environment ? [{ ...each, place } as Kept<E>] : [];
    });
    faults.hold();
    return kept;
  }

  return {
    folder,
    shape,
    async read(configDir, { files, environment }) {
      const faults = new Faults();
      const lists = new Map<string, readonly Kept<E>[]>();
      for (const [service, file] of await namedFiles(join(configDir, folder))) {
        const serviceFile = files.get(service);
        if (serviceFile === undefined) {
          const problem = `there is no service ${JSON.stringify(service)} to keep ${of} of`;
          faults.add(
            new UsageError(problem, { place: { file }, remedy: didYouMean(service, [...files.keys()]) }),
          );
          continue;
        }
        const kept = await faults.attempt(() => readOne(file, { service, serviceFile, environment }));
        if (kept) lists.set(service, kept);
      }
      faults.hold();
      return lists;
    },
  };
}

interface ReadOne {
  readonly service: string;
  readonly serviceFile: string;
  readonly environment: string | null;
}

/** null where the file cannot be read, which is told to whoever reads it for its own sake. */
async function environmentsIn(serviceFile: string): Promise<readonly string[] | null> {
  try {
    return environmentNames(await readLocated(serviceFile));
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}
