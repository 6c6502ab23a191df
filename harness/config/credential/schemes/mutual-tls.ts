import type { Question } from '../scheme.ts';
import { scheme } from '../scheme.ts';

const ASKS = {
  cert: {
    option: 'client-cert',
    question: 'PEM file of the client certificate',
    fallback: 'client.pem',
    variable: false,
  },
  key: {
    option: 'client-key',
    question: 'PEM file of its private key',
    fallback: 'client-key.pem',
    variable: false,
  },
} as const satisfies Record<string, Question>;

/** The certificate that the client shows when the connection is made (RFC 8446 §4.4.2), and nothing in a request. */
export const mutualTls = scheme({
  name: 'mutualTLS',
  summary: 'the client certificate of `tls:`, and nothing else',
  keys: {},
  byCertificate: true,
  use: () => ({}),
  opens: ({ type }) => type === 'mutualTLS',
  first: {
    asks: Object.values(ASKS),
    lines: () => [],
    beside: (answers, path) => [
      'tls:',
      ...Object.entries(ASKS).map(
        ([key, { option }]) => `  ${key}: ${JSON.stringify(path(answers[option] ?? ''))}`,
      ),
      `  # passphrase: \${env:NAME} # where the file of the key is encrypted`,
    ],
  },
  proof: {
    setting: 'mutual TLS',
    words: 'credentials: { scheme: mutualTLS }',
    conforming: ['search'],
    values: () => ({}),
  },
});
