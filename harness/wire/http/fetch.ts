import { createRequire } from 'node:module';
import zlib from 'node:zlib';
import type * as undici from 'undici';
import { systemClock } from '../pace/clock.ts';
import { addressOf } from '../socket/address.ts';
import { dial } from '../socket/dial.ts';
import { errorLine } from '../socket/failure.ts';
import type { Network } from '../socket/options.ts';

/**
 * Node before 22.15 has no zstd, and undici 8 does not load without: it looks for the decompressor of an interceptor
 * that is not used here. So undici is loaded after this puts one there that cannot be used.
 */
const codings: { createZstdDecompress?: unknown } = zlib;
codings.createZstdDecompress ??= () => {
  throw new Error(`Node ${process.version} has no zstd`);
};
const { Agent, fetch }: typeof undici = createRequire(import.meta.url)('undici');

/** In ms and octets. */
const LIMITS = { withinMs: 20_000, octets: 32 * 1024 * 1024 };

/** It came, and is not the document. */
export class UnfitDocument extends Error {}

/**
 * The text of a document at a URL, redirects followed, over sockets like all others. It is no evidence.
 *
 * @throws Error with a line that completes "the document …": `is answered 404`.
 */
export async function fetchDocument(url: string, network: Network): Promise<string> {
  const dispatcher = new Agent({
    allowH2: false,
    connect: ({ protocol, host = '' }, callback) => {
      const options = { ...network, clock: systemClock, timeouts: { connectMs: LIMITS.withinMs } };
      void dial(addressOf(`${protocol}//${host}`), options).then(({ socket, failure }) => {
        if (socket) callback(null, socket);
        else callback(new Error(failure.message), null);
      });
    },
  });
  try {
    const response = await fetch(url, { dispatcher, signal: AbortSignal.timeout(LIMITS.withinMs) });
    if (!response.ok) throw new UnfitDocument(`is answered ${response.status}`);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of response.body ?? []) {
      length += chunk.length;
      if (length > LIMITS.octets) throw new UnfitDocument(`is larger than ${LIMITS.octets} octets`);
      chunks.push(chunk);
    }
    return new TextDecoder().decode(Buffer.concat(chunks));
  } catch (error) {
    if (error instanceof UnfitDocument) throw error;
    // What undici calls `fetch failed` has its reason as its cause.
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Error(`cannot be fetched: ${errorLine(reason)}`, { cause: error });
  } finally {
    await dispatcher.destroy();
  }
}
