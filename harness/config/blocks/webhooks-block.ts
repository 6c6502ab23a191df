import { isIP } from 'node:net';
import type { Draft } from '../draft.ts';
import { readSecret } from '../secret/secret-value.ts';
import { baseUrl } from './base-url.ts';
import { readDuration } from './limits-block.ts';
import type { WebhookSignature, WebhooksConfig } from './webhooks.ts';

const DEFAULT_WITHIN_MS = 10_000;
const MAX_WITHIN_MS = 5 * 60_000;
/** RFC 9110 §5.6.2 */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** @throws UsageError for an address that is none, a trigger without path, a secret that cannot be read. */
export async function buildWebhooks(draft: Draft, literalAllowed: boolean): Promise<WebhooksConfig | null> {
  const { blocks, faultAt, origins } = draft;
  const { webhooks } = blocks;
  if (!webhooks) return null;
  const { trigger, url, within } = webhooks;
  if (trigger === undefined) {
    throw faultAt(
      'webhooks.trigger',
      'is missing',
      'add `trigger:`, the request that makes the service send an event',
    );
  }
  const method = trigger.method ?? 'POST';
  if (!TOKEN.test(method))
    throw faultAt('webhooks.trigger.method', 'is not a method', 'write POST or another');
  if (!/^\/[\x21-\x7e]*$/.test(trigger.path)) {
    throw faultAt('webhooks.trigger.path', 'is not a path', 'write a path such as /webhooks');
  }
  for (const key of ['listen', 'within'] as const) {
    if (webhooks[key] === undefined) origins.set(`webhooks.${key}`, { kind: 'default' });
  }
  return {
    listen: listenAt(draft, webhooks.listen ?? '127.0.0.1:0'),
    url:
      url === undefined ? null : baseUrl(url, (problem, remedy) => faultAt('webhooks.url', problem, remedy)),
    trigger: {
      method,
      path: trigger.path,
      body: trigger.body === undefined ? null : JSON.stringify(trigger.body),
    },
    signature: await signatureOf(draft, literalAllowed),
    withinMs:
      within === undefined
        ? DEFAULT_WITHIN_MS
        : readDuration(draft, 'webhooks.within', within, MAX_WITHIN_MS),
  };
}

function listenAt({ faultAt }: Draft, text: string): WebhooksConfig['listen'] {
  const [, address = '', port = ''] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (isIP(address) === 0 || Number(port) > 65_535) {
    throw faultAt(
      'webhooks.listen',
      'is not an address with a port',
      'write an IP address and a port, such as 0.0.0.0:8080 or [::]:8080',
    );
  }
  return { address, port: Number(port) };
}

async function signatureOf(draft: Draft, literalAllowed: boolean): Promise<WebhookSignature | null> {
  const block = draft.blocks.webhooks?.signature;
  if (!block) return null;
  const { header, scheme, prefix, secret } = block;
  if (!TOKEN.test(header)) {
    throw draft.faultAt(
      'webhooks.signature.header',
      'cannot be the name of a header field',
      'use letters, digits and hyphens',
    );
  }
  const read = await readSecret(draft, 'webhooks.signature.secret', secret ?? '', {
    literalAllowed,
    optional: true,
  });
  if (read === null) return null;
  return {
    header,
    encoding: scheme === 'hmac-sha256-base64' ? 'base64' : 'hex',
    prefix: prefix ?? '',
    secret: read,
  };
}
