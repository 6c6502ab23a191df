import { createHmac } from 'node:crypto';
import type { Reader } from '../../config/credential/carrier.ts';
import type { Credentials, Lender } from '../../config/credential/scheme.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import { type Answer, served } from '../http/answer.ts';
import type { ReceivedRequest } from '../http/message.ts';

/** The three credentials of a realtime application; the secret never travels. */
export interface App {
  readonly id: string;
  readonly key: string;
  readonly secret: string;
}

/** Where in a request a credential may stand; `signature` stands in several parameters of the query. */
export type Placement = Reader | 'signature';

interface AcceptedKey {
  /** Whom the quota is counted for; not secret. */
  readonly identity: string;
  /** As readers read it: the key; for basic authentication `user:password`. */
  readonly value: string;
  /** When it ends, in ms on the provider's clock; left out where it does not. */
  readonly untilMs?: number;
}

/** Who may call, and how. No placement at all: everybody. */
export interface Access {
  /** Protection space named in challenges (RFC 9110 §11.5). */
  readonly realm: string;
  readonly placements: readonly Placement[];
  readonly keys: readonly AcceptedKey[];
  readonly app: App | null;
  /** Who presents none is served as well. */
  readonly isOptional: boolean;
  /** Where keys are given out; null for nowhere. */
  readonly lending: Lending | null;
}

interface Lending {
  readonly path: string;
  answer(request: ReceivedRequest, nowMs: number): Answer;
}

/**
 * Who may call with these credentials; the one place where they are revealed to the provider. Those of an application
 * open the signature as a further way in.
 */
export function accessBy(realm: string, credentials: Credentials, isOptional = false): Access {
  const { carrier, secret, second, app, lender } = credentials;
  const reader = carrier?.reader ?? null;
  const given = reader === null ? [] : [secret, second].filter((key) => key !== null);
  const keys = given.map((key, index): AcceptedKey => {
    return { identity: `key-${index + 1}`, value: reader?.textOf(key.reveal()) ?? '' };
  });
  return {
    realm,
    placements: [...(reader === null ? [] : [reader]), ...(app === null ? [] : (['signature'] as const))],
    keys,
    app: app && { ...app, secret: app.secret.reveal() },
    isOptional,
    lending: lender && lendingBy(lender, keys),
  };
}

/** Whoever has keys lent is one client, however many he has. */
function lendingBy(lender: Lender, keys: AcceptedKey[]): Lending {
  return {
    path: lender.path,
    answer({ method, fields, body }, nowMs) {
      const lent = lender.lend({ method, fields, body: body.toString('utf8') });
      const { key } = lent;
      if (key) keys.push({ identity: 'client', value: key.value, untilMs: nowMs + key.forMs });
      return keyAnswer(lent.status, lent.content, lent.fields);
    },
  };
}

/** RFC 6749 §5.1: a token is for nobody to keep but the client. */
function keyAnswer(status: number, content: object, fields: readonly FieldLine[]): Answer {
  const answer = served(content, [...fields, ['Cache-Control', 'no-store']]);
  return { ...answer, responseKind: 'key-lent', status };
}

/** What opened the service once, or opens another one. */

export const REVOKED_KEY = 'example-revoked-key-not-secret';

/** A JSON web token (RFC 7519) that says this, signed with a secret that nobody knows. */
export function exampleToken(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${input}.${createHmac('sha256', 'known-to-nobody').update(input).digest('base64url')}`;
}

export const FOREIGN_TOKEN = exampleToken({
  iss: 'https://login.example/',
  sub: 'client',
  aud: 'messaging',
});
