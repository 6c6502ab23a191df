import { REST, tableOf, under, type Variant } from '../behavior/deviation.ts';
import { inHttp2 } from '../behavior/patches/parts.ts';

/** Lawful ways to speak HTTP/2 (RFC 9113). */
export const HTTP2_VARIANTS: readonly Variant[] = [
  ...tableOf<Variant>(REST, {
    'http2-alone': {
      summary: 'speaks HTTP/2 alone, over plain http by prior knowledge (RFC 9113 §3.3)',
      patch: inHttp2({ isAlone: true }),
    },
  }),
  ...tableOf<Variant>(under('HTTP/2'), {
    'one-stream-at-a-time': {
      summary: 'takes one stream of a connection at a time (RFC 9113 §5.1.2)',
      unseen: 'the client waits with the next stream',
      patch: inHttp2({ settings: { maxConcurrentStreams: 1 } }),
    },
    'refuses-some-streams': {
      summary: 'refuses each seventh stream unprocessed (RFC 9113 §8.7)',
      changes: ['http2.unprocessed'],
      patch: inHttp2({ refuses: (count) => count % 7 === 0 }),
    },
    'goaway-after-some-requests': {
      summary: 'ends each connection by GOAWAY after 5 requests, which are answered (RFC 9113 §6.8)',
      unseen: 'the next request goes out on a new connection',
      patch: inHttp2({ endsAfter: 5 }),
    },
    'narrow-windows-in-http2': {
      summary: 'takes content in HTTP/2 by small windows and small frames (RFC 9113 §5.2)',
      unseen: 'the content is the same',
      patch: inHttp2({ settings: { initialWindowSize: 64, headerTableSize: 0 } }),
    },
    'websocket-on-streams': {
      summary: 'says that it takes WebSocket connections on streams of HTTP/2 (RFC 8441 §3)',
      changes: ['http2.websocket'],
      patch: inHttp2({ settings: { enableConnectProtocol: true } }),
    },
  }),
];
