import zlib from 'node:zlib';

/**
 * Node before 22.15 has no zstd, and undici 8 does not load without: it looks for the decompressor of an interceptor
 * that is not used here. Imported before undici, this puts one there that cannot be used.
 */
const codings: { createZstdDecompress?: unknown } = zlib;
codings.createZstdDecompress ??= () => {
  throw new Error(`Node ${process.version} has no zstd`);
};
