import { HarnessError } from '../../base/exit.ts';
import { Secret } from '../../base/secret.ts';
import { NotApplicable } from '../../base/verdict.ts';
import type { CredentialUse, FieldLine } from '../../wire/exchange.ts';
import { type Derivation, derivedName } from '../../wire/redaction/marker.ts';
import { LONGEST_SECRET, SHORTEST_SECRET } from '../../wire/redaction/redaction.ts';
import type { HttpRequest } from '../../wire/request.ts';
import {
  basicField,
  type Carrier,
  carrierAt,
  type KeyPlace,
  type SignatureFlaw,
  type SigningTime,
  withoutField,
} from './carrier.ts';
import { forged, isForgery, type TokenForgery } from './json-web-token.ts';
import type { Credentials } from './scheme.ts';
import { signature } from './signing/signature.ts';

/** Which credential a stimulus carries, and where. */
export type CredentialChoice =
  | 'right'
  | 'second'
  | 'none'
  | { readonly wrong: WrongCredential }
  /** The right one, written in a way that the standard allows or leaves open. */
  | { readonly spelled: CredentialSpelling }
  /** The right one in other places than the configured one. */
  | { readonly placed: KeyPlace | readonly KeyPlace[] }
  /** Signed with the right secret, and yet to be refused. */
  | { readonly flawed: SignatureFlaw }
  /** One of those that the config says are refused, by its place in the list. */
  | { readonly refused: number }
  /** Signed by the application, whatever the configured scheme. */
  | 'signed'
  /** The request holds a right one already, as an earlier request did. */
  | 'held'
  /** The request stays as it is, and holds this kind of one. */
  | { readonly recorded: 'wrong' | 'none' };

/** What of a choice the evidence tells: whether the service had to let it in. */
export function credentialUse(choice: CredentialChoice): CredentialUse {
  if (choice === 'signed') return 'other';
  if (choice === 'held') return 'right';
  if (typeof choice === 'string') return choice;
  if ('recorded' in choice) return choice.recorded;
  return 'wrong' in choice || 'flawed' in choice || 'refused' in choice ? 'wrong' : 'right';
}

/** Ways for a credential to be wrong, each to be refused. */
export type WrongCredential =
  | keyof typeof WRONG_VALUES
  | 'other-scheme'
  /** The right password with an unknown user name. */
  | 'other-user'
  /** Where the key is a signed token. */
  | TokenForgery;

/** Services may compare decoded keys (RFC 4648): two digits always stand for an octet more or less. */
const DIGITS = 'aa';
const PADDING = /=*$/;
/** Hexadecimal, a UUID, base32 and Crockford's base32 are the same in capitals and in small letters. */
const IN_EITHER_CASE = /^(?:[0-9a-fA-F-]{16,}|[A-Z2-7]{16,}=*|[0-9A-HJKMNP-TV-Z]{26})$/;

export const UNKNOWN_KEY = 'conform-sends-no-valid-key-here';
const UNKNOWN_USER = 'conform-nobody';
/** More than a usual limit for one field line (8 KiB). */
const OVERSIZED = 9 * 1024;

/** Each makes a wrong value out of the right one; null where that would not be wrong. */
const WRONG_VALUES = {
  wrong: () => UNKNOWN_KEY,
  empty: () => '',
  truncated: (right: string) => cutShort(right),
  extended: (right: string) => right.replace(PADDING, (padding) => `${DIGITS}${padding}`),
  'case-flipped': (right: string) =>
    caseFlipped(right) === right || IN_EITHER_CASE.test(right) ? null : caseFlipped(right),
  altered: (right: string) => right.replace(/^./s, (first) => (/x/i.test(first) ? 'y' : 'x')),
  prefixed: (right: string) => `${DIGITS}${right}`,
  // Values that clients and templates send for a missing key, and wildcards of other systems.
  null: () => 'null',
  undefined: () => 'undefined',
  template: () => '{token}',
  wildcard: () => '*',
  injected: () => "' OR '1'='1",
  'non-ascii': () => 'schlüssel-鍵-ключ',
  quoted: () => `'"--conform`,
  oversized: () => 'k'.repeat(OVERSIZED),
} satisfies Record<string, (right: string) => string | null>;

const DERIVED: readonly Derivation[] = ['truncated', 'extended', 'case-flipped', 'altered'];
/** The wrong values that are made of a right one, as `NAME.truncated` …: they give it away as much as itself does. */
export function derivedSecrets(secret: Secret): readonly Secret[] {
  const right = secret.reveal();
  return DERIVED.flatMap((derivation) => {
    const value = WRONG_VALUES[derivation](right) ?? '';
    const isKept = value.length >= SHORTEST_SECRET && value.length <= LONGEST_SECRET;
    return isKept ? [new Secret(derivedName(secret.name, derivation), value)] : [];
  });
}

/** Whether there is no other letter case of it that would be wrong. */
export function isCaseless(right: string): boolean {
  return WRONG_VALUES['case-flipped'](right) === null;
}

/** What concerns the octets that are sent, and not a secret behind them. */
const OF_OCTETS: ReadonlySet<string> = new Set(
  'empty null undefined template wildcard injected non-ascii quoted oversized'.split(' '),
);

/** Ways to write the right credential other than usual. */
export type CredentialSpelling =
  /** `bearer` for `Bearer`: the same by RFC 9110 §11.1. */
  | 'other-case-scheme'
  /** White space around the value, which is no part of it (RFC 9110 §5.5), and another letter case of its name. */
  | 'spaced-field'
  /** Several spaces behind the scheme (RFC 9110 §11.4: `1*SP`). */
  | 'spaced-scheme'
  /** The same field twice, both right. */
  | 'twice'
  /** Two fields, the right one and a wrong one, in either order. */
  | 'right-then-wrong'
  | 'wrong-then-right';

