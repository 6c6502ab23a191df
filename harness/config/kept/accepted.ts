import { json, mapping, name, needed, text } from '../shape/kinds.ts';
import { type Kept, keptList } from './kept.ts';

const ENTRY = mapping(
  'One thing that was observed, and from which the service must not drift.',
  { expected: 'a mapping with key and value' },
  {
    key: needed(text('Key of the observation, such as limits.algorithm.')),
    value: json('What was seen, as `conform accept` writes it.', { default: null }),
    environment: name('Only there; in every environment when left out.'),
  },
);

/** `accepted/SERVICE.yaml`. */
export const ACCEPTED = keptList('accepted', 'accepted observations', ENTRY);

/** An observation that is accepted, as it is listed. */
export type AcceptedObservation = Kept<typeof ENTRY>;
