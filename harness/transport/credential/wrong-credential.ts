import type { Credentials } from '../../config/service.ts';
import { type HttpRequest, withQuery } from '../../credential/request.ts';
import type { Secret } from '../../credential/secret.ts';
import { type Derivation, derivedName } from '../../evidence/redaction/derived-secret.ts';
import type { Redaction } from '../../evidence/redaction/redaction.ts';
import {
  basicToken,
  credentialSecret,
  type PlacingMoment,
  placeCredential,
  wireText,
  withCredentialValue,
} from './credential.ts';

/** Ways for a credential to be wrong, each to be refused. */
export type WrongCredential = keyof typeof WRONG_VALUES | 'other-scheme';

/** Ways to write the right credential other than usual. */
export type CredentialSpelling =
  /** `bearer` for `Bearer`: the same by RFC 9110 §11.1. */
  | 'other-case-scheme'
  /** The same field twice, both right. */
  | 'twice'
  /** Two fields, the right one and a wrong one, in either order. */
  | 'right-then-wrong'
  | 'wrong-then-right';

/** A key that nobody has. */
const NOBODYS_KEY = 'conform-sends-no-valid-key-here';
/** More than a usual limit for one field line (8 KiB). */
const OVERSIZED = 9 * 1024;

/** Each makes a wrong value out of the right one; null where that would not be wrong. */
const WRONG_VALUES = {
  wrong: () => NOBODYS_KEY,
  empty: () => '',
  truncated: (right: string) => (right.length > 1 ? right.slice(0, -1) : null),
  extended: (right: string) => `${right}x`,
  'case-flipped': (right: string) => (caseFlipped(right) === right ? null : caseFlipped(right)),
  'non-ascii': () => 'schlüssel-鍵-ключ',
  quoted: () => `'"--conform`,
  oversized: () => 'k'.repeat(OVERSIZED),
} satisfies Record<string, (right: string) => string | null>;

/** Those made of the right value: they give it away as much as itself does. */
const DERIVED: readonly Derivation[] = ['truncated', 'extended', 'case-flipped'];
/** For signed requests, what concerns the octets sent goes into the signature, not into the secret behind it. */
const IN_SIGNATURE: ReadonlySet<string> = new Set(['empty', 'non-ascii', 'quoted', 'oversized']);

/**
 * The request with a wrong credential in the configured place; null where that kind of wrong does not exist for the
 * scheme or the value. What is derived from the right one is made known to the redaction, as `NAME.truncated` …
 */
export function placeWrongCredential(
  credentials: Credentials,
  kind: WrongCredential,
  request: HttpRequest,
  moment: PlacingMoment,
  redaction: Redaction,
): HttpRequest | null {
  const secret = credentialSecret(credentials);
  if (!secret) return null;
  if (kind === 'other-scheme') return inOtherScheme(credentials, secret, request, moment);
  const value = WRONG_VALUES[kind](secret.reveal());
  if (value === null) return null;
  const derivation = DERIVED.find((derived) => derived === kind);
  if (derivation) tellRedaction(redaction, derivedName(secret.name, derivation), value);
  if (credentials.scheme === 'signed' && IN_SIGNATURE.has(kind)) {
    const signed = placeCredential(credentials, 'right', request, moment);
    return { ...signed, target: withQuery(signed.target, [['auth_signature', value]]) };
  }
  return withCredentialValue(credentials, value, request, moment);
}

/** The right credential written differently; null where the scheme has no such spelling. */
export function placeSpelledCredential(
  credentials: Credentials,
  spelling: CredentialSpelling,
  request: HttpRequest,
  moment: PlacingMoment,
): HttpRequest | null {
  const right = placeCredential(credentials, 'right', request, moment);
  const wrong = withCredentialValue(credentials, NOBODYS_KEY, request, moment);
  const [rightLine, wrongLine] = [right.fields.at(-1), wrong.fields.at(-1)];
  if (credentials.scheme === 'none' || credentials.scheme === 'query' || credentials.scheme === 'signed')
    return null;
  if (!rightLine || !wrongLine) return null;
  const others = right.fields.slice(0, -1);
  switch (spelling) {
    case 'other-case-scheme': {
      if (credentials.scheme === 'header') return null;
      const [name, value] = rightLine;
      const [scheme = ''] = value.split(' ', 1);
      return { ...right, fields: [...others, [name, scheme.toLowerCase() + value.slice(scheme.length)]] };
    }
    case 'twice':
      return { ...right, fields: [...others, rightLine, rightLine] };
    case 'right-then-wrong':
      return { ...right, fields: [...others, rightLine, wrongLine] };
    case 'wrong-then-right':
      return { ...right, fields: [...others, wrongLine, rightLine] };
  }
}

/** The right key behind the word of another registered scheme. */
function inOtherScheme(
  credentials: Credentials,
  secret: Secret,
  request: HttpRequest,
  moment: PlacingMoment,
): HttpRequest | null {
  const bare = placeCredential(credentials, 'none', request, moment);
  const authorization = (value: string): HttpRequest => ({
    ...bare,
    fields: [...bare.fields, ['Authorization', value]],
  });
  if (credentials.scheme === 'bearer') return authorization(`Basic ${wireText(secret.reveal())}`);
  if (credentials.scheme === 'basic') {
    return authorization(`Bearer ${basicToken(credentials.username, secret.reveal())}`);
  }
  return null;
}

function caseFlipped(text: string): string {
  return Array.from(text, (char) =>
    char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase(),
  ).join('');
}

/** Lengths that `Redaction.add` takes. Whatever is shorter is too little of the right value to be one. */
const REDACTABLE = { shortest: 6, longest: 16_384 };

function tellRedaction(redaction: Redaction, name: string, value: string): void {
  if (value.length < REDACTABLE.shortest || value.length > REDACTABLE.longest) return;
  redaction.add(name, value);
}
