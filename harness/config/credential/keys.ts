import type { TSchema } from 'typebox';
import Type from '../../base/schema/type.ts';
import type { Secret } from '../../base/secret.ts';

/** The three credentials of an application: identifier and key are public, the secret is not. */
export interface AppCredentials {
  readonly id: string;
  readonly key: string;
  readonly secret: Secret;
}

/** A key that must not open the service. */
export interface RefusedKey {
  readonly key: Secret;
  /** What is wrong with it, as the user says it: `revoked`. */
  readonly because: string;
  /** Where it stands among those of the config, from 1. */
  readonly position: number;
}

/** A key below `credentials:` as it is written, and by its kind what it is read as. */
export interface Key<Value = unknown> {
  /**
   * `secret`: a reference that is read when a run starts. `application`: three keys, the last of them a secret.
   * `refused`: a list of secrets, each with a reason.
   */
  readonly kind: 'text' | 'secret' | 'application' | 'refused';
  /** The credential can be used without it; it is read as null then. */
  readonly optional: boolean;
  readonly shape: TSchema;
  /** Never there: it carries the type of the value. */
  readonly '~value'?: Value;
}

export type SchemeKeys = Readonly<Record<string, Key>>;

/** What the keys of a scheme are read as. */
export type Values<K extends SchemeKeys> = {
  readonly [Name in keyof K]: K[Name] extends Key<infer Value> ? Value : never;
};

/** How a secret is written in a config. */
export const SECRET = `Write where it comes from: \${env:NAME}, \${env:NAME:-default}, \${file:PATH} or \${exec:COMMAND}. It is read when a run starts, and never stored. A plain value is accepted only for a service on this machine.`;

/** What stands there for editors and in messages. */
export const REFERENCE = {
  expected: `a reference such as \${env:NAME}, \${file:PATH} or \${exec:COMMAND}`,
  examples: [`\${env:SEARCH_API_KEY}`, `\${file:../keys/search.txt}`, `\${exec:pass show search}`],
};

interface KeyTextOptions {
  /** Completes "write …". */
  readonly expected?: string;
  readonly examples?: readonly string[];
  readonly pattern?: string;
}

export function text(description: string, options: KeyTextOptions = {}): Key<string> {
  const { expected = 'text', ...rest } = options;
  const shape = Type.String({
    description,
    minLength: 1,
    'x-expected': expected,
    ...rest,
    '~traits': { texts: 'open' },
  });
  return { kind: 'text', optional: false, shape };
}

export function secret(description: string): Key<Secret> {
  const shape = Type.String({
    description: `${description} ${SECRET}`,
    minLength: 1,
    'x-expected': REFERENCE.expected,
    examples: REFERENCE.examples,
    // Read when it is known where the service is.
    '~traits': { texts: 'secret' },
  });
  return { kind: 'secret', optional: false, shape };
}

/** Null may be written for it, and is as if it were not there. */
export function optional<Value>(key: Key<Value>): Key<Value | null> {
  const shape = { ...key.shape, type: ['type' in key.shape ? key.shape.type : 'string', 'null'] };
  return { kind: key.kind, optional: true, shape };
}

/** Where a key goes. */
export const NAME = text('Name of the header or query parameter that carries the key.');

const KEY = secret('The key.');

const SECOND_KEY = optional(
  secret(
    `A second working key, of another account. It shows whether a limit counts for each key. An empty default, as in \${env:NAME:-}, means that there is none.`,
  ),
);

const APPLICATION_SHAPE = Type.Object(
  {
    id: Type.Optional(text('Id of the application. It is public.').shape),
    key: Type.Optional(text('Key of the application. It is public.').shape),
    secret: Type.Optional(secret('Secret that signs the requests.').shape),
  },
  {
    description: 'Id, key and secret of an application. Id and key are public.',
    additionalProperties: false,
    'x-expected': 'a mapping with id, key and secret',
  },
);

/** The application that signs requests and subscriptions. */
export const APPLICATION: Key<AppCredentials> = {
  kind: 'application',
  optional: false,
  shape: APPLICATION_SHAPE,
};

const REFUSED_SHAPE = Type.Object(
  {
    key: optional(secret('What is sent in place of the key.')).shape,
    because: Type.String({
      description:
        'Why it must be refused, in a few words for the reports: revoked, expired, of another audience.',
      pattern: '^[^\\p{Cc}]{1,60}$',
      'x-expected': 'a few words, such as revoked',
      examples: ['revoked', 'of another audience'],
    }),
  },
  {
    additionalProperties: false,
    'x-expected': `a mapping such as { key: "\${env:OLD_KEY}", because: revoked }`,
  },
);

/** Keys that the user knows must be refused. */
export const REFUSED: Key<readonly RefusedKey[] | null> = {
  kind: 'refused',
  optional: true,
  shape: Type.Array(REFUSED_SHAPE, {
    description:
      'Keys (passwords, tokens, secrets of an application) that the service must refuse: revoked, expired, of another audience or environment. Each costs a request.',
    maxItems: 5,
    'x-expected': `a list such as [{ key: "\${env:OLD_KEY}", because: revoked }], of at most 5`,
  }),
};

/** The keys of a scheme whose secret is a key: the key itself, another one, and the application that it is of. */
export const KEYED = { key: KEY, secondKey: SECOND_KEY, refused: REFUSED, app: optional(APPLICATION) };
