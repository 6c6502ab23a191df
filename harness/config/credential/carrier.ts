import type { FieldLine } from '../../wire/exchange.ts';
import { fieldValues } from '../../wire/fields/grammar/field-grammar.ts';
import { latin1Text } from '../../wire/octets/utf8.ts';
import { type HttpRequest, withoutQuery, withQuery } from '../../wire/request.ts';

/** What a signature depends on; all other carriers ignore it. */
export interface SigningTime {
  readonly at: Date;
  /** Path of the base URL, without a trailing slash. */
  readonly pathPrefix?: string;
}

/** Ways for a signature to be wrong although its secret is right; each is to be refused. */
export type SignatureFlaw =
  /** Signed for another method than the one it is sent with. */
  | 'other-method'
  | 'other-path'
  /** A parameter was added after signing. */
  | 'other-query'
  /** The content was altered after signing. */
  | 'other-content'
  /** Signed longer ago than any clock that is set at all would tolerate. */
  | 'stale';

/** The place of a request that a credential travels in: how it gets there, and how a service reads it there. */
export interface Carrier {
  readonly in: 'header' | 'query' | 'cookie' | 'subprotocol' | 'signature';
  /** Of the header field or the parameter; null where several carry it. */
  readonly name: string | null;
  /** The authentication scheme before it (RFC 9110 §11.1); null outside Authorization. */
  readonly word: 'Bearer' | 'Basic' | null;
  /** The user name sent with it; null if there is none. */
  readonly user: string | null;
  /** The secret itself travels, with nothing around it, and could travel in any other place as well. */
  readonly bare: boolean;
  /** The request with this secret, of which it carries none yet. */
  carry(secret: string, request: HttpRequest, moment: SigningTime): HttpRequest;
  strip(request: HttpRequest): HttpRequest;
  /** The request with these octets where the service looks; by default as if they were the secret. */
  show?(octets: string, secret: string, request: HttpRequest, moment: SigningTime): HttpRequest;
  /** Rightly signed, and yet to be refused. */
  flaw?(flaw: SignatureFlaw, secret: string, request: HttpRequest, moment: SigningTime): HttpRequest;
  /** Null where the reference provider has a reader of its own. */
  readonly reader: Reader | null;
}

/** How a service reads a credential that a client has put there. */
export interface Reader {
  /** `isScheme` compares a scheme name with the expected one in lower case. */
  read(request: RequestHead, isScheme: (presented: string, expected: string) => boolean): CarriedKey;
  /** What `read` makes of a request with this secret. */
  textOf(secret: string): string;
  /** The challenge that asks for it (RFC 9110 §11.6.1); the error code is RFC 6750 §3.1. */
  challenge(realm: string, refused: 'missing' | 'unreadable' | 'wrong'): string;
  /** The request field that an authorised answer depends on, for Vary; null where it is none. */
  readonly field: string | null;
}

/** A request as far as a service looks at it for a credential. */
interface RequestHead {
  readonly fields: readonly FieldLine[];
  /** Without its `?`, percent-encoding untouched; null when there is none. */
  readonly query: string | null;
}

export type CarriedKey =
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable' }
  | { readonly state: 'present'; readonly value: string };

export const ABSENT: CarriedKey = { state: 'absent' };
const UNREADABLE: CarriedKey = { state: 'unreadable' };

export type KeyPlace =
  | { readonly in: 'header' | 'query'; readonly name: string }
  /** Behind the scheme Bearer. */
  | { readonly in: 'authorization'; readonly name: 'Authorization' };

export type HandshakePlace =
  | KeyPlace
  | { readonly in: 'subprotocol'; readonly prefix: string; readonly encoding: 'base64url' | 'plain' };

export function carrierAt(place: HandshakePlace): Carrier {
  if (place.in === 'authorization') return bearerField;
  if (place.in === 'subprotocol') return subprotocol(place.prefix, place.encoding);
  return place.in === 'header' ? headerField(place.name) : queryParameter(place.name);
}

const PLAIN = { word: null, user: null, bare: true } as const;

/** `Authorization: Bearer KEY` (RFC 6750 §2.1). */
export const bearerField: Carrier = {
  ...inField('Authorization', (secret) => `Bearer ${wireText(secret)}`),
  word: 'Bearer',
  reader: {
    read: (request, isScheme) => authorization(request, 'bearer', isScheme),
    textOf: (secret) => secret,
    challenge: (realm, refused) =>
      `Bearer realm="${realm}"${refused === 'wrong' ? ', error="invalid_token"' : ''}`,
    field: 'Authorization',
  },
};

/** `Authorization: Basic …` (RFC 7617), with UTF-8 as its charset (§2.1). */
export function basicField(user: string): Carrier {
  const textOf = (password: string) => `${user}:${password}`;
  return {
    ...inField('Authorization', (password) => `Basic ${Buffer.from(textOf(password)).toString('base64')}`),
    word: 'Basic',
    user,
    bare: false,
    reader: {
      read(request, isScheme) {
        const presented = authorization(request, 'basic', isScheme);
        if (presented.state !== 'present') return presented;
        if (!/^[A-Za-z0-9+/]+={0,2}$/.test(presented.value)) return UNREADABLE;
        return { state: 'present', value: Buffer.from(presented.value, 'base64').toString('utf8') };
      },
      textOf,
      challenge: (realm) => `Basic realm="${realm}", charset="UTF-8"`,
      field: 'Authorization',
    },
  };
}

