import type { TSchema } from 'typebox';
import type { Secret } from '../../base/secret.ts';
import * as shapes from '../shape/kinds.ts';

/** The three credentials of an application: identifier and key are public, the secret is not. */
export interface AppCredentials {
  readonly id: string;
  readonly key: string;
  readonly secret: Secret;
}

export interface RefusedKey {
  readonly key: Secret;
  /** The reason, in the user's words: `revoked`. */
  readonly because: string;
  /** Where it stands among those of the config, from 1. */
  readonly position: number;
}

/** A key below `credentials:` as it is written, and by its kind what it is read as. */
export interface Key<Value = unknown> {
  /** `application`: three keys, the last a secret. `refused`: secrets, each with a reason. */
  readonly kind: 'text' | 'secret' | 'application' | 'refused';
  /** The credential can be used without it; it is read as null then. */
  readonly optional: boolean;
  readonly shape: TSchema;
  /** Never there: it carries the type of the value. */
  readonly '~value'?: Value;
}

export type SchemeKeys = Readonly<Record<string, Key>>;

export type Values<K extends SchemeKeys> = {
  readonly [Name in keyof K]: K[Name] extends Key<infer Value> ? Value : never;
};

type KeyTextOptions = Pick<shapes.Options<string>, 'expected' | 'examples'> & { readonly pattern?: string };

export function text(description: string, options: KeyTextOptions = {}): Key<string> {
  return {
    kind: 'text',
    optional: false,
    shape: shapes.text(description, { ...options, references: 'open' }),
  };
}

export function secret(description: string): Key<Secret> {
  return { kind: 'secret', optional: false, shape: shapes.secret(`${description} ${shapes.SECRET}`) };
}

/** Null may be written for it, and is as if it were not there. */
export function optional<Value>(key: Key<Value>): Key<Value | null> {
  const shape = { ...key.shape, type: ['type' in key.shape ? key.shape.type : 'string', 'null'] };
  return { kind: key.kind, optional: true, shape };
}

export const NAME = text('Name of the header or query parameter that carries the key.');

const KEY = secret('The key.');

const SECOND_KEY = optional(
  secret(
    `A second working key, of another account. It shows whether a limit counts for each key. An empty default, as in \${env:NAME:-}, means that there is none.`,
  ),
);

const OF_APPLICATION = shapes.mapping(
  'Id, key and secret of an application. Id and key are public.',
  { expected: 'a mapping with id, key and secret' },
  {
    id: text('Id of the application. It is public.').shape,
    key: text('Key of the application. It is public.').shape,
    secret: secret('Secret that signs the requests.').shape,
  },
);

/** The application that signs requests and subscriptions. */
export const APPLICATION: Key<AppCredentials> = {
  kind: 'application',
  optional: false,
  shape: OF_APPLICATION,
};

const REFUSED_SHAPE = shapes.mapping(
  '',
  { expected: `a mapping such as { key: "\${env:OLD_KEY}", because: revoked }` },
  {
    key: optional(secret('The key to send in place of the working one.')).shape,
    because: shapes.text(
      'Why it must be refused, in a few words for the reports: revoked, expired, of another audience.',
      {
        pattern: '^[^\\p{Cc}]{1,60}$',
        expected: 'a few words, such as revoked',
        examples: ['revoked', 'of another audience'],
      },
    ),
  },
);

export const REFUSED: Key<readonly RefusedKey[] | null> = {
  kind: 'refused',
  optional: true,
  shape: shapes.list(
    'Keys (passwords, tokens, secrets of an application) that the service must refuse: revoked, expired, of another audience or environment. Each costs a request.',
    { maxItems: 5, expected: `a list such as [{ key: "\${env:OLD_KEY}", because: revoked }], of at most 5` },
    REFUSED_SHAPE,
  ),
};

/** The keys of a scheme whose secret is a key: the key itself, another one, and the application that it is of. */
export const KEYED = { key: KEY, secondKey: SECOND_KEY, refused: REFUSED, app: optional(APPLICATION) };
