import { createHash } from 'node:crypto';
import type { Secret } from '../../base/secret.ts';

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

/** Consumer, description and states name an interaction, for Pact as well; its place does not matter. */
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

/** Equal interactions of several pacts are one; different versions get a digest in their ids. */
export function distinct(interactions: readonly ExpectedInteraction[]): readonly ExpectedInteraction[] {
  return [...Map.groupBy(interactions, ({ id }) => id)].flatMap(([id, group]) => {
    const versions = [...Map.groupBy(group, ({ pact }) => pact)];
    return versions.map(([pact, same]): ExpectedInteraction => {
      const [first] = same;
      if (first === undefined) throw new RangeError('a group has a member');
      return {
        ...first,
        id: versions.length === 1 ? id : `${id}.${digest(pact)}`,
        // An interaction that one pact demands is demanded.
        pending: same.every(({ pending }) => pending),
        origins: same.flatMap(({ origins }) => origins),
      };
    });
  });
}

/** The pacts of one service, and the settings to verify them with. */
export interface PactsConfig {
  readonly provider: string;
  readonly files: readonly string[];
  readonly broker: PactBroker | null;
  /** Brings the provider into a provider state; null for none. */
  readonly states: StateHandler | null;
  /** Where the provider's messages are asked for: a path below its base address, or a URL; null when nowhere. */
  readonly messages: string | null;
  /** Of all pacts that have been read, in the order of their sources. */
  readonly interactions: readonly ExpectedInteraction[];
  /** Pacts that name another provider, each for a person: `pacts/a.json (web-shop -> orders)`. */
  readonly leftOut: readonly string[];
  /** Why some pacts are not among the interactions; those are fetched when a run starts. */
  readonly unread: readonly string[];
}

export interface PactBroker {
  readonly url: string;
  readonly credentials:
    | { readonly kind: 'token'; readonly token: Secret }
    | { readonly kind: 'basic'; readonly username: string; readonly password: Secret }
    | null;
  /** As the broker takes them: which versions of the consumers to verify. */
  readonly selectors: readonly Readonly<Record<string, string | boolean>>[];
  /** Verify pacts that the provider has never fulfilled too, without failing for them. */
  readonly pending: boolean;
  /** ISO date; pacts of work in progress since then are verified as pending ones. */
  readonly wipSince: string | null;
  readonly branch: string | null;
}

export type StateHandler =
  /** A path below the provider's base address, or a URL: gets `{ action, state, params }` by POST. */
  | { readonly kind: 'url'; readonly url: string }
  /** Gets the same as JSON on standard input. */
  | { readonly kind: 'command'; readonly command: string; readonly folder: string };

/** The state of which every request to the provider takes care, since it carries the service's own credential. */
export const VALID_CREDENTIAL = 'a valid credential';

export function brokerSecrets(broker: PactBroker | null): readonly Secret[] {
  const credentials = broker?.credentials ?? null;
  if (credentials === null) return [];
  return [credentials.kind === 'token' ? credentials.token : credentials.password];
}

/** Whether a source is fetched over HTTP. */
export function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}
