import { createHash, createHmac } from 'node:crypto';
import {
  type HttpRequest,
  pathOf,
  type QueryParameter,
  queryOf,
  withQuery,
} from '../../credential/request.ts';

/** The public key of an application and the secret that signs for it. */
export interface SigningKey {
  readonly key: string;
  readonly secret: string;
}

interface SigningMoment {
  /** Goes into `auth_timestamp`, in whole seconds. */
  readonly at: Date;
  /** Path of the base URL that the target will be put below: what is signed is the path that the server sees. */
  readonly pathPrefix?: string;
}

/**
 * Signs a request by the rules of the Pusher HTTP API: key, timestamp, version and, where there is content, its
 * MD5 go into the query; the HMAC-SHA256 of method, path and the sorted query, not percent-encoded, goes after them.
 */
export function signRequest(signing: SigningKey, request: HttpRequest, moment: SigningMoment): HttpRequest {
  const body = request.body && request.body.length > 0 ? request.body : null;
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

/**
 * The `auth` of a subscription to a private or presence channel: `key:signature` over the socket, the channel and,
 * for presence channels, the text of `channel_data`.
 */
export function signChannel(
  signing: SigningKey,
  socketId: string,
  channel: string,
  channelData?: string,
): string {
  const signed = [socketId, channel, ...(channelData === undefined ? [] : [channelData])].join(':');
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
