import { filledIn } from '../base/finding.ts';
import { Secret } from '../base/secret.ts';
import type { Carrier } from '../config/credential/carrier.ts';
import type { AppCredentials } from '../config/credential/keys.ts';
import type { Credentials } from '../config/credential/scheme.ts';
import { bearer } from '../config/credential/schemes.ts';
import type { ReferenceName } from '../config/service.ts';
import { findDefect, findVariant } from './catalogue.ts';
import type { RunningReference } from './reference.ts';

/** Prefix of every built-in credential, so that none is taken for a real secret. */
const EXAMPLE_PREFIX = 'example-';

/** Credentials for a reference provider that is started without a service config. */
export function exampleCredentials(service: ReferenceName): Credentials {
  const upper = service.toUpperCase();
  const example = (name: string, text: string) => new Secret(`${upper}_${name}`, `${EXAMPLE_PREFIX}${text}`);
  return bearer.of({
    key: example('API_KEY', `${service}-key-not-secret`),
    secondKey: example('API_KEY_2', `${service}-second-key-not-secret`),
    app:
      service === 'realtime'
        ? { id: '1001', key: `${EXAMPLE_PREFIX}app-key`, secret: example('APP_SECRET', 'app-secret') }
        : null,
  });
}

/** One that is obtained first, and then in the variable KEY. */
const LENT_KEY = new Secret('KEY', '');

/** A secret as a shell line may show it: the literal when it is a built-in example, else its variable. */
function inShell(secret: Secret): string {
  if (secret.reveal().startsWith(EXAMPLE_PREFIX)) return secret.reveal();
  return `$${secret.name.replace(/[^A-Za-z0-9_]/g, '_').toUpperCase()}`;
}

/** The same as a JavaScript expression, with a text before it. */
function inScript(before: string, secret: Secret): string {
  const shown = inShell(secret);
  return shown.startsWith('$') ? `\`${before}\${process.env.${shown.slice(1)}}\`` : `'${before}${shown}'`;
}

/** How one credential is given to curl: what follows `curl`, and what follows the URL. */
interface CurlParts {
  readonly before: string;
  readonly query: string;
}

function curlParts({ carrier, secret }: Credentials): CurlParts {
  if (carrier === null || secret === null) return { before: '', query: '' };
  const shown = inShell(secret);
  if (carrier.in === 'query') return { before: '', query: `?${carrier.name}=${shown}` };
  if (carrier.in === 'cookie') return { before: `-b "${carrier.name}=${shown}" `, query: '' };
  if (carrier.user !== null) return { before: `-u "${carrier.user}:${shown}" `, query: '' };
  return { before: `-H "${carrier.name}: ${wordOf(carrier)}${shown}" `, query: '' };
}

function wordOf({ word }: Carrier): string {
  return word === null ? '' : `${word} `;
}

function signedCall(url: string, path: string, app: AppCredentials): readonly string[] {
  return [
    `query="auth_key=${app.key}&auth_timestamp=$(date +%s)&auth_version=1.0"`,
    `signature=$(printf 'GET\\n${path}\\n%s' "$query" | openssl dgst -sha256 -hmac "${inShell(app.secret)}" | sed 's/^.* //')`,
    `curl "${url}${path}?$query&auth_signature=$signature"`,
  ];
}

function isSigned({ carrier }: Credentials): boolean {
  return carrier?.in === 'signature';
}

function sampleCall(url: string, path: string, credentials: Credentials): readonly string[] {
  if (isSigned(credentials) && credentials.app) return signedCall(url, path, credentials.app);
  const { before, query } = curlParts(credentials);
  return [`curl ${before}-H "Content-Type: application/json" "${url}${path}${query}"`];
}

/** A Node script for the echo endpoint, with the `ws` package. */
function echoScript(socketUrl: string, credentials: Credentials): readonly string[] {
  const { carrier, secret } = credentials;
  const { query } = curlParts(credentials);
  const options =
    carrier?.bare && carrier.in === 'header' && secret
      ? `, { headers: { '${carrier.name}': ${inScript(wordOf(carrier), secret)} } }`
      : '';
  return [
    `const socket = new WebSocket('${socketUrl}/ws${query}'${options});   // import WebSocket from 'ws'`,
    `socket.on('open', () => socket.send('hello'));`,
    `socket.on('message', (content) => console.log(String(content)));`,
  ];
}

function pusherScript(port: number, app: AppCredentials): readonly string[] {
  const options = `{ cluster: '', wsHost: '127.0.0.1', wsPort: ${port}, forceTLS: false, enabledTransports: ['ws'] }`;
  return [
    `const pusher = new Pusher('${app.key}', ${options});   // import Pusher from 'pusher-js'`,
    `pusher.subscribe('news').bind('published', (data) => console.log(data));`,
  ];
}

function realtimeCalls(provider: RunningReference, credentials: Credentials): readonly CallSection[] {
  const socketUrl = provider.url.replace(/^http/, 'ws');
  const { app } = credentials;
  const { before, query } = curlParts(credentials);
  const wscat = [`wscat ${before}-c "${socketUrl}/ws${query}"`, ...echoScript(socketUrl, credentials)];
  return [
    [
      'WebSocket, raw: every message comes back',
      [`${socketUrl}/ws`, ...(isSigned(credentials) ? [] : wscat)],
    ],
    ...(app === null
      ? []
      : ([
          [
            'WebSocket, pusher protocol 7',
            [`${socketUrl}/app/${app.key}?protocol=7`, ...pusherScript(provider.port, app)],
          ],
          [
            'HTTP API, signed: the occupied channels',
            signedCall(provider.url, `/apps/${app.id}/channels`, app),
          ],
        ] as const)),
  ];
}

type CallSection = readonly [title: string, lines: readonly string[]];

function behaviorSections(provider: RunningReference): readonly CallSection[] {
  const { plan, defects, service, variant } = provider;
  const limit =
    plan === null
      ? 'no limit'
      : `${plan.requests} requests in ${plan.windowMs / 1000} s for each credential; the RateLimit fields count down`;
  return [
    ['Plan', [limit]],
    ...(variant === null
      ? []
      : ([['Variant', [`${variant}: ${findVariant(variant, service).summary}`]]] as const)),
    [
      'Defects',
      defects.length === 0
        ? ['none: this service conforms']
        : defects.map((name) => `${name}: ${filledIn(findDefect(name, service).cause)}`),
    ],
  ];
}

/**
 * Tells a client developer how to call a running reference provider: plain text, ready for a terminal. Built-in
 * example keys are shown as they are, all others as the variable they come from.
 */
export function howToCall(provider: RunningReference, configured: Credentials): string {
  const path = provider.service === 'realtime' ? '/' : '/v1/resources';
  const command = configured.command?.(provider.url, inShell);
  const credentials = command === undefined ? configured : { ...configured, secret: LENT_KEY };
  const sections: readonly CallSection[] = [
    [`${provider.service} at ${provider.url}`, []],
    ...(command === undefined ? [] : [['A key, for a while', [`export KEY=$(${command})`]] as const]),
    ['The documented sample', sampleCall(provider.url, path, credentials)],
    ...(provider.service === 'realtime' ? realtimeCalls(provider, credentials) : []),
    ...behaviorSections(provider),
  ];
  const paragraphs = sections.map(([title, lines]) =>
    [title, ...lines.map((line) => `  ${line}`)].join('\n'),
  );
  return `${paragraphs.join('\n\n')}\n`;
}
