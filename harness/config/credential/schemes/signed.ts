import { APPLICATION, REFUSED } from '../keys.ts';
import { ofOneVariable, scheme, shippedApp } from '../scheme.ts';
import { signature } from '../signing/signature.ts';

/** Each request signed by the application, by the rules of the Pusher HTTP API. */
export const signed = scheme({
  name: 'signed',
  summary: 'each request signed with HMAC-SHA256 by `app`',
  keys: { app: APPLICATION, refused: REFUSED },
  use: ({ app }) => ({ carrier: signature(app.key), secret: app.secret }),
  opener: ({ app }) => ({ called: 'secret', secret: app.secret }),
  facts: { 'auth.usage': 'HMAC-SHA256 over method, path and sorted query' },
  // OpenAPI has no word for signatures; documents write them as keys or as schemes of their own.
  opens: ({ type }) => type === 'apiKey' || type === 'http',
  first: ofOneVariable((variable) => [
    'app:',
    `  id: \${env:${variable}_ID}`,
    `  key: \${env:${variable}_KEY}`,
    `  secret: \${env:${variable}}`,
  ]),
  proof: {
    setting: 'signed socket',
    words: 'credentials: { scheme: signed }',
    conforming: ['realtime'],
    values: (shipped) => ({ app: shippedApp(shipped) }),
  },
});
