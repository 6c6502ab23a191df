import { type Fault, list, mapping, name, needed, text } from '../shape/kinds.ts';
import { isDay } from '../shape/units.ts';
import { type Kept, keptList } from './kept.ts';

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

/** `known/SERVICE.yaml`. */
export const KNOWN = keptList('known', 'known failures', ENTRY);

/** A failure that is known, as it is listed. */
export type KnownFailure = Kept<typeof ENTRY>;

function day(written: string, fault: Fault): string {
  if (isDay(written)) return written;
  throw fault('is not a day of the calendar', 'write it as year, month and day: 2027-01-31');
}
