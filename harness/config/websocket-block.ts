import type { Draft } from './draft.ts';
import type { WebSocketConfig } from './service.ts';

/** RFC 6455 §4.1: elements are tokens of RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** @throws UsageError for an address that is none, an origin with a path, a subprotocol that is no token. */
export function buildWebSocket({ blocks, faultAt, origins }: Draft): WebSocketConfig | null {
  const { websocket } = blocks;
  if (!websocket) return null;
  const { url, dialect, echo, origin, subprotocols } = websocket;
  if (url === undefined) throw faultAt('websocket.url', 'is missing', 'add `url:`, a path such as /ws');
  holdToAddress(url, (problem, remedy) => faultAt('websocket.url', problem, remedy));
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).origin !== origin)) {
    throw faultAt(
      'websocket.origin',
      'is not an origin',
      'write scheme, host and port only: https://app.example',
    );
  }
  for (const [index, name] of (subprotocols ?? []).entries()) {
    if (!TOKEN.test(name)) {
      throw faultAt(`websocket.subprotocols.${index}`, 'is not a token', 'use letters, digits and - . _');
    }
  }
  for (const key of ['dialect', 'echo'] as const) {
    if (websocket[key] === undefined) origins.set(`websocket.${key}`, { kind: 'default' });
  }
  return {
    url,
    dialect: dialect ?? 'raw',
    echo: echo ?? false,
    origin: origin ?? null,
    subprotocols: subprotocols ?? [],
  };
}

function holdToAddress(text: string, fault: (problem: string, remedy: string) => Error): void {
  const remedy = 'write a path such as /ws, or a ws or wss URL';
  if (text.includes('#')) throw fault('holds a fragment, which RFC 6455 §3 forbids', 'leave it out');
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw fault('holds white space or non-ASCII characters', 'percent-encode them');
  }
  if (text.startsWith('/') && !text.startsWith('//')) return;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'ws:' && url?.protocol !== 'wss:') throw fault('is no WebSocket address', remedy);
  if (url.username !== '' || url.password !== '') {
    throw fault('holds a user name or password', 'move it to `credentials:`');
  }
}
