import type { ClauseValue } from '../../base/clause.ts';
import { type ClauseKey, isClauseKey, ORIGIN } from '../../base/vocabulary.ts';
import type { Credentials } from '../credential/scheme.ts';
import type { Draft } from '../draft/draft.ts';
import type { Operation } from '../operation/call/call.ts';
import type { PactsConfig } from '../pact/pacts.ts';
import { flag, list, mapping, needed, text } from '../shape/kinds.ts';
import { formatOrigin } from '../yaml/origin.ts';
import { DIALECTS } from './dialect.ts';
import { type Plan, rateOf } from './limits.ts';
import type { WebhooksConfig } from './webhooks.ts';
import type { WebSocketConfig } from './websocket.ts';

export interface Fact {
  readonly value: ClauseValue;
  /** Where it stands: `config/services/search.yaml:12:7`. */
  readonly origin: string;
}

interface Filled {
  readonly plan: Plan | null;
  readonly credentials: Credentials;
  readonly operations: readonly Operation[];
  readonly websocket: WebSocketConfig | null;
  readonly webhooks?: WebhooksConfig;
  readonly pacts?: PactsConfig;
  /** Null where the config says nothing of it. */
  readonly responseTime: ClauseValue;
}

interface Blocks {
  readonly plan?: unknown;
  readonly cors?: object;
  readonly events?: object | null;
  readonly operations?: readonly unknown[];
  readonly pacts?: unknown;
  readonly websocket?: { readonly url?: string };
}

/** What it states of the documents, in a block of its own. */
export const CORS = mapping(
  'The origins whose pages may call the service from a browser (CORS). It is held to that.',
  {
    expected: 'a mapping such as { origins: [https://shop.example], credentials: true }',
    nullable: true,
    def: 'cors',
  },
  {
    origins: needed(
      list(
        'Each origin whose pages may call; `https://*.shop.example` for its sub-domains, `*` for every origin.',
        { minItems: 1, maxItems: 50, uniqueItems: true, expected: 'a list such as [https://shop.example]' },
        text('An origin: scheme, host, and the port if it is not the usual one.', {
          pattern: ORIGIN,
          expected: 'an origin such as https://shop.example',
        }),
      ),
      'add `origins:`, such as [https://shop.example]',
    ),
    credentials: flag('Whether such a page may send the cookies of its reader. Not judged if left out.'),
    exposed: list(
      'Headers of responses that such a page may read.',
      { minItems: 1, maxItems: 50, uniqueItems: true, expected: 'a list such as [RateLimit, Retry-After]' },
      text('Name of a header.'),
    ),
  },
);

/** What this config settles of what the documents leave open; each with the place that settles it. */
export function fillFacts(draft: Draft, blocks: Blocks, filled: Filled): Readonly<Record<string, Fact>> {
  const facts = new Map<ClauseKey, Fact>();
  const fill = (clause: ClauseKey, value: ClauseValue, key: string) => {
    facts.set(clause, { value, origin: formatOrigin(draft.originOf(key)) });
  };

  // A plan that was taken from the contract is the contract's word, not the config's.
  if (blocks.plan && filled.plan) fill('limits.rate', rateOfPlan(filled.plan), 'plan');
  if (filled.responseTime !== null) fill('responses.time', filled.responseTime, 'maxResponse');
  if (blocks.events) fill('events.streams', { ...blocks.events }, 'events');
  fillCredentials(filled.credentials, fill);
  if (filled.operations.length > 0) {
    const calls = filled.operations.map(({ id, method, path }) => ({ id, method, path }));
    fill('endpoint.other-operations', calls, blocks.operations?.length ? 'operations' : 'openapi');
  }
  if (filled.websocket) {
    const { url, dialect, echo, exchange, documented } = filled.websocket;
    fill('websocket.address', url, blocks.websocket?.url === undefined ? 'asyncapi' : 'websocket.url');
    const { messages } = DIALECTS[dialect];
    if (messages !== undefined) fill('websocket.messages', messages, 'websocket.dialect');
    else if (echo) fill('websocket.messages', 'each message is sent back', 'websocket.echo');
    else if (documented) fill('websocket.messages', 'those of the AsyncAPI document', 'asyncapi');
    else if (exchange) fill('websocket.messages', 'messages and their answers', 'websocket.exchange');
  }
  if (filled.webhooks) {
    const { method, path } = filled.webhooks.trigger;
    fill('events.webhooks', `sent upon ${method} ${path}`, 'webhooks');
  }
  if (blocks.cors) fill('cors.origins', { ...blocks.cors }, 'cors');
  if (filled.pacts) {
    const consumers = [...new Set(filled.pacts.interactions.map(({ consumer }) => consumer))];
    const [found = 'pacts'] = filled.pacts.files;
    // A pact found by its name counts, although no config names it.
    if (blocks.pacts) fill('consumers.pacts', consumers, 'pacts');
    else facts.set('consumers.pacts', { value: consumers, origin: found });
  }
  return Object.fromEntries(facts);
}

function rateOfPlan({ rate, requests, ...plan }: Plan): ClauseValue {
  return rateOf({ ...plan, ...(rate ? { ...rate, burst: requests } : { requests }) });
}

/** A config as if this plan stood there. */
export function withPlan<Config extends { readonly facts: Readonly<Record<string, Fact>> }>(
  config: Config,
  plan: Plan,
  origin: string,
): Config & { readonly plan: Plan } {
  return { ...config, plan, facts: { ...config.facts, 'limits.rate': { value: rateOfPlan(plan), origin } } };
}

function fillCredentials(
  { scheme, carrier, values }: Credentials,
  fill: (clause: ClauseKey, value: ClauseValue, key: string) => void,
): void {
  const place = 'credentials.scheme';
  fill('auth.scheme', scheme.name, place);
  if (carrier !== null) fill('auth.placement', [carrier.in], place);
  if (carrier?.name) {
    fill('auth.credential-name', carrier.name, 'name' in values ? 'credentials.name' : place);
  }
  for (const [clause, value] of Object.entries(scheme.facts ?? {})) {
    if (isClauseKey(clause)) fill(clause, value, place);
  }
}
