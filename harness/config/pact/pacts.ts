import type { Secret } from '../../base/secret.ts';
import type { ExpectedInteraction } from './interaction.ts';

/** What consumers expect of one service: pacts, and what is needed to hold the provider against them. */
export interface PactsConfig {
  /** Name of the provider in the pacts. */
  readonly provider: string;
  /** Files, folders and URLs that hold pacts. */
  readonly files: readonly string[];
  readonly broker: PactBroker | null;
  /** Who brings the provider into a provider state; null when nobody does. */
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
  /** Branch of the provider version under test. */
  readonly branch: string | null;
}

export type StateHandler =
  /** A path below the provider's base address, or a URL: gets `{ action, state, params }` by POST. */
  | { readonly kind: 'url'; readonly url: string }
  /** Gets the same as JSON on standard input. */
  | { readonly kind: 'command'; readonly command: string; readonly folder: string };

/** The state of which every request to the provider takes care, since it carries the service's own credential. */
export const VALID_CREDENTIAL = 'a valid credential';

/** Everything of a broker's that must never be shown. */
export function brokerSecrets(broker: PactBroker | null): readonly Secret[] {
  const credentials = broker?.credentials ?? null;
  if (credentials === null) return [];
  return [credentials.kind === 'token' ? credentials.token : credentials.password];
}

/** Whether a source is fetched over HTTP. */
export function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}
