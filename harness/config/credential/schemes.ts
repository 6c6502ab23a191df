import Type from '../../base/schema/type.ts';
import { choice, mapping } from '../shape/kinds.ts';
import type { Question, Scheme } from './scheme.ts';
import { basic } from './schemes/basic.ts';
import { bearer } from './schemes/bearer.ts';
import { header } from './schemes/header.ts';
import { mutualTls } from './schemes/mutual-tls.ts';
import { none } from './schemes/none.ts';
import { oauth2 } from './schemes/oauth2.ts';
import { query } from './schemes/query.ts';
import { signed } from './schemes/signed.ts';

/** Every way of letting a client in, the most usual one first. */
export const SCHEMES: readonly [Scheme, ...Scheme[]] = [
  bearer,
  header,
  query,
  basic,
  oauth2,
  signed,
  mutualTls,
  none,
];

export function schemeNamed(name: string): Scheme | undefined {
  return SCHEMES.find((scheme) => scheme.name === name);
}

/** What `conform init` asks of one scheme or another, each option once. */
export const QUESTIONS: readonly Question[] = [
  ...new Map(SCHEMES.flatMap(({ first }) => first.asks.map((ask) => [ask.option, ask] as const))).values(),
];

/** The block as it is written. Which keys belong to its scheme is known when the environments are laid over it. */
export interface CredentialsBlock {
  readonly scheme?: string;
  readonly name?: string;
  readonly [key: string]:
    | string
    | Readonly<Record<string, string>>
    | readonly { readonly key?: string | null; readonly because?: string }[]
    | null
    | undefined;
}

const ALL_KEYS = SCHEMES.flatMap(({ keys }) => Object.entries(keys));
/** Where one scheme can do without a key that others need, null may stand for it. */
const SHAPES = Object.fromEntries(
  ALL_KEYS.toSorted(([, a], [, b]) => Number(a.optional) - Number(b.optional)).map(([name, { shape }]) => [
    name,
    shape,
  ]),
);

/** `credentials:` of a service, or of an environment that lays something over it. */
export const CREDENTIALS = Type.Unsafe<CredentialsBlock>(
  mapping(
    'How a client gets in.',
    {
      expected: `a mapping such as { scheme: bearer, key: "\${env:NAME}" }`,
      def: 'credentials',
      replaces: (below, above) => 'scheme' in above && above.scheme !== below.scheme,
    },
    {
      scheme: choice(
        SCHEMES.map(({ name, summary }) => `${name}: ${summary}.`).join(' '),
        SCHEMES.map(({ name }) => name),
      ),
      ...SHAPES,
    },
  ),
);
