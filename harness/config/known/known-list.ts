import { join } from 'node:path';
import { formatPlace, UsageError } from '../../base/exit.ts';
import { Faults } from '../draft/faults.ts';
import { type Fault, type Loaded, list, mapping, name, needed, text } from '../shape/kinds.ts';
import { loaded } from '../shape/loaded.ts';
import { isDay } from '../shape/units.ts';
import { faultsIn } from '../shape/validation.ts';
import { namedFiles } from '../yaml/catalogue-folder.ts';
import { originsOf, plainOf, readLocated } from '../yaml/located.ts';
import { didYouMean } from '../yaml/nearest.ts';
import { faultsOf } from '../yaml/origin.ts';

const ENTRY = mapping(
  'One failure that is known, and until when that is accepted.',
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
        'What comes in place of what is expected, as `conform known add` writes it. `*` stands for any text. A failure that shows anything else is a new one.',
        { minItems: 1, maxItems: 50, expected: 'a list of texts' },
        text('For example: status 500 for GET with a wrong key'),
      ),
    ),
    reason: needed(text('Why nothing is done about it for now.')),
    owner: needed(text('Who will.')),
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
    environment: name('Only there; in every environment when left out.'),
  },
);

/** A list of known failures, `known/SERVICE.yaml`. */
export const KNOWN = mapping(
  'The failures of one service that are known.',
  { required: ['known'] },
  {
    known: needed(
      list('', { maxItems: 2_000, expected: 'a list of known failures' }, ENTRY),
      'write `known: []` when there is none',
    ),
  },
);

/** A failure that is known, as it is listed, and where: `config/known/search.yaml:12`. */
export type KnownFailure = Omit<Loaded<typeof ENTRY>, 'environment'> & { readonly place: string };

function day(written: string, fault: Fault): string {
  if (isDay(written)) return written;
  throw fault('is not a day of the calendar', 'write it as year, month and day: 2027-01-31');
}

const frameFaults = faultsIn(KNOWN);

/** The folder of the lists in a config folder. */
export function knownFolder(configDir: string): string {
  return join(configDir, 'known');
}

/**
 * The lists of these services, by name; none for a service that has no list. What is said of other environments is left
 * out.
 *
 * @param all names of all services of the folder: a list of any other is a fault.
 * @throws UsageError for all that is wrong with the lists: nothing is known of a list that cannot be read.
 */
export async function knownFailures(
  configDir: string,
  { all, environment }: { readonly all: readonly string[]; readonly environment: string | null },
): Promise<ReadonlyMap<string, readonly KnownFailure[]>> {
  const faults = new Faults();
  const lists = new Map<string, readonly KnownFailure[]>();
  for (const [service, file] of await namedFiles(knownFolder(configDir))) {
    if (!all.includes(service)) {
      const problem = `there is no service ${JSON.stringify(service)} to know failures of`;
      faults.add(new UsageError(problem, { place: { file }, remedy: didYouMean(service, all) }));
      continue;
    }
    const listed = await faults.attempt(() => readList(file, environment));
    if (listed) lists.set(service, listed);
  }
  faults.hold();
  return lists;
}

async function readList(file: string, environment: string | null): Promise<readonly KnownFailure[]> {
  const tree = await readLocated(file);
  const faults = new Faults();
  faults.add(...frameFaults(tree));
  faults.hold();
  const origins = originsOf(tree);
  const { known } = loaded(KNOWN, plainOf(tree), { faultAt: faultsOf(origins), faults });
  faults.hold();
  return known.flatMap(({ environment: only, ...each }, index) => {
    const origin = origins.get(`known.${index}`);
    const { line } = origin?.kind === 'file' ? origin.place : {};
    const place = formatPlace({ file, ...(line === undefined ? {} : { line }) });
    return only === undefined || only === environment ? [{ ...each, place }] : [];
  });
}
