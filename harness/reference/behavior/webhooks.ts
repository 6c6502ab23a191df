import { createHmac, createSecretKey, randomUUID } from 'node:crypto';
import { digestOf, KEY_ID, type Signing, seconds, signatureFields } from '../http/signature.ts';
import type { EpochClock } from './clock.ts';

export interface WebhookMessage {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How events are sent; what webhook defects replace. */
export interface WebhookBehavior {
  /** The message for an attempt at an event, signed when there is a secret. `url`: of the receiver. */
  readonly compose: (
    event: WebhookEvent,
    secret: string | null,
    nowMs: number,
    url: string,
  ) => WebhookMessage;
  /** How long is waited before each further attempt, in ms. */
  readonly retriesAfterMs: readonly number[];
  /** It waits as long as Retry-After asks it to. */
  readonly heedsRetryAfter: boolean;
  /** It sends nothing more after 410. */
  readonly heedsGone: boolean;
  /** How often an event is sent that was received. */
  readonly copies: number;
}

export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly data: object;
}

export const SIGNATURE_FIELD = 'X-Webhook-Signature';

export function webhookSignature(body: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

export const CONFORMING_WEBHOOKS: WebhookBehavior = {
  compose(event, secret) {
    const body = JSON.stringify(event);
    const signature = secret === null ? {} : { [SIGNATURE_FIELD]: webhookSignature(body, secret) };
    return { fields: { 'Content-Type': 'application/json', 'X-Webhook-Id': event.id, ...signature }, body };
  },
  retriesAfterMs: [400, 1_200, 3_600],
  heedsRetryAfter: true,
  heedsGone: true,
  copies: 1,
};

const hmac = (key: string | Buffer, text: string, encoding: 'hex' | 'base64') =>
  createHmac('sha256', key).update(text).digest(encoding);

/** One that was in use before. */
export const OLD_SECRET = 'example-old-secret-not-secret';

/** HMAC of Standard Webhooks: the secret is base64, perhaps with `whsec_` before it. */
export function standardSignature(text: string, secret: string): string {
  return hmac(Buffer.from(secret.replace(/^whsec_/, ''), 'base64'), text, 'base64');
}

function composed(
  event: WebhookEvent,
  fields: (body: string) => Readonly<Record<string, string>>,
): WebhookMessage {
  const body = JSON.stringify(event);
  return { fields: { 'Content-Type': 'application/json', ...fields(body) }, body };
}

const inSeconds = (nowMs: number) => String(Math.floor(nowMs / 1_000));

/** Standard Webhooks 1.0.0; `beside`: signatures before the right one. */
export const standardCompose =
  (beside: (text: string) => readonly string[] = () => []): WebhookBehavior['compose'] =>
  (event, secret, nowMs) =>
    composed(event, (body) => {
      const text = `${event.id}.${inSeconds(nowMs)}.${body}`;
      const signatures = [...beside(text), `v1,${standardSignature(text, secret ?? '')}`];
      return {
        'webhook-id': event.id,
        'webhook-timestamp': inSeconds(nowMs),
        'webhook-signature': signatures.join(' '),
      };
    });

/** As Stripe signs while one secret takes the place of another. */
export const stripeCompose: WebhookBehavior['compose'] = (event, secret, nowMs) =>
  composed(event, (body) => {
    const signed = (by: string) => hmac(by, `${inSeconds(nowMs)}.${body}`, 'hex');
    const [old, current] = [signed(OLD_SECRET), signed(secret ?? '')];
    return { 'Stripe-Signature': `t=${inSeconds(nowMs)},v1=${old},v1=${current},v0=${old}` };
  });

export const slackCompose: WebhookBehavior['compose'] = (event, secret, nowMs) =>
  composed(event, (body) => ({
    'X-Slack-Request-Timestamp': inSeconds(nowMs),
    'X-Slack-Signature': `v0=${hmac(secret ?? '', `v0:${inSeconds(nowMs)}:${body}`, 'hex')}`,
  }));

/** By RFC 9421 with the secret; `change` replaces parts of the message and of its signature. */
export const messageCompose =
  (change: (message: SignedMessage) => Partial<SignedMessage> = () => ({})): WebhookBehavior['compose'] =>
  (event, secret, nowMs, url) =>
    composed(event, (body) => {
      const digest = digestOf(Buffer.from(body));
      const usual: SignedMessage = {
        url: new URL(url),
        body,
        now: seconds(nowMs),
        fields: { 'Content-Digest': digest },
        signings: [
          {
            covered: [['"@method"', 'POST'], ['"@target-uri"', url], coveredDigest(digest)],
            parameters: `;created=${seconds(nowMs)};keyid="${KEY_ID}"`,
            key: createSecretKey(secret ?? '', 'utf8'),
          },
        ],
      };
      const { fields, signings } = { ...usual, ...change(usual) };
      const each = signings.map((signing) => new Map(signatureFields(signing)));
      const joined = (name: string) => each.map((of) => of.get(name) ?? '').join(', ');
      return { ...fields, 'Signature-Input': joined('Signature-Input'), Signature: joined('Signature') };
    });

interface SignedMessage {
  readonly url: URL;
  readonly body: string;
  /** In seconds. */
  readonly now: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly signings: readonly Signing[];
}

/** The time when an event was first sent stands on each attempt at it. */
export function signingOnce(compose: WebhookBehavior['compose']): WebhookBehavior['compose'] {
  const times = new Map<string, number>();
  return (event, secret, nowMs, url) => {
    const firstMs = times.get(event.id) ?? nowMs;
    times.set(event.id, firstMs);
    return compose(event, secret, firstMs, url);
  };
}

/** Content-Digest as a signature covers it. */
export const coveredDigest = (digest: string): Signing['covered'][number] => ['"content-digest"', digest];

/** RFC 9110 §15.5.11. */
const GONE = 410;
/** How long a receiver may take, in ms. */
const ATTEMPT_MS = 5_000;

/** Sends events to receivers until it is closed. */
export class WebhookSender {
  readonly #behavior: WebhookBehavior;
  readonly #secret: string | null;
  readonly #clock: EpochClock;
  readonly #closed = new AbortController();

  constructor(behavior: WebhookBehavior, secret: string | null, clock: EpochClock) {
    this.#behavior = behavior;
    this.#secret = secret;
    this.#clock = clock;
  }

  /** Sends in the background: again, ever later, as long as the receiver does not say that it has the event. */
  send(url: string, type: string, data: object): void {
    void this.#deliver(url, { id: randomUUID(), type, data });
  }

  async #deliver(url: string, event: WebhookEvent): Promise<void> {
    const { copies, retriesAfterMs, heedsRetryAfter, heedsGone } = this.#behavior;
    let askedMs = 0;
    for (const ownMs of [0, ...retriesAfterMs]) {
      const waitMs = Math.max(ownMs, heedsRetryAfter ? askedMs : 0);
      if (waitMs > 0) await this.#clock.sleep(waitMs);
      if (this.#closed.signal.aborted) return;
      const answer = await this.#attempt(url, event);
      if (answer?.status === GONE && heedsGone) return;
      if (answer?.ok) {
        for (let copy = 1; copy < copies; copy++) await this.#attempt(url, event);
        return;
      }
      askedMs = 1_000 * (Number(answer?.headers.get('Retry-After')) || 0);
    }
  }

  /** null where there is no answer. */
  async #attempt(url: string, event: WebhookEvent): Promise<Response | null> {
    const { fields, body } = this.#behavior.compose(event, this.#secret, this.#clock.now(), url);
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(ATTEMPT_MS)]);
    const options = { method: 'POST', headers: fields, body, signal, redirect: 'manual' } as const;
    return fetch(url, options).catch(() => null);
  }

  close(): void {
    this.#closed.abort();
  }
}
