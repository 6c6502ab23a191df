import { choice, list, text } from '../shape/kinds.ts';

export const REFERENCE_KEYS = {
  reference: choice('The embedded, conforming service of this name.', ['search', 'messaging', 'realtime']),
  defects: list(
    'Deliberate faults of the reference provider, to see a check fail.',
    { uniqueItems: true, expected: 'a list of defect names' },
    text('Name of a defect.'),
  ),
  variant: text('Another conforming way in which the reference provider can behave.'),
};
