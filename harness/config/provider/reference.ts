import type { Draft } from '../draft/draft.ts';
import { choice, type Loaded, list, text } from '../shape/kinds.ts';

const NAMES = ['search', 'messaging', 'realtime'] as const;

export type ReferenceName = (typeof NAMES)[number];

export const REFERENCE_KEYS = {
  reference: choice('The embedded, conforming service of this name.', NAMES),
  defects: list(
    'Deliberate faults of the reference provider, to see a check fail.',
    { uniqueItems: true, expected: 'a list of defect names' },
    text('Name of a defect.'),
  ),
  variant: text('Another conforming way in which the reference provider can behave.'),
};

export interface ReferenceProvider {
  readonly kind: 'reference';
  readonly name: ReferenceName;
  readonly defects: readonly string[];
  readonly variant: string | null;
}

export function buildReference(
  draft: Draft,
  name: ReferenceName,
  written: { readonly defects?: Loaded<typeof REFERENCE_KEYS.defects>; readonly variant?: string },
): ReferenceProvider {
  const { defects = [], variant = null } = written;
  if (written.defects === undefined) draft.show('provider.defects', []);
  return { kind: 'reference', name, defects, variant };
}
