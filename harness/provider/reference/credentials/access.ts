import type { Reader } from '../../../credential/carrier.ts';
import type { Credentials } from '../../../credential/scheme.ts';

/** The three credentials of a realtime application; the secret never travels. */
export interface App {
  readonly id: string;
  readonly key: string;
  readonly secret: string;
}

/** Where in a request a credential may stand; `signature` stands in several parameters of the query. */
export type Placement = Reader | 'signature';

interface AcceptedKey {
  /** Whom the quota is counted for; not secret. */
  readonly identity: string;
  /** As readers read it: the key; for basic authentication `user:password`. */
  readonly value: string;
}

/** Who may call, and how. No placement at all: everybody. */
export interface Access {
  /** Protection space named in challenges (RFC 9110 §11.5). */
  readonly realm: string;
  readonly placements: readonly Placement[];
  readonly keys: readonly AcceptedKey[];
  readonly app: App | null;
}

/**
 * Who may call with these credentials; the one place where they are revealed to the provider. Those of an application
 * open the signature as a further way in.
 */
export function accessBy(realm: string, { carrier, secret, second, app }: Credentials): Access {
  const reader = carrier?.reader ?? null;
  const keys = reader === null ? [] : [secret, second].filter((key) => key !== null);
  return {
    realm,
    placements: [...(reader === null ? [] : [reader]), ...(app === null ? [] : (['signature'] as const))],
    keys: keys.map((key, index) => ({
      identity: `key-${index + 1}`,
      value: reader?.textOf(key.reveal()) ?? '',
    })),
    app: app && { ...app, secret: app.secret.reveal() },
  };
}
