import { createHmac, timingSafeEqual } from 'node:crypto';
import { HarnessError } from '../base/exit.ts';
import { Blocked, NotApplicable } from '../base/verdict.ts';
import type { WebhookSignature, WebhooksConfig } from '../config/blocks/webhooks.ts';
import { isStandIn } from '../credential/stand-in.ts';
import { Reply } from '../evidence/exchange/reply.ts';
import type { Exchange } from '../evidence/exchange.ts';
import { fieldValue } from '../evidence/fields/grammar/field-lines.ts';
import { traces } from '../evidence/redaction/marker.ts';
import type { Delivery, WebhookReceiver } from '../transport/http/webhook-receiver.ts';
import { recordRequest } from '../transport/socket/recording.ts';
import type { SessionMeans } from './turn/means.ts';
import type { Turn } from './turn/turn.ts';

/** An event of the service as it was received; the request is the service's, the answer ours. */
export interface Received {
  readonly reply: Reply;
  /** On the session's monotonic clock, in ms. */
  readonly atMs: number;
  /** Judged while the octets were at hand; null where no signature is configured. */
  readonly signature: 'valid' | 'missing' | 'wrong' | null;
}

/** What the service sends on its own. */
export interface WebhookPort {
  /**
   * What it sends to a receiver while `act` lasts, answered with these statuses in turn.
   *
   * @throws NotApplicable where no webhooks are configured, Blocked when nothing can be received.
   */
  receive(
    answers: readonly number[],
    act: (receiver: WebhookReceiver, url: string) => Promise<void>,
  ): Promise<readonly Received[]>;
}

export function webhookPort(means: SessionMeans, turn: Turn): WebhookPort {
  const { webhooks } = means.config;
  return {
    async receive(answers, act) {
      if (webhooks === undefined) throw new NotApplicable('no webhooks are configured (webhooks)');
      return receiveWebhooks(answers, act, webhooks, means, turn);
    },
  };
}

async function receiveWebhooks(
  answers: readonly number[],
  act: (receiver: WebhookReceiver, url: string) => Promise<void>,
  webhooks: WebhooksConfig,
  means: SessionMeans,
  turn: Turn,
): Promise<readonly Received[]> {
  const { wire, transport } = means;
  const receiver = await wire
    .openReceiver(webhooks.listen, answers, transport.clock)
    .catch((error: Error) => {
      throw new Blocked(error.message);
    });
  means.record({ type: 'receiver', service: means.config.service, url: receiver.url, path: receiver.path });
  try {
    await act(receiver, addressAt(webhooks.url ?? receiver.url, receiver.path));
    return receiver.deliveries.map((delivery, index) => {
      const exchange = delivery.recorded ?? exchangeOf(delivery, index, receiver.url, means);
      turn.trail.add(means.log.keep(exchange, 0).id);
      const signature = webhooks.signature && (delivery.signature ?? judged(delivery, webhooks.signature));
      if (signature !== null)
        means.record({
          type: 'signature',
          service: means.config.service,
          evidence: exchange.id,
          worth: signature,
        });
      return { reply: new Reply(exchange), atMs: delivery.atMs, signature };
    });
  } finally {
    await receiver.close();
  }
}

/** The path goes behind that of the address, before its query. */
function addressAt(address: string, path: string): string {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url.href;
}

function exchangeOf(
  delivery: Delivery,
  index: number,
  url: string,
  { transport: { clock, redaction }, log }: SessionMeans,
): Exchange {
  const { method, target, fields, body, truncated, status, atMs } = delivery;
  const ago = clock.now() - atMs;
  const limits = { bodyBytes: body.length, fieldBytes: 64 * 1024 };
  const request = recordRequest(redaction, { method, target, fields, body }, `${url}${target}`, limits);
  return {
    kind: 'exchange',
    id: log.nextId(),
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
}

/** RFC 2104 over the octets of the body. @throws Blocked where not all of them were kept. */
function judged(
  { fields, body, truncated, recorded }: Delivery,
  signature: WebhookSignature,
): NonNullable<Received['signature']> {
  const value = fieldValue(fields, signature.header.toLowerCase());
  if (value === undefined) return 'missing';
  if (recorded !== undefined && (truncated || traces(body).length > 0)) {
    throw new Blocked('not in the record: all that was signed');
  }
  const secret = signature.secret.reveal();
  if (isStandIn(secret)) throw new Blocked('not in the record: what the signature was worth');
  const digest = createHmac('sha256', secret).update(body).digest(signature.encoding);
  const [given, wanted] = [value, `${signature.prefix}${digest}`].map((text) => Buffer.from(text));
  if (!given || !wanted) throw new HarnessError('two texts make two buffers');
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? 'valid' : 'wrong';
}
