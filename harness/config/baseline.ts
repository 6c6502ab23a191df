import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { isMap, isNode, isScalar, parseDocument, YAMLSeq } from 'yaml';
import { formatPlace, UsageError } from '../base/exit.ts';
import { readRegularFile } from '../base/regular-file.ts';
import { Faults } from './draft/faults.ts';
import { environmentNames } from './draft/overlay.ts';
import { type Fault, json, list, mapping, name, needed, text } from './shape/kinds.ts';
import { type Loaded, loaded } from './shape/loaded.ts';
import { isDay } from './shape/text-forms.ts';
import { faultsIn } from './shape/validation.ts';
import { schemaLine } from './written/first-service.ts';
import { isOneFile } from './yaml/config-place.ts';
import { type LocatedMap, originsOf, plainOf, readLocated, withoutKeys } from './yaml/located.ts';
import { didYouMean } from './yaml/nearest.ts';
import { faultsOf } from './yaml/origin.ts';
import { namedFiles } from './yaml/read-text.ts';

export type BaselineEntry = Readonly<Record<string, unknown>> & { readonly environment?: string };

const AS_WRITTEN = { lineWidth: 0, flowCollectionPadding: false } as const;

/** The list of a service is small. In octets. */
const MOST_OCTETS = 16 * 1024 * 1024;

interface BaselineFile {
  readonly file: string;
  /** The text of the list. */
  readonly text: string;
  /** The text of the file with this list in place of its own. */
  with(list: string): string;
}

/** The list of a service in `FOLDER/` of a config folder, or in `conform.yaml`; a new one if there is none. Makes the folder. */
export function baselineFile(configDir: string, folder: string, service: string): BaselineFile {
  if (isOneFile(configDir)) return sectionOf(configDir, folder);
  const { file, text } = listFile(configDir, folder, service);
  return { file, text, with: (list) => list };
}

/** The rest of the file stays as it is written. */
function sectionOf(file: string, key: string): BaselineFile {
  const text = readRegularFile(file, MOST_OCTETS).toString();
  const { contents } = parseDocument(text);
  const pair = isMap(contents)
    ? contents.items.find(({ key: name }) => isScalar(name) && name.value === key)
    : null;
  const [start = text.length] = isNode(pair?.key) ? (pair.key.range ?? []) : [];
  const [, , end = text.length] = isNode(pair?.value) ? (pair.value.range ?? []) : [];
  const before = pair ? text.slice(0, start) : `${text.trimEnd()}\n\n`;
  return {
    file,
    text: pair ? text.slice(start, end) : `${key}: []\n`,
    with: (list) => before + list + text.slice(end),
  };
}

function listFile(configDir: string, folder: string, service: string): Omit<BaselineFile, 'with'> {
  const places = ['yml', 'yaml'].map((end) => join(configDir, folder, `${service}.${end}`));
  const there = places.find((place) => existsSync(place));
  if (there !== undefined) return { file: there, text: readRegularFile(there, MOST_OCTETS).toString() };
  mkdirSync(join(configDir, folder), { recursive: true });
  const head = schemaLine(configDir, folder, `${folder}.schema.json`);
  return { file: join(configDir, folder, `${service}.yaml`), text: `${head}\n${folder}: []\n` };
}

/** The list with these entries in place of those with the same `key` and environment; the rest stays. */
export function withEntries(
  text: string,
  { folder, key }: { readonly folder: string; readonly key: string },
  entries: readonly BaselineEntry[],
): string {
  const document = parseDocument(text);
  const list = listOf(document, folder);
  for (const entry of entries) {
    const node = document.createNode(entry);
    const at = list.items.findIndex((item) => {
      const written = plain(item);
      return written?.[key] === entry[key] && written?.environment === entry.environment;
    });
    const before = list.items[at];
    if (before === undefined) list.add(node);
    else {
      if (isMap(before)) node.commentBefore = before.commentBefore ?? null;
      list.items[at] = node;
    }
  }
  return document.toString(AS_WRITTEN);
}

/** The text of a list without the entries that have these members, and the number removed. */
export function withoutEntries(
  text: string,
  folder: string,
  entries: readonly BaselineEntry[],
): { readonly text: string; readonly removed: number } {
  const document = parseDocument(text);
  const list = listOf(document, folder);
  const isMeant = (written: BaselineEntry | null) => (entry: BaselineEntry) =>
    Object.entries(entry).every(([name, value]) => JSON.stringify(written?.[name]) === JSON.stringify(value));
  const kept = list.items.filter((item) => !entries.some(isMeant(plain(item))));
  const removed = list.items.length - kept.length;
  list.items = kept;
  return { text: removed === 0 ? text : document.toString(AS_WRITTEN), removed };
}

function listOf(document: ReturnType<typeof parseDocument>, folder: string): YAMLSeq {
  const list = document.get(folder);
  if (list instanceof YAMLSeq && list.items.length > 0) return list;
  // An empty list is written `[]`, and grows as a block.
  const fresh = new YAMLSeq();
  document.set(folder, fresh);
  return fresh;
}

function plain(item: unknown): BaselineEntry | null {
  return isMap(item) ? (item.toJSON() as BaselineEntry) : null;
}

/** A user's lists for each service, `FOLDER/SERVICE.yaml`. An entry holds in one environment or in all. */
export interface BaselineList<E extends TSchema> {
  /** Folder in the config folder; the key of the list as well. */
  readonly folder: string;
  readonly shape: TSchema;
  /** Lists by service, without entries for other environments. @throws UsageErrors with every fault. */
  read(configDir: string, setting: BaselineScope): Promise<ReadonlyMap<string, readonly Listed<E>[]>>;
}

