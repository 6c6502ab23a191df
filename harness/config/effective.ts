import { Document, isMap, isNode, isSeq } from 'yaml';
import { Secret } from '../credential/secret.ts';
import { hasMembers } from '../json-text.ts';
import type { WebhooksConfig } from './blocks/webhooks.ts';
import type { LoadedService } from './load.ts';
import { writtenPacts } from './pact/written-pacts.ts';
import { writtenProvider } from './provider/written-provider.ts';
import type { Operation, ServiceConfig, WebSocketConfig } from './service.ts';
import { formatDuration } from './shape/units.ts';
import { formatOrigin, type Origins } from './yaml/origin.ts';

/**
 * The config in force, as YAML in the form of a service file, each value with its origin as a comment. Secrets
 * are masked: `[secret SEARCH_API_KEY]`.
 */
export function effectiveConfig({ config, origins }: LoadedService): string {
  const document = new Document();
  const node = document.createNode(asWritten(config));
  annotate(node, '', origins);
  explainUncallable(node, config.operations);
  document.contents = node;
  const heading = config.environment === null ? '' : `# environment: ${config.environment}\n`;
  const text = document.toString({ lineWidth: 0 });
  // The printer gives an empty list and its comment lines of their own.
  return heading + text.replaceAll(/:\n +\[\]\n +#/g, ': [] #');
}

function asWritten(config: ServiceConfig): Record<string, unknown> {
  const { provider, plan, timeouts } = config;
  return {
    service: config.service,
    contract: config.contract.name,
    provider: writtenProvider(provider),
    credentials: masked({ scheme: config.credentials.scheme.name, ...config.credentials.values }),
    plan: plan && {
      ...(plan.name === null ? {} : { name: plan.name }),
      requests: plan.requests,
      window: formatDuration(plan.windowMs),
    },
    operations: config.operations.map(operationAsWritten),
    websocket: config.websocket && websocketAsWritten(config.websocket),
    ...(config.webhooks ? { webhooks: webhooksAsWritten(config.webhooks) } : {}),
    ...(config.tls ? { tls: { ca: config.tls.file } } : {}),
    ...(config.pacts ? { pacts: writtenPacts(config.pacts) } : {}),
    safety: config.safety,
    timeouts: {
      connect: formatDuration(timeouts.connectMs),
      response: formatDuration(timeouts.responseMs),
    },
  };
}

function masked(value: unknown): unknown {
  if (value instanceof Secret) return value.toString();
  if (!hasMembers(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner)]));
}

function operationAsWritten({ id, method, path, fields, body, response, auth }: Operation): object {
  return {
    id,
    method,
    path,
    ...(fields.length === 0 ? {} : { fields: Object.fromEntries(fields) }),
    ...(body === null ? {} : { body: { text: body.text, type: body.mediaType } }),
    response: { status: response.status, schema: response.schema === null ? null : '[JSON Schema]' },
    ...(auth === 'none' ? { auth: false } : {}),
  };
}

const SCHEMA = '[JSON Schema]';

function websocketAsWritten(websocket: WebSocketConfig): object {
  const { url, dialect, adapter, exchange, messages, keepsIdleMs, ...same } = websocket;
  return {
    url,
    dialect: adapter ?? dialect,
    ...same,
    ...(exchange && { exchange: exchange.map(({ send }) => ({ send, expect: SCHEMA })) }),
    ...(messages && {
      messages: Object.fromEntries(Object.keys(messages).map((event) => [event, SCHEMA])),
    }),
    ...(keepsIdleMs !== undefined && { keepsIdle: formatDuration(keepsIdleMs) }),
  };
}

function webhooksAsWritten({ listen, url, trigger, signature, withinMs }: WebhooksConfig): object {
  const { address, port } = listen;
  return {
    listen: address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
    ...(url === null ? {} : { url }),
    trigger: { ...trigger, body: trigger.body === null ? null : JSON.parse(trigger.body) },
    signature: signature && {
      header: signature.header,
      scheme: `hmac-sha256-${signature.encoding}`,
      ...(signature.prefix === '' ? {} : { prefix: signature.prefix }),
      secret: signature.secret.toString(),
    },
    within: formatDuration(withinMs),
  };
}

/** Beside the path of each operation that cannot be called: why. */
function explainUncallable(node: unknown, operations: readonly Operation[]): void {
  if (!isMap(node)) return;
  for (const [index, { uncallable }] of operations.entries()) {
    const path = node.getIn(['operations', index, 'path'], true);
    if (uncallable !== null && isNode(path))
      path.comment = `${path.comment ?? ''}; cannot be called: ${uncallable}`;
  }
}

/** Comments go to the values that are written on one line; an empty list or mapping is one. */
function annotate(node: unknown, key: string, origins: Origins): void {
  const within = (name: string) => (key === '' ? name : `${key}.${name}`);
  if (isMap(node) && node.items.length > 0) {
    for (const { key: name, value } of node.items) annotate(value, within(String(name)), origins);
  } else if (isSeq(node) && node.items.length > 0) {
    for (const [index, item] of node.items.entries()) annotate(item, within(String(index)), origins);
  } else if (isNode(node)) {
    node.comment = ` ${formatOrigin(origins.get(key) ?? { kind: 'default' })}`;
  }
}
