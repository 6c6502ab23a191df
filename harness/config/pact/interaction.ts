import { createHash } from 'node:crypto';

/** One interaction that a consumer expects of the provider. */
export interface ExpectedInteraction {
  /** Stable, made of consumer, description and states: `web-shop.a-list-of-orders.some-orders`. */
  readonly id: string;
  readonly consumer: string;
  readonly description: string;
  /** Names of the provider states that it takes for granted. */
  readonly states: readonly string[];
  /** A request and its response, or a message that the provider sends. */
  readonly kind: 'http' | 'message';
  /** Method of the request; null for a message. */
  readonly method: string | null;
  /** Status of the expected response; null for a message. */
  readonly status: number | null;
  /** Why it cannot be verified here; null when it can. */
  readonly unsupported: string | null;
  /** The provider is not held to it yet: a mismatch is known beforehand. */
  readonly pending: boolean;
  /** The pacts that hold it. */
  readonly origins: readonly InteractionOrigin[];
  /** The pact with this interaction alone: JSON text, its numbers as they were written. */
  readonly pact: string;
}

export interface InteractionOrigin {
  /** A path or a URL. */
  readonly source: string;
  /** What the broker calls the interaction there; null for one that comes from no broker. */
  readonly brokerId: string | null;
}

/**
 * Consumer, description and states, which together name an interaction for Pact as well: so an id depends on nothing
 * else in its file, and not on its place there.
 */
export function interactionId(consumer: string, description: string, states: readonly string[]): string {
  return [consumer, description, ...states].map(slug).join('.');
}

/** Tells what an interaction expects from what it expected before it was changed. */
export function digestOf({ pact }: Pick<ExpectedInteraction, 'pact'>): string {
  return digest(pact);
}

const SLUG_LENGTH = 60;
/** Other scripts leave nothing of a word in ASCII. */
const LATIN = /^[\p{ASCII}\p{M}\p{Script=Latin}\p{P}\p{Z}]*$/u;

/** Lower-case letters, digits and hyphens; where that loses or cuts the words, a digest tells them apart. */
function slug(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  if (plain !== '' && plain.length <= SLUG_LENGTH && LATIN.test(text)) return plain;
  const start = plain.slice(0, SLUG_LENGTH).replace(/-+$/, '');
  return start === '' ? digest(text) : `${start}-${digest(text)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/**
 * All interactions, each with an id of its own. What several pacts say alike is one interaction; where they differ (a
 * broker gives several versions of a consumer's pact) all versions stay, told apart by a digest of what they say.
 */
export function distinct(interactions: readonly ExpectedInteraction[]): readonly ExpectedInteraction[] {
  return [...Map.groupBy(interactions, ({ id }) => id)].flatMap(([id, group]) => {
    const versions = [...Map.groupBy(group, ({ pact }) => pact)];
    return versions.map(([pact, same]): ExpectedInteraction => {
      const [first] = same;
      if (first === undefined) throw new RangeError('a group has a member');
      return {
        ...first,
        id: versions.length === 1 ? id : `${id}.${digest(pact)}`,
        // Whoever is held to it by one pact is held to it.
        pending: same.every(({ pending }) => pending),
        origins: same.flatMap(({ origins }) => origins),
      };
    });
  });
}