interface BaselineScope {
  /** The files of all services of the config, by name: a list of any other, or for an environment of none, is a fault. */
  readonly files: ReadonlyMap<string, string>;
  readonly environment: string | null;
}

/** An entry, and where it stands: `config/known/search.yaml:12`. */
export type Listed<E> = Omit<Loaded<E>, 'environment'> & { readonly place: string };

/** `of`: what the entries are, for a person. */
export function baselineList<E extends TSchema>(folder: string, of: string, entry: E): BaselineList<E> {
  const entries = list('', { maxItems: 2_000, expected: `a list of ${of}` }, entry);
  const shape = mapping(
    `The ${of} of one service.`,
    { required: [folder] },
    { [folder]: needed(entries, `write \`${folder}: []\` when there is none`) },
  );
  const frameFaults = faultsIn(shape);

  /** The list of a file; null if `conform.yaml` has none. */
  function only(tree: LocatedMap, isOne: boolean): LocatedMap | null {
    if (!isOne) return tree;
    const others = [...tree.entries.keys()].filter((key) => key !== folder);
    return tree.entries.has(folder) ? withoutKeys(tree, ...others) : null;
  }

  async function readOne(
    file: string,
    service: string,
    serviceFile: string,
    environment: string | null,
  ): Promise<readonly Listed<E>[]> {
    const tree = only(await readLocated(file), file === serviceFile);
    if (tree === null) return [];
    const faults = new Faults();
    faults.add(...frameFaults(tree));
    faults.hold();
    const origins = originsOf(tree);
    const faultAt = faultsOf(origins);
    const all = loaded(shape, plainOf(tree), { faultAt, faults });
    faults.hold();
    const environments = await environmentsIn(serviceFile);
    const written = all[folder] as readonly (Loaded<E> & { readonly environment?: string })[];
    const kept = written.flatMap(({ environment: only, ...each }, index) => {
      if (only !== undefined && environments !== null && !environments.includes(only)) {
        const problem = `the service ${service} has no environment ${JSON.stringify(only)}`;
        faults.add(faultAt(`${folder}.${index}.environment`, problem, didYouMean(only, environments)));
      }
      const origin = origins.get(`${folder}.${index}`);
      const { line } = origin?.kind === 'file' ? origin.place : {};
      const place = formatPlace({ file, ...(line === undefined ? {} : { line }) });
      return only === undefined || only === environment ? [{ ...each, place } as Listed<E>] : [];
    });
    faults.hold();
    return kept;
  }

  return {
    folder,
    shape,
    async read(configDir, { files, environment }) {
      const faults = new Faults();
      const lists = new Map<string, readonly Listed<E>[]>();
      const places = isOneFile(configDir) ? files : await namedFiles(join(configDir, folder));
      for (const [service, file] of places) {
        const serviceFile = files.get(service);
        if (serviceFile === undefined) {
          const problem = `there is no service ${JSON.stringify(service)} to keep ${of} of`;
          const remedy = didYouMean(service, [...files.keys()]);
          faults.add(new UsageError(problem, { place: { file }, remedy }));
          continue;
        }
        const kept = await faults.attempt(() => readOne(file, service, serviceFile, environment));
        if (kept) lists.set(service, kept);
      }
      faults.hold();
      return lists;
    },
  };
}

/** null if the file cannot be read: loading the service reports that. */
async function environmentsIn(serviceFile: string): Promise<readonly string[] | null> {
  try {
    return environmentNames(await readLocated(serviceFile));
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

const ACCEPTED_ENTRY = mapping(
  'One accepted observation, from which the service must not drift.',
  { expected: 'a mapping with key and value' },
  {
    key: needed(text('Key of the observation, such as limits.algorithm.')),
    value: json('The observed value, as `conform accept` writes it.', { default: null }),
    environment: name('Only in this environment; in every one if left out.'),
  },
);

export const ACCEPTED = baselineList('accepted', 'accepted observations', ACCEPTED_ENTRY);

/** An observation that is accepted, as it is listed. */
export type AcceptedObservation = Listed<typeof ACCEPTED_ENTRY>;

const KNOWN_ENTRY = mapping(
  'One known failure, and until when it is accepted.',
  { expected: 'a mapping with check, got, reason, owner and until' },
  {
    check: needed(
      text('Id of the check, or a pattern of ids such as headers.*', {
        pattern: '^[a-z][A-Za-z0-9.*_-]{0,300}$',
        expected: 'the id of a check, or a pattern such as headers.*',
      }),
    ),
    got: needed(
      list(
        'The result in place of the expected one, as `conform known add` writes it. `*` stands for any text. A failure that shows anything else is a new one.',
        { minItems: 1, maxItems: 50, expected: 'a list of texts' },
        text('For example: status 500 for GET with a wrong key'),
      ),
    ),
    reason: needed(text('Why nothing is done about it for now.')),
    owner: needed(text('Who will mend it.')),
    until: needed(
      text('The last day on which it counts as known, as 2027-01-31.', {
        read: day,
        expected: 'a day such as 2027-01-31',
      }),
    ),
    link: text('Where it is discussed.', {
      pattern: '^https?://\\S+$',
      expected: 'an address that begins with https://',
    }),
    environment: name('Only in this environment; in every one if left out.'),
  },
);

export const KNOWN = baselineList('known', 'known failures', KNOWN_ENTRY);

export type KnownFailure = Listed<typeof KNOWN_ENTRY>;

function day(written: string, fault: Fault): string {
  if (isDay(written)) return written;
  throw fault('is not a day of the calendar', 'write it as year, month and day: 2027-01-31');
}
