import type { TSchema } from 'typebox';
import type { Draft } from '../draft/draft.ts';
import type { Keys, Loaded, Mapping } from '../shape/kinds.ts';

/** What a config can say of the providers of one kind. How they come to be there: `harness/engine/provider/start.ts`. */
export interface ProviderKind<N extends string, K extends Readonly<Record<N, TSchema>>, P> {
  /** The key that names the kind, and those that belong to it alone. */
  readonly keys: K;
  /** `said` stands at the key that names the kind. @throws UsageError for what cannot be meant. */
  readonly build: (said: Loaded<K[N]>, draft: Draft, written: Loaded<Mapping<K & Keys>>) => P | Promise<P>;
  /** Whether everything sent there stays on this machine, so that example secrets may stand in the file. */
  readonly staysHere: (provider: P) => boolean;
  /** Where it runs already: a URL, or the path of a socket; null for one that is started for the run. */
  readonly addressOf: (provider: P) => string | null;
  /** It is part of the harness: it may be asked anything, can live by the clock of who asks, and is known to tell its quota. */
  readonly isBuiltIn?: true;
}

export function providerKind<
  const N extends string,
  K extends Readonly<Record<N, TSchema>>,
  P extends { readonly kind: N },
>(_name: N, kind: ProviderKind<N, K, P>): ProviderKind<N, K, P> {
  return kind;
}
