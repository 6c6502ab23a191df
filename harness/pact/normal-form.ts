import { HarnessError } from '../exit.ts';
import { isJsonObject } from '../json-text.ts';
import type { PactScript } from './recording.ts';

/**
 * A recorded pact as it is kept: interactions in the order of the script, keys sorted, and nothing that depends on the
 * version of Pact.
 *
 * @throws HarnessError when it does not hold exactly the interactions of the script.
 */
export function inNormalForm(text: string, { calls, messages }: PactScript): string {
  const pact: unknown = JSON.parse(text);
  const order = [...calls, ...messages].map(({ description }) => description);
  if (!isJsonObject(pact) || !('interactions' in pact) || !('metadata' in pact)) {
    throw new HarnessError('Pact recorded something that is no pact');
  }
  const { interactions, metadata } = pact;
  const found = (Array.isArray(interactions) ? interactions : []).filter(isDescribed);
  const placed = order.map((description) => found.find((each) => each.description === description));
  if (placed.includes(undefined) || found.length !== order.length) {
    throw new HarnessError(`Pact recorded ${found.length} interactions in place of ${order.length}`);
  }
  const normal = sorted({ ...pact, interactions: placed, metadata: specificationOnly(metadata) });
  return `${JSON.stringify(normal, null, 2)}\n`;
}

function isDescribed(interaction: unknown): interaction is { readonly description: unknown } {
  return isJsonObject(interaction) && 'description' in interaction;
}

function specificationOnly(metadata: unknown): unknown {
  return isJsonObject(metadata) && 'pactSpecification' in metadata
    ? { pactSpecification: metadata.pactSpecification }
    : {};
}

/** By code units, so that no locale has a say. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
