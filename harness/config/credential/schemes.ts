import Type from '../../base/schema/type.ts';
import { Secret } from '../../base/secret.ts';
import { isToken } from '../../wire/fields/grammar/field-grammar.ts';
import { choice, mapping } from '../shape/kinds.ts';
import { basicField, bearerField, cookiePair, headerField, queryParameter } from './carrier.ts';
import { APPLICATION, KEYED, NAME, optional, REFUSED, secret, text } from './keys.ts';
import {
  asksForBearer,
  isAuthorizationKey,
  keyLines,
  ofNamedKey,
  ofOneVariable,
  type Question,
  question,
  type Scheme,
  scheme,
  shippedApp,
  shippedKey,
} from './scheme.ts';
import { login } from './schemes/login.ts';
import { oauth2 } from './schemes/oauth2.ts';
import { signature } from './signing/signature.ts';

/** RFC 6750 §2.1. */
export const bearer = scheme({
  name: 'bearer',
  summary: 'Authorization: Bearer KEY',
  keys: KEYED,
  use: () => ({ carrier: bearerField }),
  // The documents' bearer sample is what the config says too: no contradiction is left.
  facts: { 'auth.sample': { field: 'Authorization', value: 'Bearer <API_KEY>' } },
  opens: asksForBearer,
  first: ofOneVariable(keyLines),
  proof: { setting: 'bearer', words: null, conforming: ['search', 'realtime'], values: shippedKey },
});

/** Fields that frame or route the message; a credential there would break it. */
export const FRAMING_FIELDS =
  /^(?:connection|content-(?:encoding|length|type)|date|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent)$/i;

/** The key in a header field of its own, such as X-API-Key; or in Authorization, with no scheme before it. */
export const header = scheme({
  name: 'header',
  summary: 'the key in the header `name`; in Authorization the key alone',
  keys: { name: NAME, ...KEYED },
  fault({ name }) {
    const fault = (problem: string, use: string) => {
      return { key: 'name', problem, remedy: `use ${use}, such as X-API-Key` };
    };
    if (!isToken(name)) return fault('cannot be the name of a header field', 'letters, digits and hyphens');
    if (!FRAMING_FIELDS.test(name)) return null;
    return fault('is a header field that cannot carry a credential', 'another one');
  },
  use: ({ name }) => ({ carrier: headerField(name) }),
  opens: ({ type, in: place, name }, written) =>
    type === 'apiKey' && place === 'header' && name.toLowerCase() === written.name?.toLowerCase(),
  first: ofNamedKey('Header that carries the key', 'X-API-Key'),
  proof: {
    setting: 'header',
    words: 'credentials: { scheme: header, name: X-API-Key }',
    conforming: ['search'],
    values: (shipped) => ({ name: 'X-API-Key', ...shippedKey(shipped) }),
  },
});

/** Unreserved characters of RFC 3986 §2.3, and the brackets that some interfaces use. */
const PARAMETER_NAME = /^[A-Za-z0-9_.~[\]-]+$/;

export const query = scheme({
  name: 'query',
  summary: 'the key in the query parameter `name`',
  keys: { name: NAME, ...KEYED },
  fault: ({ name }) =>
    PARAMETER_NAME.test(name)
      ? null
      : {
          key: 'name',
          problem: 'cannot be the name of a query parameter',
          remedy: 'use letters, digits and - . _ ~ [ ]',
        },
  use: ({ name }) => ({ carrier: queryParameter(name) }),
  opens: ({ type, in: place, name }, written) =>
    type === 'apiKey' && place === 'query' && name === written.name,
  first: ofNamedKey('Query parameter that carries the key', 'api_key'),
  proof: {
    setting: 'query',
    words: 'credentials: { scheme: query, name: api_key }',
    conforming: ['search'],
    isRefusedOtherwise: true,
    values: (shipped) => ({ name: 'api_key', ...shippedKey(shipped) }),
  },
});

/** The key in a cookie (RFC 6265 §4.1.1: its name is a token). */
export const cookie = scheme({
  name: 'cookie',
  summary: 'the key in the cookie `name`',
  keys: { name: NAME, ...KEYED },
  fault: ({ name }) =>
    isToken(name)
      ? null
      : { key: 'name', problem: 'cannot be the name of a cookie', remedy: 'use letters, digits and hyphens' },
  use: ({ name }) => ({ carrier: cookiePair(name) }),
  opens: ({ type, in: place, name }, written) =>
    type === 'apiKey' && place === 'cookie' && name === written.name,
  first: ofNamedKey('Cookie that carries the key', 'session'),
  proof: {
    setting: 'cookie',
    words: 'credentials: { scheme: cookie, name: session }',
    conforming: ['search'],
    isRefusedOtherwise: true,
    values: (shipped) => ({ name: 'session', ...shippedKey(shipped) }),
  },
});

