import type { FieldLine } from '../../../evidence/exchange.ts';
import { fieldValues, queryParameters, type ReceivedRequest } from '../http/message.ts';
import type { Access, Placement } from './access.ts';
import { bearsSignature, SIGNATURE_RULES, type SignatureRules, sameText } from './signature.ts';

export type Authentication =
  | { readonly admitted: true; readonly identity: string }
  | { readonly admitted: false; readonly reason: 'missing' | 'unreadable' | 'wrong' };

/** How credentials are read and judged; the part of the conduct that authentication defects replace. */
export interface CredentialConduct {
  /** Whether the scheme name of an Authorization field is the expected one (lower case). */
  readonly schemeMatches: (presented: string, expected: string) => boolean;
  readonly keyMatches: (presented: string, key: string) => boolean;
  readonly signature: SignatureRules;
  /** The last word. */
  readonly authenticate: (
    request: ReceivedRequest,
    access: Access,
    conduct: CredentialConduct,
    nowMs: number,
  ) => Authentication;
}

/** What a request carries at one placement. */
type Presented =
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable' }
  | { readonly state: 'present'; readonly value: string };

const ABSENT: Presented = { state: 'absent' };
const UNREADABLE: Presented = { state: 'unreadable' };

function onlyOne(values: readonly string[]): Presented {
  const [value, ...more] = values;
  if (value === undefined) return ABSENT;
  return more.length > 0 ? UNREADABLE : { state: 'present', value };
}

// RFC 9110 §11.4: auth-scheme [ 1*SP ( token68 / … ) ]
const AUTHORIZATION = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?: +(.*))?$/;

function authorization(request: ReceivedRequest, scheme: string, conduct: CredentialConduct): Presented {
  const line = onlyOne(fieldValues(request, 'authorization'));
  if (line.state !== 'present') return line;
  const parts = AUTHORIZATION.exec(line.value);
  if (parts === null || !conduct.schemeMatches(parts[1] ?? '', scheme)) return UNREADABLE;
  return { state: 'present', value: parts[2] ?? '' };
}

function decodedBasic(presented: Presented): Presented {
  if (presented.state !== 'present') return presented;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(presented.value)) return UNREADABLE;
  return { state: 'present', value: Buffer.from(presented.value, 'base64').toString('utf8') };
}

function readCredential(
  request: ReceivedRequest,
  placement: Placement,
  conduct: CredentialConduct,
): Presented {
  switch (placement.kind) {
    case 'bearer':
      return authorization(request, 'bearer', conduct);
    case 'basic':
      return decodedBasic(authorization(request, 'basic', conduct));
    case 'field':
      return onlyOne(fieldValues(request, placement.name));
    case 'parameter':
      return onlyOne(queryParameters(request.query).getAll(placement.name));
    case 'signature':
      return queryParameters(request.query).has('auth_key') ? { state: 'present', value: '' } : ABSENT;
  }
}

/**
 * Strict: every placement that is used must carry one readable, right credential, so that a wrong one
 * cannot hide behind a right one.
 */
function authenticate(
  request: ReceivedRequest,
  access: Access,
  conduct: CredentialConduct,
  nowMs: number,
): Authentication {
  if (access.placements.length === 0) return { admitted: true, identity: 'anonymous' };
  const identities: string[] = [];
  for (const placement of access.placements) {
    const presented = readCredential(request, placement, conduct);
    if (presented.state === 'absent') continue;
    if (presented.state === 'unreadable') return { admitted: false, reason: 'unreadable' };
    if (placement.kind === 'signature') {
      if (access.app === null || !bearsSignature(request, access.app, conduct.signature, nowMs)) {
        return { admitted: false, reason: 'wrong' };
      }
      identities.push(`app-${access.app.id}`);
      continue;
    }
    const key = access.keys.find((accepted) => conduct.keyMatches(presented.value, accepted.value));
    if (key === undefined)
      return { admitted: false, reason: presented.value === '' ? 'unreadable' : 'wrong' };
    identities.push(key.identity);
  }
  const [identity] = identities;
  return identity === undefined ? { admitted: false, reason: 'missing' } : { admitted: true, identity };
}

export const CONFORMING_CREDENTIALS: CredentialConduct = {
  schemeMatches: (presented, expected) => presented.toLowerCase() === expected,
  keyMatches: sameText,
  signature: SIGNATURE_RULES,
  authenticate,
};

/** One challenge per way in (RFC 9110 §11.6.1; the error code is RFC 6750 §3.1). */
export function challenges(access: Access, reason: 'missing' | 'unreadable' | 'wrong'): readonly FieldLine[] {
  const realm = `realm="${access.realm}"`;
  const invalid = reason === 'wrong' ? ', error="invalid_token"' : '';
  const byKind: Readonly<Record<Placement['kind'], string>> = {
    bearer: `Bearer ${realm}${invalid}`,
    basic: `Basic ${realm}, charset="UTF-8"`,
    field: `ApiKey ${realm}`,
    parameter: `ApiKey ${realm}`,
    signature: `AppSignature ${realm}`,
  };
  const values = new Set(access.placements.map((placement) => byKind[placement.kind]));
  return [...values].map((value): FieldLine => ['WWW-Authenticate', value]);
}

/** Which request fields an authorised answer depends on, for Vary. */
export function credentialFields(access: Access): readonly string[] {
  const names = access.placements.flatMap((placement) => {
    if (placement.kind === 'bearer' || placement.kind === 'basic') return ['Authorization'];
    return placement.kind === 'field' ? [placement.name] : [];
  });
  return [...new Set(names)];
}
