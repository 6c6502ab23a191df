import { appOf, type Credentials } from '../config/service.ts';
import type { HttpRequest } from '../credential/request.ts';
import type { CredentialUse } from '../evidence/exchange.ts';
import type { Redaction } from '../evidence/redaction/redaction.ts';
import {
  credentialSecret,
  type KeyPlace,
  type PlacingMoment,
  placeCredential,
  withKeyAt,
} from '../transport/credential/credential.ts';
import { placeFlawedSignature, type SignatureFlaw } from '../transport/credential/signature-flaw.ts';
import {
  type CredentialSpelling,
  placeSpelledCredential,
  placeWrongCredential,
  type WrongCredential,
} from '../transport/credential/wrong-credential.ts';
import { NotApplicable } from '../verdict.ts';

/** Which credential a stimulus carries, and where. */
export type CredentialChoice =
  | 'right'
  | 'second'
  | 'none'
  /** Must be refused. */
  | { readonly wrong: WrongCredential }
  /** The right one, written in a way that the standard allows or leaves open. */
  | { readonly spelled: CredentialSpelling }
  /** The right one in other places than the configured one. */
  | { readonly placed: KeyPlace | readonly KeyPlace[] }
  /** Signed with the right secret, and yet to be refused. */
  | { readonly flawed: SignatureFlaw }
  /** Signed by the application, whatever the configured scheme. */
  | 'signed'
  /** The request holds a right one already, as an earlier request did. */
  | 'held'
  /** The request stays as it is, and holds this kind of one. */
  | { readonly recorded: 'wrong' | 'none' };

/** What of a choice the evidence tells: whether the service had to let it in. */
export function credentialUse(choice: CredentialChoice): CredentialUse {
  if (choice === 'signed' || choice === 'held') return 'right';
  if (typeof choice === 'string') return choice;
  if ('recorded' in choice) return choice.recorded;
  return 'wrong' in choice || 'flawed' in choice ? 'wrong' : 'right';
}

/** @throws NotApplicable where the configured scheme has no such variation. */
export function placeChoice(
  request: HttpRequest,
  choice: CredentialChoice,
  credentials: Credentials,
  redaction: Redaction,
  moment: PlacingMoment,
): HttpRequest {
  if (choice === 'held' || (typeof choice === 'object' && 'recorded' in choice)) return request;
  if (choice === 'signed') return placeSignature(request, credentials, moment);
  if (typeof choice === 'string') return placeCredential(credentials, choice, request, moment);
  if ('placed' in choice) {
    const bare = placeCredential(credentials, 'none', request, moment);
    const secret = credentialSecret(credentials);
    if (secret === null) return bare;
    const places = 'in' in choice.placed ? [choice.placed] : choice.placed;
    return places.reduce((placed, place) => withKeyAt(place, secret.reveal(), placed), bare);
  }
  const [kind, placed] =
    'wrong' in choice
      ? [choice.wrong, placeWrongCredential(credentials, choice.wrong, request, moment, redaction)]
      : 'flawed' in choice
        ? [choice.flawed, placeFlawedSignature(credentials, choice.flawed, request, moment)]
        : [choice.spelled, placeSpelledCredential(credentials, choice.spelled, request, moment)];
  if (placed !== null) return placed;
  throw new NotApplicable(`there is no ${kind} credential for the scheme ${credentials.scheme} and this key`);
}

function placeSignature(request: HttpRequest, credentials: Credentials, moment: PlacingMoment): HttpRequest {
  const app = appOf(credentials);
  if (app === null) throw new NotApplicable('no application credentials are configured');
  const bare = placeCredential(credentials, 'none', request, moment);
  return placeCredential({ scheme: 'signed', secondKey: null, app }, 'right', bare, moment);
}