/** @throws NotApplicable if the scheme or the value has no such variation. */
export function placeCredential(
  request: HttpRequest,
  choice: CredentialChoice,
  credentials: Credentials,
  moment: SigningTime,
): HttpRequest {
  if (choice === 'held' || (typeof choice === 'object' && 'recorded' in choice)) return request;
  const bare = stripped(request, credentials);
  const { carrier, secret, second, app } = credentials;
  if (choice === 'signed') {
    if (app === null) throw new NotApplicable('no application credentials are configured');
    return signature(app.key).carry(app.secret.reveal(), bare, moment);
  }
  if (choice === 'none') return bare;
  if (typeof choice === 'object' && 'refused' in choice) {
    const refused = credentials.refused[choice.refused];
    if (!refused) throw new HarnessError('a key is sent that the config does not have');
    return carrier?.carry(refused.key.reveal(), bare, moment) ?? bare;
  }
  if (typeof choice === 'object' && !('placed' in choice)) {
    const [kind] = Object.values(choice);
    const placed = varied(bare, choice, credentials, moment);
    if (placed !== null) return placed;
    const { name } = credentials.scheme;
    throw new NotApplicable(`there is no ${kind} credential for the scheme ${name} and this key`);
  }
  if (carrier === null) return bare;
  if (choice === 'second') {
    if (second === null) throw new HarnessError('no second credential is configured');
    return carrier.carry(second.reveal(), bare, moment);
  }
  if (secret === null) throw new HarnessError('a credential is placed that has not been obtained');
  const right = secret.reveal();
  if (choice === 'right') return carrier.carry(right, bare, moment);
  const places = 'in' in choice.placed ? [choice.placed] : choice.placed;
  return places.reduce((placed, place) => carrierAt(place).carry(right, placed, moment), bare);
}

/** The request without what the scheme, or the Authorization field, would carry. */
function stripped(request: HttpRequest, { carrier }: Credentials): HttpRequest {
  const bare = withoutField(request, 'authorization');
  return carrier === null ? bare : carrier.strip(bare);
}

type KeyVariation = Exclude<
  CredentialChoice,
  string | { readonly placed: unknown } | { readonly recorded: unknown } | { readonly refused: unknown }
>;

/** Null where that kind does not exist for the scheme or the value. */
function varied(
  bare: HttpRequest,
  choice: KeyVariation,
  { carrier, secret }: Credentials,
  moment: SigningTime,
): HttpRequest | null {
  if (carrier === null || secret === null) return null;
  const right = secret.reveal();
  if ('flawed' in choice) return carrier.flaw?.(choice.flawed, right, bare, moment) ?? null;
  const carried = (value: string) => carrier.carry(value, bare, moment);
  if ('spelled' in choice) {
    if (carrier.in !== 'header') return null;
    return spelled(choice.spelled, carried(right), carried(UNKNOWN_KEY), carrier.word);
  }
  const kind = choice.wrong;
  if (kind === 'other-scheme') {
    const other = carrier.word === 'Bearer' ? 'Basic' : 'Bearer';
    return carrier.word && withLastValue(carried(right), (value) => value.replace(/^\S+/, other));
  }
  if (kind === 'other-user')
    return carrier.word === 'Basic' ? basicField(UNKNOWN_USER).carry(right, bare, moment) : null;
  const value = isForgery(kind) ? (carrier.bare ? forged(kind, right) : null) : WRONG_VALUES[kind](right);
  if (value === null) return null;
  return carrier.show && OF_OCTETS.has(kind) ? carrier.show(value, right, bare, moment) : carried(value);
}

/** The last field line of either is the one that carries the credential. */
function spelled(
  spelling: CredentialSpelling,
  right: HttpRequest,
  wrong: HttpRequest,
  word: Carrier['word'],
): HttpRequest | null {
  const [rightLine, wrongLine] = [right.fields.at(-1), wrong.fields.at(-1)];
  if (!rightLine || !wrongLine) return null;
  const ending = (...lines: readonly FieldLine[]): HttpRequest => ({
    ...right,
    fields: [...right.fields.slice(0, -1), ...lines],
  });
  switch (spelling) {
    case 'other-case-scheme':
      return word && withLastValue(right, (value) => value.replace(word, word.toLowerCase()));
    case 'spaced-field': {
      const [name, value] = rightLine;
      return ending([swapped(name), ` \t${value} \t`]);
    }
    case 'spaced-scheme':
      return word && withLastValue(right, (value) => value.replace(' ', '   '));
    case 'twice':
      return ending(rightLine, rightLine);
    case 'right-then-wrong':
      return ending(rightLine, wrongLine);
    case 'wrong-then-right':
      return ending(wrongLine, rightLine);
  }
}

function withLastValue(request: HttpRequest, change: (value: string) => string): HttpRequest {
  const [name = '', value = ''] = request.fields.at(-1) ?? [];
  return { ...request, fields: request.fields.with(-1, [name, change(value)]) };
}

function cutShort(key: string): string | null {
  const digits = key.replace(PADDING, '');
  return digits.length > DIGITS.length ? digits.slice(0, -DIGITS.length) : null;
}

/** The other letter case of a text that is of one. */
function swapped(text: string): string {
  return text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
}

function caseFlipped(text: string): string {
  return Array.from(text, swapped).join('');
}
