import { REST, tableOf, type Variant } from '../behavior/deviation.ts';
import { inHttp2 } from '../behavior/patches/http2.ts';

/** Lawful ways to speak HTTP/2 (RFC 9113). */
export const HTTP2_VARIANTS = tableOf<Variant>(REST, {
  'http2-alone': {
    summary: 'speaks HTTP/2 alone, over plain http by prior knowledge (RFC 9113 §3.3)',
    patch: inHttp2({ isAlone: true }),
  },
});
