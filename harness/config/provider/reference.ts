import { choice, list, text } from '../shape/kinds.ts';
import { providerKind } from './kind.ts';

const NAMES = ['search', 'messaging', 'realtime'] as const;

export type ReferenceName = (typeof NAMES)[number];

export interface ReferenceProvider {
  readonly kind: 'reference';
  readonly name: ReferenceName;
  readonly defects: readonly string[];
  readonly variant: string | null;
}

export const reference = providerKind('reference', {
  keys: {
    reference: choice('The built-in service of this name, which conforms.', NAMES),
    defects: list(
      'Deliberate faults of the reference provider, to see a check fail.',
      { uniqueItems: true, expected: 'a list of defect names' },
      text('Name of a defect.'),
    ),
    variant: text('Another way to behave, which conforms as well.'),
  },
  build(name, draft, { defects, variant }): ReferenceProvider {
    if (defects === undefined) draft.show('provider.defects', []);
    return { kind: 'reference', name, defects: defects ?? [], variant: variant ?? null };
  },
  staysHere: () => true,
  addressOf: () => null,
  isBuiltIn: true,
});
