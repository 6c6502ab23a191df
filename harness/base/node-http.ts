/** Of `node:http`, whose import reads all that it has: Node's own undici, for one, which takes 13 MiB and longer than Node. */
export const { createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http');

/** `node:http2`, which most runs have no use for. */
export const http2 = () => process.getBuiltinModule('node:http2');
