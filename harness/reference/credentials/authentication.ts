import { ABSENT, type Presented } from '../../config/credential/carrier.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import { queryParameters, type ReceivedRequest } from '../http/message.ts';
import type { Access, Placement } from './access.ts';
import { bearsSignature, SIGNATURE_RULES, type SignatureRules, sameText } from './signature.ts';

export type Authentication =
  | { readonly admitted: true; readonly identity: string }
  | { readonly admitted: false; readonly reason: 'missing' | 'unreadable' | 'wrong' };

/** How credentials are read and judged; the part of the behavior that authentication defects replace. */
export interface CredentialBehavior {
  /** Whether the scheme name of an Authorization field is the expected one (lower case). */
  readonly schemeMatches: (presented: string, expected: string) => boolean;
  readonly keyMatches: (presented: string, key: string) => boolean;
  readonly signature: SignatureRules;
  /** The last word. */
  readonly authenticate: (
    request: ReceivedRequest,
    access: Access,
    behavior: CredentialBehavior,
    nowMs: number,
  ) => Authentication;
}

function readCredential(
  request: ReceivedRequest,
  placement: Placement,
  behavior: CredentialBehavior,
): Presented {
  if (placement !== 'signature') return placement.read(request, behavior.schemeMatches);
  return queryParameters(request.query).has('auth_key') ? { state: 'present', value: '' } : ABSENT;
}

/**
 * Strict: every placement that is used must carry one readable, right credential, so that a wrong one
 * cannot hide behind a right one.
 */
function authenticate(
  request: ReceivedRequest,
  access: Access,
  behavior: CredentialBehavior,
  nowMs: number,
): Authentication {
  if (access.placements.length === 0) return ANONYMOUS;
  const identities: string[] = [];
  for (const placement of access.placements) {
    const presented = readCredential(request, placement, behavior);
    if (presented.state === 'absent') continue;
    if (presented.state === 'unreadable') return { admitted: false, reason: 'unreadable' };
    if (placement === 'signature') {
      if (access.app === null || !bearsSignature(request, access.app, behavior.signature, nowMs)) {
        return { admitted: false, reason: 'wrong' };
      }
      identities.push(`app-${access.app.id}`);
      continue;
    }
    const key = access.keys.find(
      ({ value, untilMs = Number.POSITIVE_INFINITY }) =>
        nowMs < untilMs && behavior.keyMatches(presented.value, value),
    );
    if (key === undefined)
      return { admitted: false, reason: presented.value === '' ? 'unreadable' : 'wrong' };
    identities.push(key.identity);
  }
  const [identity] = identities;
  if (identity !== undefined) return { admitted: true, identity };
  return access.isOptional ? ANONYMOUS : { admitted: false, reason: 'missing' };
}

const ANONYMOUS: Authentication = { admitted: true, identity: 'anonymous' };

export const CONFORMING_CREDENTIALS: CredentialBehavior = {
  schemeMatches: (presented, expected) => presented.toLowerCase() === expected,
  keyMatches: sameText,
  signature: SIGNATURE_RULES,
  authenticate,
};

/** One challenge per way in. */
export function challenges(access: Access, reason: 'missing' | 'unreadable' | 'wrong'): readonly FieldLine[] {
  const values = access.placements.map((placement) =>
    placement === 'signature'
      ? `AppSignature realm="${access.realm}"`
      : placement.challenge(access.realm, reason),
  );
  return [...new Set(values)].map((value): FieldLine => ['WWW-Authenticate', value]);
}

/** Which request fields an authorised answer depends on, for Vary. */
export function credentialFields(access: Access): readonly string[] {
  const names = access.placements.flatMap((placement) =>
    placement === 'signature' ? [] : [placement.field],
  );
  return [...new Set(names.filter((name) => name !== null))];
}
