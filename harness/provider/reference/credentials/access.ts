/** The three credentials of a realtime application; the secret never travels. */
export interface App {
  readonly id: string;
  readonly key: string;
  readonly secret: string;
}

/** Where in a request a credential may stand. */
export type Placement =
  /** `Authorization: Bearer KEY` (RFC 6750 §2.1). */
  | { readonly kind: 'bearer' }
  /** `Authorization: Basic …` (RFC 7617). */
  | { readonly kind: 'basic' }
  /** A field of its own, e.g. `X-API-Key`. */
  | { readonly kind: 'field'; readonly name: string }
  /** A query parameter. */
  | { readonly kind: 'parameter'; readonly name: string }
  /** Query parameters `auth_key`, `auth_timestamp`, `auth_version`, `body_md5`, `auth_signature`. */
  | { readonly kind: 'signature' };

interface AcceptedKey {
  /** Whom the quota is counted for; not secret. */
  readonly identity: string;
  /** The key; for basic authentication `user:password`. */
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

/** How the credentials of one service are presented, with the values that are accepted. */
export type AcceptedCredentials =
  | { readonly scheme: 'none' }
  | { readonly scheme: 'bearer'; readonly keys: readonly string[]; readonly app?: App | null }
  | {
      readonly scheme: 'header' | 'query';
      readonly name: string;
      readonly keys: readonly string[];
      readonly app?: App | null;
    }
  | {
      readonly scheme: 'basic';
      readonly users: readonly { readonly username: string; readonly password: string }[];
      readonly app?: App | null;
    }
  | { readonly scheme: 'signed'; readonly app: App };

function placementsOf(credentials: AcceptedCredentials): readonly Placement[] {
  switch (credentials.scheme) {
    case 'bearer':
    case 'basic':
      return [{ kind: credentials.scheme }];
    case 'header':
      return [{ kind: 'field', name: credentials.name }];
    case 'query':
      return [{ kind: 'parameter', name: credentials.name }];
    default:
      return [];
  }
}

function valuesOf(credentials: AcceptedCredentials): readonly string[] {
  if ('keys' in credentials) return credentials.keys;
  if ('users' in credentials) return credentials.users.map((user) => `${user.username}:${user.password}`);
  return [];
}

/** Application credentials open the signature as a further way in. */
export function accessBy(realm: string, credentials: AcceptedCredentials): Access {
  const app = 'app' in credentials ? (credentials.app ?? null) : null;
  return {
    realm,
    placements: [...placementsOf(credentials), ...(app === null ? [] : [{ kind: 'signature' } as const])],
    keys: valuesOf(credentials).map((value, index) => ({ identity: `key-${index + 1}`, value })),
    app,
  };
}
