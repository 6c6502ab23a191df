import type { Access } from '../credentials/access.ts';
import type { Authentication } from '../credentials/authentication.ts';
import type { ReceivedRequest } from '../http/message.ts';
import { inCredentials, type Patch } from './patch.ts';

/** Whom a service takes a client for that it should have refused: the holder of its first key. */
function firstHolder(access: Access): Authentication {
  return { admitted: true, identity: access.keys[0]?.identity ?? 'anonymous' };
}

/** Admits some of the requests that should be refused. */
export const admitting = (
  when: (refused: Authentication & { readonly admitted: false }, request: ReceivedRequest) => boolean,
): Patch =>
  inCredentials(({ authenticate }) => ({
    authenticate: (request, access, conduct, nowMs) => {
      const judged = authenticate(request, access, conduct, nowMs);
      return !judged.admitted && when(judged, request) ? firstHolder(access) : judged;
    },
  }));

export const matchingKeys = (matches: (presented: string, key: string) => boolean): Patch =>
  inCredentials(({ keyMatches }) => ({
    keyMatches: (presented, key) => keyMatches(presented, key) || matches(presented, key),
  }));
