import type { ClauseValue } from '../contract/clause.ts';
import type { ClauseKey } from '../contract/vocabulary.ts';
import type { WebhooksConfig } from './blocks/webhooks.ts';
import type { Draft } from './draft.ts';
import type { PactsConfig } from './pact/pacts.ts';
import type { Credentials, Fact, Operation, Plan, WebSocketConfig } from './service.ts';
import { formatDuration } from './shape/units.ts';
import { formatOrigin, originAround } from './yaml/origin.ts';

interface Filled {
  readonly plan: Plan | null;
  readonly credentials: Credentials;
  readonly operations: readonly Operation[];
  readonly websocket: WebSocketConfig | null;
  readonly webhooks: WebhooksConfig | null;
  readonly pacts: PactsConfig | null;
}

/** What this config settles of what the documents leave open; each with the place that settles it. */
export function fillFacts(draft: Draft, filled: Filled): Readonly<Record<string, Fact>> {
  const facts = new Map<ClauseKey, Fact>();
  const fill = (clause: ClauseKey, value: ClauseValue, key: string) => {
    const origin = originAround(draft.origins, key);
    facts.set(clause, { value, origin: origin ? formatOrigin(origin) : 'service config' });
  };

  // A plan that was taken from the contract is the contract's word, not the config's.
  if (draft.blocks.plan && filled.plan) {
    const { requests, windowMs } = filled.plan;
    fill('limits.rate', { requests, window: formatDuration(windowMs) }, 'plan');
  }
  fillCredentials(filled.credentials, fill);
  if (filled.operations.length > 0) {
    const calls = filled.operations.map(({ id, method, path }) => ({ id, method, path }));
    fill('endpoint.other-operations', calls, draft.blocks.operations?.length ? 'operations' : 'openapi');
  }
  if (filled.websocket) {
    const { url, dialect, echo, exchange } = filled.websocket;
    fill('websocket.address', url, 'websocket.url');
    if (dialect === 'pusher') fill('websocket.messages', 'pusher protocol', 'websocket.dialect');
    else if (dialect === 'own') fill('websocket.messages', 'a dialect of its own', 'websocket.dialect');
    else if (echo) fill('websocket.messages', 'each message is sent back', 'websocket.echo');
    else if (exchange) fill('websocket.messages', 'messages and their answers', 'websocket.exchange');
  }
  if (filled.webhooks) {
    const { method, path } = filled.webhooks.trigger;
    fill('events.webhooks', `sent upon ${method} ${path}`, 'webhooks');
  }
  if (filled.pacts) {
    const consumers = [...new Set(filled.pacts.interactions.map(({ consumer }) => consumer))];
    const [found = 'pacts'] = filled.pacts.files;
    // A pact that is found by its name stands in nobody's config, and is meant all the same.
    if (draft.blocks.pacts) fill('consumers.pacts', consumers, 'pacts');
    else facts.set('consumers.pacts', { value: consumers, origin: found });
  }
  return Object.fromEntries(facts);
}

function fillCredentials(
  credentials: Credentials,
  fill: (clause: ClauseKey, value: ClauseValue, key: string) => void,
): void {
  const { scheme } = credentials;
  fill('auth.scheme', scheme, 'credentials.scheme');
  switch (scheme) {
    case 'none':
      return;
    case 'bearer':
    case 'basic':
      fill('auth.placement', ['header'], 'credentials.scheme');
      fill('auth.credential-name', 'Authorization', 'credentials.scheme');
      // The documents' bearer sample is what the config says too: no contradiction is left.
      if (scheme === 'bearer') {
        fill('auth.sample', { field: 'Authorization', value: 'Bearer <API_KEY>' }, 'credentials.scheme');
      }
      return;
    case 'header':
    case 'query':
      fill('auth.placement', [scheme], 'credentials.scheme');
      fill('auth.credential-name', credentials.name, 'credentials.name');
      return;
    case 'signed':
      fill('auth.placement', ['signature'], 'credentials.scheme');
      fill('auth.usage', 'HMAC-SHA256 over method, path and sorted query', 'credentials.scheme');
  }
}
