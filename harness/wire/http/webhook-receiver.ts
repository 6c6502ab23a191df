import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { InconclusiveError } from '../../base/exit.ts';
import { portOf } from '../../base/loopback.ts';
import { createServer } from '../../base/node-http.ts';
import type { Exchange, FieldLine } from '../exchange.ts';
import { linesIn } from '../fields/grammar/field-grammar.ts';
import { type Clock, startDeadline } from '../pace/clock.ts';

/**
 * What a signature is worth. `wrong`: not made of this body by this key; `invalid`: the same, of all that it covers;
 * of those that hold, `uncovered` leaves out the body, and covers it by a digest that is of another one
 * (`other-digest`), or that is of no use against attackers (`weak-digest`).
 */
export const WORTHS = [
  'valid',
  'missing',
  'wrong',
  'invalid',
  'uncovered',
  'other-digest',
  'weak-digest',
] as const;
export type Worth = (typeof WORTHS)[number];

/** A request that the service sent to the receiver. */
export interface Delivery {
  /** On the clock's monotonic scale, when it was whole, in ms. */
  readonly atMs: number;
  readonly method: string;
  readonly target: string;
  readonly fields: readonly FieldLine[];
  readonly body: Uint8Array;
  /** The content went on after the limit, and was not read. */
  readonly truncated: boolean;
  readonly answer: ReceiverAnswer;
  /** The evidence of it, where it was recorded before. */
  readonly recorded?: Exchange;
  /** What its signature was worth then, where that was recorded. */
  readonly signature?: Worth;
}

/** What a receiver says to an event. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly fields: readonly FieldLine[];
}

export interface WebhookReceiver {
  /** `http://127.0.0.1:PORT`, or the like for another address. */
  readonly url: string;
  /** The path at which it receives, which cannot be guessed. A request elsewhere is refused, and is no delivery. */
  readonly path: string;
  readonly deliveries: readonly Delivery[];
  /** Waits until there are `count`. @returns whether there are. */
  waitFor(count: number, timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

const ACCEPTED: ReceiverAnswer = { status: 200, fields: [] };
/** Octets of the content of one delivery that are kept. */
const MOST_OCTETS = 256 * 1024;
/** Deliveries that are taken; further ones are not listened to. */
const MOST_DELIVERIES = 50;
/** How long one may take to arrive, in ms. */
const REQUEST_MS = 10_000;

/**
 * Listens for requests of a service. `answers` are the responses to the deliveries in turn, the last one for all further ones.
 *
 * @throws InconclusiveError when the address cannot be listened to.
 */
export async function openReceiver(
  listen: { readonly address: string; readonly port: number },
  answers: readonly ReceiverAnswer[],
  clock: Clock,
): Promise<WebhookReceiver> {
  const deliveries: Delivery[] = [];
  const path = `/${randomUUID()}`;
  let wake: () => void = () => undefined;
  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      if (!isBelow(path, request.url ?? '')) {
        response.writeHead(404, { Connection: 'close' }).end();
        return;
      }
      void read(request).then((content) => {
        if (content === null || deliveries.length >= MOST_DELIVERIES) return request.destroy();
        const answer = answers[deliveries.length] ?? answers.at(-1) ?? ACCEPTED;
        const { method = '', url: target = '', rawHeaders } = request;
        deliveries.push({
          atMs: clock.now(),
          method,
          target,
          fields: linesIn(rawHeaders),
          ...content,
          answer,
        });
        const fields = [...answer.fields, ['Connection', 'close'] as const];
        response.writeHead(answer.status, fields.flat()).end();
        wake();
      });
    },
  );
  server.maxConnections = 20;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new InconclusiveError(
          `webhooks cannot be received at ${listen.address}:${listen.port}: ${error.code ?? error.message}`,
        ),
      ),
    );
    server.listen(listen.port, listen.address, resolve);
  });
  const host = listen.address.includes(':') ? `[${listen.address}]` : listen.address;
  return {
    url: `http://${host}:${portOf(server)}`,
    path,
    deliveries,
    waitFor(count, timeoutMs) {
      if (deliveries.length >= count) return Promise.resolve(true);
      return new Promise((resolve) => {
        const cancel = startDeadline(clock, timeoutMs, () => resolve(false));
        wake = () => {
          if (deliveries.length < count) return;
          cancel();
          resolve(true);
        };
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whatever base path the address has that the service was given: a proxy before the receiver may have cut it off. */
function isBelow(path: string, target: string): boolean {
  return target.split('?')[0]?.endsWith(path) ?? false;
}

/** null when it was broken off. */
async function read(request: IncomingMessage): Promise<Pick<Delivery, 'body' | 'truncated'> | null> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of request) {
      pieces.push(piece);
      length += piece.length;
      if (length > MOST_OCTETS) break;
    }
  } catch {
    return null;
  }
  return { body: Buffer.concat(pieces).subarray(0, MOST_OCTETS), truncated: length > MOST_OCTETS };
}
