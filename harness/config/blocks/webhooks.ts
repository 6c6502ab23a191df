import { isIP } from 'node:net';
import { listed } from '../../base/text.ts';
import {
  EVENT_SCHEME_NAMES,
  type EventSchemeName,
  eventScheme,
  SCHEMES_WITH_HEADER,
} from '../credential/signing/event-signature.ts';
import type { VerificationKey } from '../credential/signing/verification-key.ts';
import type { Draft } from '../draft/draft.ts';
import { readSecret } from '../draft/secret.ts';
import { choice, duration, type Fault, json, mapping, needed, secret, text } from '../shape/kinds.ts';
import type { Loaded } from '../shape/loaded.ts';
import { baseUrl, ownPath, token } from '../shape/text-forms.ts';
import { buildVerificationKey, verificationKey } from './signatures.ts';

function listenAddress(written: string, fault: Fault): { readonly address: string; readonly port: number } {
  const [, address = '', port = ''] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(written) ?? [];
  if (isIP(address) === 0 || Number(port) > 65_535) {
    const remedy = 'write an IP address and a port, such as 0.0.0.0:8080 or [::]:8080';
    throw fault('is not an address with a port', remedy);
  }
  return { address, port: Number(port) };
}

export const WEBHOOKS = mapping(
  'Where to receive events of the service, and how to make it send one.',
  {
    expected: 'a mapping such as { listen: 127.0.0.1:0, trigger: { path: /webhooks } }',
    nullable: true,
    def: 'webhooks',
  },
  {
    listen: text('Address and port to receive at during the run; port 0 is any free one.', {
      default: '127.0.0.1:0',
      expected: 'an address and a port such as 0.0.0.0:8080',
      references: 'open',
      read: listenAddress,
    }),
    url: text('Address under which the service reaches this receiver. Default: http at the address above.', {
      default: null,
      expected: 'an http or https URL',
      references: 'open',
      read: baseUrl,
    }),
    trigger: needed(
      mapping(
        `The request that makes the service send an event. \${WEBHOOK_URL} in its path or body stands for the address to send to.`,
        {
          expected: `a mapping such as { method: POST, path: /webhooks, body: { url: "\${WEBHOOK_URL}" } }`,
          references: 'raw',
        },
        {
          method: text('Method of the request.', {
            default: 'POST',
            read: token('is not a method', 'write POST or another'),
          }),
          path: needed(
            text('Path below the base URL.', { expected: 'a path such as /webhooks', read: ownPath }),
          ),
          body: json('A JSON value. It is sent as JSON.', {
            default: null,
            expected: 'a JSON value',
            read: (body) => JSON.stringify(body),
          }),
        },
      ),
      'add `trigger:`, the request that makes the service send an event',
    ),
    signature: mapping(
      'How the service signs an event.',
      {
        expected: `a mapping such as { header: X-Signature, secret: "\${env:WEBHOOK_SECRET}" }`,
        nullable: true,
      },
      {
        header: text(
          `The header that carries the signature. The ways of ${listed(SCHEMES_WITH_HEADER)} have one of their own.`,
          { read: token('cannot be the name of a header field', 'use letters, digits and hyphens') },
        ),
        scheme: choice('How the signature is made of the event and the secret.', EVENT_SCHEME_NAMES, {
          default: 'hmac-sha256-hex',
        }),
        prefix: text('Text before the signature in the header, such as sha256=, of an hmac-sha256 scheme.'),
        secret: secret(),
        key: verificationKey(
          'In place of secret. For rfc9421 the file, relative to this one, with the public key: in PEM, or as a JSON web key. Or the secret and how its octets are written.',
        ),
      },
    ),
    within: duration('How soon an event, or the next attempt to deliver one, must arrive.', {
      default: '10s',
      atMost: '5m',
    }),
  },
);

type WebhooksBlock = Loaded<typeof WEBHOOKS>;

const PLACE = 'webhooks.signature';

/** Where events of the service are received, and how one is brought about. */
export interface WebhooksConfig extends Omit<WebhooksBlock, 'signature'> {
  readonly signature: WebhookSignature | null;
}

export interface WebhookSignature {
  readonly header: string;
  readonly scheme: EventSchemeName;
  /** Its prefix in the field, if the scheme does not define one. */
  readonly prefix: string;
  readonly key: VerificationKey;
}

/** @throws UsageError for a key that cannot be read, or is not for the scheme. */
export async function buildWebhooks(
  draft: Draft,
  written: WebhooksBlock | undefined,
  literalAllowed: boolean,
): Promise<WebhooksConfig | null> {
  return written ? { ...written, signature: await signatureOf(draft, written, literalAllowed) } : null;
}

async function signatureOf(
  draft: Draft,
  { signature }: WebhooksBlock,
  literalAllowed: boolean,
): Promise<WebhookSignature | null> {
  if (!signature) return null;
  const { scheme, prefix = '' } = signature;
  const header = signature.header ?? eventScheme(scheme).header;
  if (header === null) {
    const problem = 'does not say which header carries the signature';
    throw draft.faultAt(PLACE, problem, 'add `header:`, such as X-Signature');
  }
  const key = await keyOf(draft, signature, literalAllowed);
  if (key === null) return null;
  if (!('pem' in key) || eventScheme(scheme).takesPublicKeys) return { header, scheme, prefix, key };
  const ofKeys = EVENT_SCHEME_NAMES.filter((name) => eventScheme(name).takesPublicKeys);
  const remedy = `write \`secret:\`, or use the scheme ${ofKeys.join(' or ')}`;
  throw draft.faultAt(`${PLACE}.key`, `is a public key, and ${scheme} signs with a secret`, remedy);
}

/** null where the secret is one that need not be there. */
async function keyOf(
  draft: Draft,
  { secret, key }: NonNullable<WebhooksBlock['signature']>,
  literalAllowed: boolean,
): Promise<VerificationKey | null> {
  if (key && secret !== undefined)
    throw draft.faultAt(`${PLACE}.key`, 'stands beside a secret', 'write one of the two');
  if (key) return buildVerificationKey(draft, `${PLACE}.key`, key, literalAllowed);
  if (secret === undefined) throw draft.faultAt(PLACE, 'has neither secret nor key', 'add `secret:`');
  const read = await readSecret(draft, `${PLACE}.secret`, secret, { literalAllowed, optional: true });
  return read && { secret: read, encoding: 'text' };
}
