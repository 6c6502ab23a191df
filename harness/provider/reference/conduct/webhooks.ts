import { createHmac, randomUUID } from 'node:crypto';
import type { Clock } from './clock.ts';

/** One event on its way to a receiver. */
export interface WebhookMessage {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How events are sent; what webhook defects replace. */
export interface WebhookConduct {
  /** The message for an event, signed when there is a secret. */
  readonly compose: (event: WebhookEvent, secret: string | null) => WebhookMessage;
  /** How long is waited before each further attempt, in ms. */
  readonly retriesAfterMs: readonly number[];
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

export const CONFORMING_WEBHOOKS: WebhookConduct = {
  compose(event, secret) {
    const body = JSON.stringify(event);
    const signature = secret === null ? {} : { [SIGNATURE_FIELD]: webhookSignature(body, secret) };
    return { fields: { 'Content-Type': 'application/json', 'X-Webhook-Id': event.id, ...signature }, body };
  },
  retriesAfterMs: [400, 1_200, 3_600],
  copies: 1,
};

/** How long a receiver may take, in ms. */
const ATTEMPT_MS = 5_000;

/** Sends events to receivers until it is closed. */
export class WebhookSender {
  readonly #conduct: WebhookConduct;
  readonly #secret: string | null;
  readonly #clock: Clock;
  readonly #closed = new AbortController();

  constructor(conduct: WebhookConduct, secret: string | null, clock: Clock) {
    this.#conduct = conduct;
    this.#secret = secret;
    this.#clock = clock;
  }

  /** Sends in the background: again, ever later, as long as the receiver does not say that it has the event. */
  send(url: string, type: string, data: object): void {
    const message = this.#conduct.compose({ id: randomUUID(), type, data }, this.#secret);
    void this.#deliver(url, message);
  }

  async #deliver(url: string, message: WebhookMessage): Promise<void> {
    const { copies, retriesAfterMs } = this.#conduct;
    for (const waitMs of [0, ...retriesAfterMs]) {
      if (waitMs > 0) await this.#clock.sleep(waitMs);
      if (this.#closed.signal.aborted) return;
      if (!(await this.#attempt(url, message))) continue;
      for (let copy = 1; copy < copies; copy++) await this.#attempt(url, message);
      return;
    }
  }

  async #attempt(url: string, { fields, body }: WebhookMessage): Promise<boolean> {
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(ATTEMPT_MS)]);
    const options = { method: 'POST', headers: fields, body, signal, redirect: 'manual' } as const;
    return fetch(url, options).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  close(): void {
    this.#closed.abort();
  }
}
