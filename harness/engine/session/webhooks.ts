import { Blocked, NotApplicable } from '../../base/verdict.ts';
import type { WebhookSignature, WebhooksConfig } from '../../config/blocks/webhooks.ts';
import { eventScheme, type SignedEvent } from '../../config/credential/signing/event-signature.ts';
import { isStandIn } from '../../config/credential/stand-in.ts';
import { Reply } from '../../wire/exchange/reply.ts';
import { bareResponse, type Exchange, type FieldLine } from '../../wire/exchange.ts';
import { fieldValue } from '../../wire/fields/grammar/field-grammar.ts';
import type { Delivery, ReceiverAnswer, WebhookReceiver, Worth } from '../../wire/http/webhook-receiver.ts';
import { traces } from '../../wire/redaction/marker.ts';
import { recordRequest } from '../../wire/socket/recording.ts';
import type { SessionContext, Turn } from './turn/session-context.ts';

/** A received event; the request is the service's, the response ours. */
export interface Received {
  readonly reply: Reply;
  /** Milliseconds of the session's monotonic clock. */
  readonly atMs: number;
  /** null if no signature is configured. */
  readonly signature: Worth | null;
  /** Time of the attempt by the signature scheme; null for none. */
  readonly time: string | null;
  /** null if the scheme has no id. */
  readonly id: string | null;
}

export interface WebhookPort {
  /**
   * The events sent to a receiver while `act` lasts; these are its responses in turn. @throws NotApplicable without
   * webhooks in the config, Blocked if none can be received.
   */
  receive(
    answers: readonly ReceiverAnswer[],
    act: (receiver: WebhookReceiver, url: string) => Promise<void>,
  ): Promise<readonly Received[]>;
}

export function webhookPort(context: SessionContext, turn: Turn): WebhookPort {
  const { webhooks } = context.config;
  return {
    async receive(answers, act) {
      if (webhooks === undefined) throw new NotApplicable('no webhooks are configured (webhooks)');
      return receiveWebhooks(answers, act, webhooks, context, turn);
    },
  };
}

async function receiveWebhooks(
  answers: readonly ReceiverAnswer[],
  act: (receiver: WebhookReceiver, url: string) => Promise<void>,
  webhooks: WebhooksConfig,
  context: SessionContext,
  turn: Turn,
): Promise<readonly Received[]> {
  const { wire, transport } = context;
  const receiver = await wire
    .openReceiver(webhooks.listen, answers, transport.clock)
    .catch((error: Error) => {
      throw new Blocked(error.message);
    });
  context.record({
    type: 'receiver',
    service: context.config.service,
    url: receiver.url,
    path: receiver.path,
  });
  try {
    const address = addressAt(webhooks.url ?? receiver.url, receiver.path);
    await act(receiver, address);
    return receiver.deliveries.map((delivery, index) => {
      const exchange = delivery.recorded ?? exchangeOf(delivery, index, receiver.url, context);
      turn.trail.add(context.log.keep(exchange, 0).id);
      const signature =
        webhooks.signature && (delivery.signature ?? judged(delivery, address, webhooks.signature));
      if (signature !== null)
        context.record({
          type: 'signature',
          service: context.config.service,
          evidence: exchange.id,
          worth: signature,
        });
      return {
        reply: new Reply(exchange),
        atMs: delivery.atMs,
        signature,
        ...readTime(delivery, address, webhooks),
      };
    });
  } finally {
    await receiver.close();
  }
}

/** Appends to the path of the address, before its query. */
function addressAt(address: string, path: string): string {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url.href;
}

function exchangeOf(
  delivery: Delivery,
  index: number,
  url: string,
  { transport: { clock, redaction }, log }: SessionContext,
): Exchange {
  const { method, target, fields, body, truncated, answer, atMs } = delivery;
  const ago = clock.now() - atMs;
  const limits = { bodyBytes: body.length, fieldBytes: 64 * 1024 };
  const request = recordRequest(redaction, { method, target, fields, body }, `${url}${target}`, limits);
  return {
    kind: 'exchange',
    id: log.nextId(),
    purpose: `to the receiver of webhooks, delivery ${index + 1}`,
    credential: 'none',
    request: { ...request, body: request.body && { ...request.body, truncated } },
    response: bareResponse(answer.status, answer.fields),
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

/** @throws Blocked if the body is incomplete, or its signature cannot be verified. */
function judged(delivery: Delivery, address: string, signature: WebhookSignature): Worth {
  const { body, truncated, recorded } = delivery;
  const event = eventOf(delivery, address, signature);
  if (event.signature === '') return 'missing';
  if (recorded !== undefined && (truncated || traces(body).length > 0)) {
    throw new Blocked('not in the record: all that was signed');
  }
  if (truncated) throw new Blocked('an event is so large that not all of what was signed is kept');
  const { scheme, key } = signature;
  if ('secret' in key && isStandIn(key.secret.reveal())) {
    throw new Blocked('not in the record: what the signature was worth');
  }
  const worth = eventScheme(scheme).worth(event, signature);
  if (typeof worth === 'string') return worth;
  throw new Blocked(`the signature of an event cannot be verified: ${worth.untold}`);
}

/** The signed address is the one given to the service, whatever a proxy before the receiver does. */
function eventOf(
  { method, target, fields, body }: Delivery,
  address: string,
  { header }: WebhookSignature,
): SignedEvent {
  const { host, pathname } = new URL(address);
  const query = /\?.*$/s.exec(target)?.[0] ?? '';
  const request = {
    method,
    url: address,
    target: `${pathname}${query}`,
    fields: fields.map(([name, value]): FieldLine => [name, /^host$/i.test(name) ? host : value]),
  };
  const field = (name: string) => fieldValue(fields, name);
  return { signature: field(header.toLowerCase()) ?? '', field, body, request };
}

function readTime(
  delivery: Delivery,
  address: string,
  { signature }: WebhooksConfig,
): Pick<Received, 'time' | 'id'> {
  if (signature === null) return { time: null, id: null };
  const { time, id } = eventScheme(signature.scheme);
  const event = eventOf(delivery, address, signature);
  return { time: time?.readTime(event) ?? null, id: (id && event.field(id)) ?? null };
}
