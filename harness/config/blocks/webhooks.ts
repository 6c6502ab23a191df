import type { Secret } from '../../credential/secret.ts';

/** Where events of the service are received, and how one is brought about. Durations are milliseconds. */
export interface WebhooksConfig {
  readonly listen: { readonly address: string /** 0 for any free one. */; readonly port: number };
  /** The receiver as the service reaches it; null for the address that is listened to. */
  readonly url: string | null;
  readonly trigger: WebhookTrigger;
  readonly signature: WebhookSignature | null;
  /** How soon a delivery, or the next attempt at one, is expected. */
  readonly withinMs: number;
}

/** The request that makes the service send an event; `${WEBHOOK_URL}` in it stands for the receiver's address. */
export interface WebhookTrigger {
  readonly method: string;
  readonly path: string;
  /** JSON text; null for none. */
  readonly body: string | null;
}

export interface WebhookSignature {
  readonly header: string;
  /** HMAC with SHA-256 (RFC 2104) of the body. */
  readonly encoding: 'hex' | 'base64';
  /** What comes before it in the field. */
  readonly prefix: string;
  readonly secret: Secret;
}
