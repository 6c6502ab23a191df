import { isIP } from 'node:net';
import type { Draft } from '../draft.ts';
import { readSecret } from '../secret/secret-value.ts';
import { choice, duration, json, mapping, needed, secret, text } from '../shape/kinds.ts';
import { baseUrl } from './base-url.ts';
import { readDuration } from './limits-block.ts';
import type { WebhookSignature, WebhooksConfig } from './webhooks.ts';

export const WEBHOOKS = mapping(
  'Where events are received that the service sends, and how one is brought about.',
  {
    expected: 'a mapping such as { listen: 127.0.0.1:0, trigger: { path: /webhooks } }',
    nullable: true,
    def: 'webhooks',
  },
  {
    listen: text('Address and port to receive at during the run; port 0 is any free one.', {
      default: '127.0.0.1:0',
      expected: 'an address and a port such as 0.0.0.0:8080',
    }),
    url: text('The same as the service reaches it. Default: http at the address listened to.', {
      expected: 'an http or https URL',
    }),
    trigger: needed(
      mapping(
        `The request that makes the service send an event. \${WEBHOOK_URL} in its path or body stands for the address to send to.`,
        {
          expected: `a mapping such as { method: POST, path: /webhooks, body: { url: "\${WEBHOOK_URL}" } }`,
          texts: 'raw',
        },
        {
          method: text('Method of the request.', { default: 'POST' }),
          path: needed(text('Path below the base address.', { expected: 'a path such as /webhooks' })),
          body: json('A JSON value.', { expected: 'a JSON value' }),
        },
      ),
    ),
    signature: mapping(
      'How a delivery is signed.',
      {
        expected: `a mapping such as { header: X-Signature, secret: "\${env:WEBHOOK_SECRET}" }`,
        nullable: true,
      },
      {
        header: needed(text('The header that carries it.')),
        scheme: choice(
          'How it is made of the body and the secret.',
          ['hmac-sha256-hex', 'hmac-sha256-base64'],
          {
            default: 'hmac-sha256-hex',
          },
        ),
        prefix: text('What comes before it in the header, such as sha256=.'),
        secret: needed(secret()),
      },
    ),
    within: duration('How soon a delivery, or the next attempt at one, is expected.', {
      default: '10s',
      atMost: '5m',
    }),
  },
);

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
