import type { TSchema } from 'typebox';
import type { Draft } from '../draft/draft.ts';
import type { Keys, Loaded, Mapping } from '../shape/kinds.ts';

/** What a config can say of the providers of one kind. How they come to be there: `harness/provider/start.ts`. */
export interface ProviderKind<N extends string, K extends Readonly<Record<N, TSchema>>, P> {
  /** The key that names the kind, and those that belong to it alone. */
  readonly keys: K;
  /** `said` stands at the key that names the kind. @throws UsageError for what cannot be meant. */
  readonly build: (said: Loaded<K[N]>, draft: Draft, written: Loaded<Mapping<K & Keys>>) => P | Promise<P>;
  /** Whether everything sent there stays on this machine, so that example secrets may stand in the file. */
  readonly staysHere: (provider: P) => boolean;
}

export function providerKind<
  const N extends string,
  K extends Readonly<Record<N, TSchema>>,
  P extends { readonly kind: N },
>(_name: N, kind: ProviderKind<N, K, P>): ProviderKind<N, K, P> {
  return kind;
}
