import { resolve } from 'node:path';
import { text } from '../shape/kinds.ts';
import { providerKind } from './kind.ts';

export interface UnixSocketProvider {
  readonly kind: 'unixSocket';
  /** Absolute. */
  readonly path: string;
}

export const unixSocket = providerKind('unixSocket', {
  keys: {
    unixSocket: text(
      'Path of the Unix domain socket on which a running service listens, relative to this file.',
      { expected: 'the path of a socket', examples: ['/run/search/api.sock', `\${env:SEARCH_SOCKET}`] },
    ),
  },
  build: (said, { scope }): UnixSocketProvider => ({ kind: 'unixSocket', path: resolve(scope.folder, said) }),
  staysHere: () => true,
  addressOf: ({ path }) => path,
});
