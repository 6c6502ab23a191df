import { createHash, createHmac } from 'node:crypto';
import {
  type HttpRequest,
  pathOf,
  type QueryParameter,
  queryOf,
  withoutQuery,
  withQuery,
} from '../../../wire/request.ts';
import type { Carrier, SignatureFlaw, SigningTime } from '../carrier.ts';

/** The public key of an application and the secret that signs for it. */
export interface SigningKey {
  readonly key: string;
  readonly secret: string;
}

const PARAMETERS = ['auth_key', 'auth_timestamp', 'auth_version', 'body_md5', 'auth_signature'];

/** The target of a signed request without what depends on the moment at which it was signed. */
export function withoutMoment(target: string): string {
  return ['auth_timestamp', 'auth_signature'].reduce(withoutQuery, target);
}

/** Signed by the application with this key, in the query, by the rules of the Pusher HTTP API. */
export function signature(key: string): Carrier {
  const sign = (secret: string, request: HttpRequest, moment: SigningTime) =>
    signRequest({ key, secret }, request, moment);
  return {
    in: 'signature',
    name: null,
    word: null,
    user: null,
    bare: false,
    carry: sign,
    strip: (request) => ({ ...request, target: PARAMETERS.reduce(withoutQuery, request.target) }),
    show(octets, secret, request, moment) {
      const signed = sign(secret, request, moment);
      return { ...signed, target: withQuery(signed.target, [['auth_signature', octets]]) };
    },
    flaw(flaw, secret, request, moment) {
      const signer: Signer = (unsigned, at = moment.at) => sign(secret, unsigned, { ...moment, at });
      return FLAWS[flaw](request, signer, moment.at);
    },
    reader: null,
  };
}

/** How long ago a stale request was signed, in ms. */
const STALE_MS = 3_600_000;

type Signer = (request: HttpRequest, at?: Date) => HttpRequest;

type Forger = (request: HttpRequest, sign: Signer, at: Date) => HttpRequest;

const FLAWS: Readonly<Record<SignatureFlaw, Forger>> = {
  'other-method': (request, sign) =>
    resent(request, sign({ ...request, method: request.method === 'PUT' ? 'POST' : 'PUT' })),
  'other-path': (request, sign) => {
    const { length } = pathOf(request.target);
    const other = `${request.target.slice(0, length)}/other${request.target.slice(length)}`;
    return resent(request, sign({ ...request, target: other }));
  },
  'other-query': (request, sign) => resent(request, sign({ ...request, target: pathOf(request.target) })),
  'other-content': (request, sign) => ({ ...sign(request), body: altered(request.body) }),
  stale: (request, sign, at) => sign(request, new Date(at.getTime() - STALE_MS)),
};

/** The request as it was, with the parameters of its signed double. */
function resent(request: HttpRequest, signed: HttpRequest): HttpRequest {
  return { ...request, target: withQuery(request.target, queryOf(signed.target)) };
}

/** One letter or digit replaced by another one: of the same length, and JSON if it was. */
function altered(body: HttpRequest['body']): Uint8Array {
  const text = Buffer.from(body ?? '').toString('latin1');
  const other = text.replace(/[a-z0-9](?=[^a-z0-9]*$)/i, (last) => (last === 'x' ? 'y' : 'x'));
  return Buffer.from(other, 'latin1');
}

/** Signs by the rules of the Pusher HTTP API: over method, path and sorted query, with an MD5 of content. */
export function signRequest(signing: SigningKey, request: HttpRequest, moment: SigningTime): HttpRequest {
  const body = request.body?.length ? request.body : null;
  const added: QueryParameter[] = [
    ['auth_key', signing.key],
    ['auth_timestamp', String(Math.floor(moment.at.getTime() / 1000))],
    ['auth_version', '1.0'],
    ...(body ? [['body_md5', createHash('md5').update(body).digest('hex')] as const] : []),
  ];
  const target = withQuery(request.target, added);
  const signed = [
    request.method.toUpperCase(),
    `${moment.pathPrefix ?? ''}${pathOf(target)}`,
    canonicalQuery(queryOf(target)),
  ].join('\n');
  return { ...request, target: withQuery(target, [['auth_signature', hmac(signing.secret, signed)]]) };
}

/** The `auth` of a subscription: `key:signature` over socket, channel and, if present, `channel_data`. */
export function signChannel(signing: SigningKey, socketId: string, channel: string, data?: string): string {
  const signed = [socketId, channel, ...(data === undefined ? [] : [data])].join(':');
  return `${signing.key}:${hmac(signing.secret, signed)}`;
}

/** Keys in lower case, sorted by their octets. */
function canonicalQuery(parameters: readonly QueryParameter[]): string {
  return parameters
    .map(([name, value]): QueryParameter => [name.toLowerCase(), value])
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function hmac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}
