import type { Credentials } from '../../config/service.ts';
import { type HttpRequest, pathOf, queryOf, withQuery } from '../../credential/request.ts';
import { type PlacingMoment, placeCredential } from './credential.ts';

/** Ways for a signature to be wrong although its secret is right; each is to be refused. */
export type SignatureFlaw = keyof typeof FLAWS;

/** How long ago a stale request was signed, in ms: beyond the tolerance of any clock that is set at all. */
const STALE_MS = 3_600_000;

type Sign = (request: HttpRequest, moment?: Date) => HttpRequest;

const FLAWS = {
  /** Signed for another method than the one it is sent with. */
  'other-method': (request: HttpRequest, sign: Sign) =>
    resent(request, sign({ ...request, method: request.method === 'PUT' ? 'POST' : 'PUT' })),
  'other-path': (request: HttpRequest, sign: Sign) =>
    resent(
      request,
      sign({ ...request, target: withPath(request.target, `${pathOf(request.target)}/other`) }),
    ),
  /** A parameter was added after signing. */
  'other-query': (request: HttpRequest, sign: Sign) =>
    resent(request, sign({ ...request, target: pathOf(request.target) })),
  /** The content was altered after signing. */
  'other-content': (request: HttpRequest, sign: Sign) => ({ ...sign(request), body: altered(request.body) }),
  stale: (request: HttpRequest, sign: Sign, at: Date) => sign(request, new Date(at.getTime() - STALE_MS)),
} satisfies Record<string, (request: HttpRequest, sign: Sign, at: Date) => HttpRequest>;

/** The request with a flawed signature; null where the configured scheme has none. */
export function placeFlawedSignature(
  credentials: Credentials,
  flaw: SignatureFlaw,
  request: HttpRequest,
  moment: PlacingMoment,
): HttpRequest | null {
  if (credentials.scheme !== 'signed') return null;
  const sign: Sign = (unsigned, at = moment.at) =>
    placeCredential(credentials, 'right', unsigned, { ...moment, at });
  return FLAWS[flaw](request, sign, moment.at);
}

/** The request as it was, with the parameters of its signed double. */
function resent(request: HttpRequest, signed: HttpRequest): HttpRequest {
  return { ...request, target: withQuery(request.target, queryOf(signed.target)) };
}

/** One letter or digit replaced by another one: of the same length, and JSON if it was. */
function altered(body: HttpRequest['body']): Uint8Array {
  const text = Buffer.from(body ?? '').toString('latin1');
  return Buffer.from(
    text.replace(/[a-z0-9](?=[^a-z0-9]*$)/i, (last) => (last === 'x' ? 'y' : 'x')),
    'latin1',
  );
}

function withPath(target: string, path: string): string {
  return `${path}${target.slice(pathOf(target).length)}`;
}
