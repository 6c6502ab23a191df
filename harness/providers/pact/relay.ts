import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject } from '../../base/json-text.ts';
import { listening } from '../../base/loopback.ts';
import { createServer } from '../../base/node-http.ts';
import type { FieldLine } from '../../wire/exchange.ts';
import { isToken, linesIn } from '../../wire/fields/grammar/field-grammar.ts';

/** A request of an interaction. Strings are latin1: one character is one octet. */
export interface RelayedRequest {
  readonly method: string;
  /** In origin-form, below the provider's base address. */
  readonly target: string;
  readonly fields: readonly FieldLine[];
  readonly body: Uint8Array | null;
}

export interface RelayedResponse {
  readonly status: number;
  readonly fields: readonly FieldLine[];
  readonly body: Uint8Array;
}

/** Pact asks for a provider state, or for a message. */
export type PactQuestion = JsonObject;

/** They answer Pact instead of the provider. A rejection closes the connection without an answer. */
export interface RelayHandlers {
  /** null if the provider gave no whole response. */
  readonly request: (request: RelayedRequest) => Promise<RelayedResponse | null>;
  /** `{ action, state, params }`. */
  readonly state: (change: PactQuestion) => Promise<RelayedResponse>;
  /** `{ description, providerStates }`. */
  readonly message: (question: PactQuestion) => Promise<RelayedResponse>;
}

/** The addresses of one verification. */
export interface RelayRoute {
  readonly pactUrl: string;
  readonly providerUrl: string;
  readonly statesUrl: string;
  readonly port: number;
  readonly messagesPath: string;
  /** Requests under way. */
  readonly busy: () => boolean;
  /** Called at each begin and end of a request. */
  onActivity(listener: () => void): void;
  /** The first error of a handler; undefined if none. */
  readonly thrown: () => unknown;
  /** The text without the secret part of the addresses. */
  readonly masked: (text: string) => string;
  release(): void;
}

export interface Relay {
  /** Opens unguessable addresses for one pact. */
  route(pact: string, handlers: RelayHandlers): RelayRoute;
  close(): void;
}

/** Larger than any request of a pact. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
/** Field lines together; pacts hold long ones. */
const MAX_FIELD_BYTES = 256 * 1024;

interface OpenRoute {
  readonly pact: string;
  readonly handlers: RelayHandlers;
  readonly listeners: (() => void)[];
  underWay: number;
  thrown: { readonly error: unknown } | null;
}

/**
 * A relay between Pact and the provider, on the loopback interface. It sends Pact's requests with the session's own
 * client, so they carry the service's credential, count against its budget and are recorded. Pact's process knows
 * neither the credential nor the provider. Only fields of the connection are changed.
 */
export async function openRelay(): Promise<Relay> {
  const routes = new Map<string, OpenRoute>();
  const server = createServer({ maxHeaderSize: MAX_FIELD_BYTES, keepAlive: true }, (request, response) => {
    void answer(routes, request, response);
  });
  const port = await listening(server);
  // An open relay must not keep its process alive.
  server.unref();
  return {
    route(pact, handlers) {
      const secret = randomBytes(16).toString('hex');
      const route: OpenRoute = { pact, handlers, listeners: [], underWay: 0, thrown: null };
      routes.set(secret, route);
      const base = `http://127.0.0.1:${port}/${secret}`;
      return {
        pactUrl: `${base}/pact.json`,
        providerUrl: `${base}/provider`,
        statesUrl: `${base}/states`,
        port,
        messagesPath: `/${secret}/messages`,
        busy: () => route.underWay > 0,
        onActivity: (listener) => {
          route.listeners.push(listener);
        },
        thrown: () => route.thrown?.error,
        masked: (text) => text.replaceAll(`${base}/provider`, '').replaceAll(base, '').replaceAll(secret, ''),
        release: () => {
          routes.delete(secret);
        },
      };
    },
    close() {
      routes.clear();
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  routes: ReadonlyMap<string, OpenRoute>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, secret = '', place = '', rest = ''] =
    /^\/([0-9a-f]+)\/(pact\.json|provider|states|messages)(.*)$/s.exec(request.url ?? '') ?? [];
  const route = routes.get(secret);
  if (route === undefined) {
    response.writeHead(404).end();
    return;
  }
  const activity = (change: 1 | -1) => {
    route.underWay += change;
    for (const listener of route.listeners) listener();
  };
  activity(1);
  try {
    const body = await bodyOf(request);
    send(request, response, await reply(route, request, { place, rest, body }));
  } catch (error) {
    route.thrown ??= { error };
    response.destroy();
  } finally {
    activity(-1);
  }
}

interface RouteRequest {
  readonly place: string;
  readonly rest: string;
  readonly body: Buffer;
}

async function reply(
  { pact, handlers }: OpenRoute,
  request: IncomingMessage,
  { place, rest, body }: RouteRequest,
): Promise<RelayedResponse | null> {
  switch (place) {
    case 'pact.json':
      return { status: 200, fields: [['Content-Type', 'application/json']], body: Buffer.from(pact) };
    case 'states':
      return handlers.state(questionOf(body));
    case 'messages':
      return handlers.message(questionOf(body));
    default:
      return handlers.request({
        method: request.method ?? 'GET',
        target: rest.startsWith('/') ? rest : `/${rest}`,
        fields: ownFields(request),
        body: body.length > 0 ? body : null,
      });
  }
}

/** Fields of the connection to the relay, and those that Pact's HTTP client adds to the pact's. */
const NOT_THE_PACTS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    host: /^/,
    connection: /^/,
    'content-length': /^/,
    'transfer-encoding': /^/,
    'user-agent': /^pact_verifier\//,
    'accept-encoding': /^gzip,deflate$/,
  }),
);

function ownFields({ rawHeaders }: IncomingMessage): readonly FieldLine[] {
  return linesIn(rawHeaders).filter(([name, value]) => !NOT_THE_PACTS.get(name.toLowerCase())?.test(value));
}

/** RFC 9110 §7.6.1: fields about one connection are not forwarded. The length follows from the content. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function send(request: IncomingMessage, response: ServerResponse, reply: RelayedResponse | null): void {
  if (reply === null) {
    response.destroy();
    return;
  }
  // A name with a secret in it was redacted, and is none.
  const fields = reply.fields.filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()) && isToken(name));
  const bodiless = request.method === 'HEAD' || reply.status === 204 || reply.status === 304;
  response.sendDate = false;
  response.writeHead(reply.status, [
    ...fields.flat(),
    ...(bodiless ? [] : ['Content-Length', String(reply.body.length)]),
  ]);
  response.end(bodiless ? undefined : reply.body);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    received += chunk.length;
    if (received > MAX_REQUEST_BYTES) {
      throw new RangeError(
        `the request of the interaction is larger than ${MAX_REQUEST_BYTES / 1024 / 1024} MiB`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function questionOf(body: Buffer): PactQuestion {
  const value: unknown = body.length === 0 ? {} : JSON.parse(body.toString('utf8'));
  return isJsonObject(value) ? value : {};
}