/** RFC 7617. */
export const basic = scheme({
  name: 'basic',
  summary: 'user name and password',
  keys: {
    username: text('The user name.'),
    password: secret('The password.'),
    refused: REFUSED,
    app: optional(APPLICATION),
  },
  // RFC 7617 §2: the first colon ends the user-id.
  fault: ({ username }) =>
    /[:\p{Cc}]/u.test(username)
      ? { key: 'username', problem: 'holds a colon or control character', remedy: 'RFC 7617 allows neither' }
      : null,
  use: ({ username, password }) => ({ carrier: basicField(username), secret: password }),
  opener: ({ password }) => ({ called: 'password', secret: password }),
  opens: (demand) => (demand.type === 'http' && demand.scheme === 'basic') || isAuthorizationKey(demand),
  first: ofOneVariable((variable) => [`username: \${env:${variable}_USER}`, `password: \${env:${variable}}`]),
  proof: {
    setting: 'basic',
    words: 'credentials: { scheme: basic }',
    conforming: ['search'],
    isRefusedOtherwise: true,
    values: ({ app }) => ({
      username: 'example-user',
      password: new Secret('EXAMPLE_PASSWORD', 'example-password-not-secret'),
      app,
    }),
  },
});

/** Each request signed by the application, by the rules of the Pusher HTTP API. */
export const signed = scheme({
  name: 'signed',
  summary: 'each request signed with HMAC-SHA256 by `app`',
  keys: { app: APPLICATION, refused: REFUSED },
  use: ({ app }) => ({ carrier: signature(app.key), secret: app.secret }),
  opener: ({ app }) => ({ called: 'secret', secret: app.secret }),
  facts: { 'auth.usage': 'HMAC-SHA256 over method, path and sorted query' },
  // OpenAPI has no word for signatures; documents write them as keys or as schemes of their own.
  opens: ({ type }) => type === 'apiKey' || type === 'http',
  first: ofOneVariable((variable) => [
    'app:',
    `  id: \${env:${variable}_ID}`,
    `  key: \${env:${variable}_KEY}`,
    `  secret: \${env:${variable}}`,
  ]),
  proof: {
    setting: 'signed socket',
    words: 'credentials: { scheme: signed }',
    conforming: ['realtime'],
    values: (shipped) => ({ app: shippedApp(shipped) }),
  },
});

const WITHOUT_KEYS = { conforming: ['search'], values: () => ({}) } as const;

const CERTIFICATE = {
  cert: question('client-cert', 'PEM file of the client certificate', 'client.pem'),
  key: question('client-key', 'PEM file of its private key', 'client-key.pem'),
};

/** The certificate that the client shows when the connection is made (RFC 8446 §4.4.2), and nothing in a request. */
export const mutualTls = scheme({
  name: 'mutualTLS',
  summary: 'the client certificate of `tls:`, and nothing else',
  keys: {},
  byCertificate: true,
  use: () => ({}),
  opens: ({ type }) => type === 'mutualTLS',
  first: {
    asks: Object.values(CERTIFICATE),
    lines: () => [],
    beside: (answers, path) => [
      'tls:',
      ...Object.entries(CERTIFICATE).map(
        ([key, { option }]) => `  ${key}: ${JSON.stringify(path(answers[option] ?? ''))}`,
      ),
      `  # passphrase: \${env:NAME} # where the file of the key is encrypted`,
    ],
  },
  proof: { setting: 'mutual TLS', words: 'credentials: { scheme: mutualTLS }', ...WITHOUT_KEYS },
});

export const none = scheme({
  name: 'none',
  summary: 'no credential is needed',
  keys: {},
  open: true,
  use: () => ({}),
  opens: () => false,
  first: { asks: [], lines: () => [] },
  proof: { setting: 'open', words: 'credentials: { scheme: none }', ...WITHOUT_KEYS },
});

/** Every way of letting a client in, the most usual one first. */
export const SCHEMES: readonly [Scheme, ...Scheme[]] = [
  bearer,
  header,
  query,
  cookie,
  basic,
  oauth2,
  login,
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
  readonly take?: string;
  readonly send?: string | null;
  readonly [key: string]:
    | string
    | Readonly<Record<string, string>>
    | readonly { readonly key?: string | null; readonly because?: string }[]
    | null
    | undefined;
}

const ALL_KEYS = SCHEMES.flatMap(({ keys }) => Object.entries(keys));
/** Where one scheme can do without a key that others need, null may stand for it. */
const OPTIONAL_LAST = ALL_KEYS.toSorted(([, a], [, b]) => Number(a.optional) - Number(b.optional));
const SHAPES = Object.fromEntries(OPTIONAL_LAST.map(([name, { shape }]) => [name, shape]));

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
