import { isJsonObject, type JsonObject } from '../../base/json-text.ts';
import { parseKeepingNumbers } from '../../config/pact/pact-file.ts';
import type { PactBroker } from '../../config/pact/pacts.ts';

/** A whole response, its body as text. */
export interface BrokerAnswer {
  readonly status: number;
  readonly text: string;
}

export interface BrokerRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** JSON text. */
  readonly body: string | null;
}

/** Sends one request; resolves with the whole response, or the reason for none, within seconds. */
export type SendToBroker = (request: BrokerRequest) => Promise<BrokerAnswer | { readonly failure: string }>;

/** A broker, or another source of pacts, did not deliver. */
export class BrokerFailure extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'BrokerFailure';
  }
}

/** One resource of a broker: JSON with links (HAL). */
export interface BrokerResource {
  readonly value: JsonObject;
  /** As received, for pacts in which the spelling of numbers matters. */
  readonly text: string;
  /** The address of a relation, its template filled in; null if there is no such link. */
  link(relation: string, variables?: Readonly<Record<string, string>>): string | null;
}

export interface BrokerClient {
  get(url: string): Promise<BrokerResource>;
  post(url: string, body: unknown): Promise<BrokerResource>;
  put(url: string, body: unknown): Promise<BrokerResource>;
}

const MEDIA_TYPES = 'application/hal+json, application/json';

/**
 * Speaks with one broker. Its credential goes to the broker's own origin and nowhere else, wherever links may lead.
 *
 * Every method rejects with BrokerFailure, in words for a person.
 */
export function openBroker(
  broker: Pick<PactBroker, 'url' | 'credentials'>,
  send: SendToBroker,
): BrokerClient {
  const { origin } = new URL(broker.url);

  async function call(method: BrokerRequest['method'], url: string, body: unknown): Promise<BrokerResource> {
    const trusted = new URL(url).origin === origin;
    const answer = await send({
      method,
      url,
      fields: [
        ['Accept', MEDIA_TYPES],
        ...(body === undefined ? [] : [['Content-Type', 'application/json'] as const]),
        ...(trusted ? authorization(broker.credentials) : []),
      ],
      body: body === undefined ? null : JSON.stringify(body),
    });
    const what = `${method} ${url}`;
    if ('failure' in answer) throw new BrokerFailure(`${what}: ${answer.failure}`);
    if (answer.status < 200 || answer.status > 299) {
      throw new BrokerFailure(`${what}: status ${answer.status}${HINTS[answer.status] ?? ''}`);
    }
    return resourceOf(answer.text, what, url);
  }

  return {
    get: (url) => call('GET', url, undefined),
    post: (url, body) => call('POST', url, body),
    put: (url, body) => call('PUT', url, body),
  };
}

const HINTS: Readonly<Record<number, string>> = {
  401: ' (are its token, or user and password, right?)',
  403: ' (may this token do that?)',
};

function authorization(credentials: PactBroker['credentials']): readonly (readonly [string, string])[] {
  if (credentials === null) return [];
  if (credentials.kind === 'token') return [['Authorization', `Bearer ${credentials.token.reveal()}`]];
  const pair = Buffer.from(`${credentials.username}:${credentials.password.reveal()}`);
  return [['Authorization', `Basic ${pair.toString('base64')}`]];
}

function resourceOf(text: string, what: string, url: string): BrokerResource {
  const parsed = parseKeepingNumbers(text === '' ? '{}' : text);
  if ('fault' in parsed) throw new BrokerFailure(`${what}: the answer ${parsed.fault.problem}`);
  const { value } = parsed;
  if (!isJsonObject(value)) throw new BrokerFailure(`${what}: the answer is no JSON object`);
  return {
    value,
    text,
    link(relation, variables = {}) {
      const links = value._links;
      const link = isJsonObject(links) ? links[relation] : undefined;
      const href = isJsonObject(link) && typeof link.href === 'string' ? link.href : null;
      if (href === null) return null;
      // RFC 6570 level 1, which is all that brokers use.
      const filled = href.replaceAll(/\{([A-Za-z]+)\}/g, (_, name: string) =>
        encodeURIComponent(variables[name] ?? ''),
      );
      const address = URL.parse(filled, url);
      if (address === null || !/^https?:$/.test(address.protocol)) {
        throw new BrokerFailure(`${what}: the link ${relation} leads nowhere`);
      }
      return address.href;
    },
  };
}
