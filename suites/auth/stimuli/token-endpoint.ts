import { hasMembers } from '../../../harness/base/json-text.ts';
import { type KeyTrialName, UNKNOWN_SCOPE } from '../../../harness/config/credential/scheme.ts';
import { overRecord, type Probe, probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';
import { sample } from '../../stimuli/sample.ts';

/** Requests to the token endpoint (RFC 6749 §3.2), and its answers. */

const trial = (name: KeyTrialName): Probe<Reply> =>
  probe(`token-${name}`, { credential: 'none' }, ({ askIssuer }) => askIssuer(name));
export const wrongSecret = trial('wrong-secret');
export const wrongClient = trial('wrong-client');
export const unknownScope = trial('unknown-scope');
export const unknownGrant = trial('unknown-grant');
export const byGet = trial('by-get');

/** Every answer of the run with a token. */
export const issuedTokens = overRecord<Reply>('issued-tokens', [sample], ({ recorded }) =>
  recorded.tokens.filter(({ served }) => served),
);

function membersOf({ response }: Reply): Readonly<Record<string, unknown>> {
  const { value } = response.json;
  return hasMembers(value) ? value : {};
}

/** RFC 6749 §5.1: a JSON object with the token and its type. */
export function tokenAnswerFault(reply: Reply): string | null {
  const { mediaType } = reply.response;
  if (mediaType?.essence !== 'application/json') return `Content-Type: ${mediaType?.essence ?? 'none'}`;
  const members = membersOf(reply);
  const missing = ['access_token', 'token_type'].find((name) => typeof members[name] !== 'string');
  return missing === undefined ? null : `no text ${missing}`;
}

/** RFC 6749 §5.1: a number of seconds, where it is there. */
export function lifetimeFault(reply: Reply): string | null {
  const { expires_in: seconds } = membersOf(reply);
  if (seconds === undefined || seconds === null) return null;
  if (typeof seconds === 'number' && seconds >= 0) return null;
  return `expires_in ${visible(JSON.stringify(seconds), 40)}`;
}

/** RFC 6749 §3.3: the response names the scope if it is not the requested one. */
export function scopeFault(reply: Reply): string | null {
  if (reply.response.statusClass !== 2) return null;
  const { scope } = membersOf(reply);
  if (typeof scope !== 'string') return 'a token, and no scope';
  return scope.split(' ').includes(UNKNOWN_SCOPE) ? 'a token with the unknown scope' : null;
}

/** RFC 6749 §5.2, §A.7: an error in printable ASCII without quotes and backslashes, in JSON. */
export function errorFault(reply: Reply): string | null {
  if (!reply.response.isJson) return `Content-Type: ${reply.response.mediaType?.essence ?? 'none'}`;
  const { error } = membersOf(reply);
  if (typeof error !== 'string' || error === '') return 'no error member';
  return /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(error)
    ? null
    : `error ${visible(JSON.stringify(error), 40)}`;
}

/** The error of an answer that is one of the specification; null for another. */
export function errorOf(reply: Reply): string {
  const { error } = membersOf(reply);
  return typeof error === 'string' ? visible(error, 40) : 'none';
}

/** The client has named itself in the Authorization field. */
export function isByField({ exchange: { request } }: Reply): boolean {
  return request.fields.some(([name]) => name.toLowerCase() === 'authorization');
}
