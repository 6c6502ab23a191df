import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookSignature, WebhooksConfig } from '../config/blocks/webhooks.ts';
import { Reply } from '../evidence/exchange/reply.ts';
import type { EvidenceId, Exchange } from '../evidence/exchange.ts';
import { fieldValue } from '../evidence/fields/grammar/field-lines.ts';
import type { Redaction } from '../evidence/redaction/redaction.ts';
import { HarnessError } from '../exit.ts';
import type { Clock } from '../transport/pace/clock.ts';
import { recordRequest } from '../transport/recording.ts';
import { type Delivery, openReceiver, type WebhookReceiver } from '../transport/webhook-receiver.ts';
import { Blocked } from '../verdict.ts';

/** An event of the service as it was received; the request is the service's, the answer ours. */
export interface Received {
  readonly reply: Reply;
  /** On the session's monotonic clock, in ms. */
  readonly atMs: number;
  /** Judged while the octets were at hand; null where no signature is configured. */
  readonly signature: 'valid' | 'missing' | 'wrong' | null;
}

interface Means {
  readonly webhooks: WebhooksConfig;
  readonly clock: Clock;
  readonly redaction: Redaction;
  readonly nextId: () => EvidenceId;
  readonly keep: (exchange: Exchange) => void;
}

/** Receives what the service sends for as long as `act` lasts, and records it. @throws Blocked when nothing can be received. */
export async function receiveWebhooks(
  answers: readonly number[],
  act: (receiver: WebhookReceiver, url: string) => Promise<void>,
  means: Means,
): Promise<readonly Received[]> {
  const { webhooks, clock } = means;
  const receiver = await openReceiver(webhooks.listen, answers, clock).catch((error: Error) => {
    throw new Blocked(error.message);
  });
  try {
    await act(receiver, webhooks.url ?? receiver.url);
    return receiver.deliveries.map((delivery, index) => received(delivery, index, receiver.url, means));
  } finally {
    await receiver.close();
  }
}

function received(delivery: Delivery, index: number, url: string, means: Means): Received {
  const { webhooks, redaction, clock, nextId, keep } = means;
  const { method, target, fields, body, truncated, status, atMs } = delivery;
  const ago = clock.now() - atMs;
  const limits = { bodyBytes: body.length, fieldBytes: 64 * 1024 };
  const request = recordRequest(redaction, { method, target, fields, body }, `${url}${target}`, limits);
  const exchange: Exchange = {
    kind: 'exchange',
    id: nextId(),
    purpose: `to the receiver of webhooks, delivery ${index + 1}`,
    credential: 'none',
    request: { ...request, body: request.body && { ...request.body, truncated } },
    response: {
      status,
      reason: null,
      httpVersion: '1.1',
      fields: [],
      trailers: [],
      body: { bytes: new Uint8Array(), received: 0, truncated: false },
      informational: [],
      framingFaults: null,
    },
    failure: null,
    timing: {
      startedAt: new Date(clock.wallNow().getTime() - ago).toISOString(),
      startedMs: atMs,
      connectMs: null,
      responseMs: 0,
      durationMs: 0,
    },
  };
  keep(exchange);
  const { signature } = webhooks;
  return { reply: new Reply(exchange), atMs, signature: signature && judged(delivery, signature) };
}

/** RFC 2104 over the octets of the body. */
function judged({ fields, body }: Delivery, signature: WebhookSignature): Received['signature'] {
  const value = fieldValue(fields, signature.header.toLowerCase());
  if (value === undefined) return 'missing';
  const digest = createHmac('sha256', signature.secret.reveal()).update(body).digest(signature.encoding);
  const [given, wanted] = [value, `${signature.prefix}${digest}`].map((text) => Buffer.from(text));
  if (!given || !wanted) throw new HarnessError('two texts make two buffers');
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? 'valid' : 'wrong';
}