export function headerField(name: string): Carrier {
  return inField(name, wireText);
}

export function queryParameter(name: string): Carrier {
  return {
    ...PLAIN,
    in: 'query',
    name,
    carry: (secret, request) => ({ ...request, target: withQuery(request.target, [[name, secret]]) }),
    strip: (request) => ({ ...request, target: withoutQuery(request.target, name) }),
    reader: bareReader(({ query }) => onlyOne(new URLSearchParams(query ?? '').getAll(name)), null),
  };
}

/** A pair of the Cookie field (RFC 6265 §4.2), beside those that are there. */
export function cookiePair(name: string): Carrier {
  const others = (value: string) => pairsOf(value).filter((pair) => !pair.startsWith(`${name}=`));
  const withPairs = (request: HttpRequest, added: readonly string[]): HttpRequest => {
    const pairs = [...fieldValues(request.fields, 'cookie').flatMap(others), ...added];
    const bare = withoutField(request, 'Cookie');
    return pairs.length === 0 ? bare : withField(bare, ['Cookie', pairs.join('; ')]);
  };
  return {
    ...PLAIN,
    in: 'cookie',
    name,
    carry: (secret, request) => withPairs(request, [`${name}=${wireText(secret)}`]),
    strip: (request) => withPairs(request, []),
    reader: bareReader(({ fields }) => {
      const pairs = fieldValues(fields, 'cookie').flatMap(pairsOf);
      const own = pairs.filter((pair) => pair.startsWith(`${name}=`));
      return onlyOne(own.map((pair) => pair.slice(name.length + 1)));
    }, 'Cookie'),
  };
}

function pairsOf(value: string): readonly string[] {
  return value.split(';').flatMap((pair) => pair.trim() || []);
}

/** A key beside the offered subprotocols, which is where a browser can put one (RFC 6455 §11.3.4). */
function subprotocol(prefix: string, encoding: 'base64url' | 'plain'): Carrier {
  const isOffer = ([name]: FieldLine) => name.toLowerCase() === 'sec-websocket-protocol';
  return {
    ...PLAIN,
    in: 'subprotocol',
    name: null,
    carry(secret, request) {
      const key = encoding === 'plain' ? wireText(secret) : Buffer.from(secret).toString('base64url');
      const offered = request.fields.findIndex(isOffer);
      if (offered === -1) return withField(request, ['Sec-WebSocket-Protocol', `${prefix}${key}`]);
      const [name = '', value = ''] = request.fields[offered] ?? [];
      return { ...request, fields: request.fields.with(offered, [name, `${value}, ${prefix}${key}`]) };
    },
    // What a handshake offers is put together anew each time.
    strip: (request) => request,
    reader: null,
  };
}

function inField(name: string, lineOf: (secret: string) => string): Carrier {
  return {
    ...PLAIN,
    in: 'header',
    name,
    carry: (secret, request) => withField(request, [name, lineOf(secret)]),
    strip: (request) => withoutField(request, name),
    reader: bareReader((request) => onlyOne(fieldValues(request.fields, name)), name),
  };
}

/** Of the secret alone. There is no registered scheme for keys; most interfaces write this challenge. */
function bareReader(read: Reader['read'], field: string | null): Reader {
  return { read, textOf: (secret) => secret, challenge: (realm) => `ApiKey realm="${realm}"`, field };
}

// RFC 9110 §11.4: auth-scheme [ 1*SP ( token68 / … ) ]
const AUTHORIZATION = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?: +(.*))?$/;

function authorization(
  request: RequestHead,
  scheme: string,
  isScheme: (presented: string, expected: string) => boolean,
): CarriedKey {
  const line = onlyOne(fieldValues(request.fields, 'authorization'));
  if (line.state !== 'present') return line;
  const parts = AUTHORIZATION.exec(line.value);
  if (parts === null || !isScheme(parts[1] ?? '', scheme)) return UNREADABLE;
  return { state: 'present', value: parts[2] ?? '' };
}

function onlyOne(values: readonly string[]): CarriedKey {
  const [value, ...more] = values;
  if (value === undefined) return ABSENT;
  return more.length > 0 ? UNREADABLE : { state: 'present', value };
}

/** Text as a field value carries it: one character for each octet of its UTF-8. */
function wireText(text: string): string {
  return latin1Text(Buffer.from(text));
}

function withField(request: HttpRequest, field: FieldLine): HttpRequest {
  return { ...request, fields: [...request.fields, field] };
}

export function withoutField(request: HttpRequest, name: string): HttpRequest {
  const unwanted = name.toLowerCase();
  return { ...request, fields: request.fields.filter(([given]) => given.toLowerCase() !== unwanted) };
}
