import { Secret } from '../../../base/secret.ts';
import { basicField } from '../carrier.ts';
import { APPLICATION, optional, REFUSED, secret, text } from '../keys.ts';
import { isAuthorizationKey, ofOneVariable, scheme } from '../scheme.ts';

/** RFC 7617. */
export const basic = scheme({
  name: 'basic',
  summary: 'user name and password',
  keys: {
    username: text('The user name.'),
    password: secret('The password.'),
    refused: REFUSED,
    app: optional(APPLICATION),
  },
  // RFC 7617 §2: the first colon ends the user-id.
  fault: ({ username }) =>
    /[:\p{Cc}]/u.test(username)
      ? { key: 'username', problem: 'holds a colon or control character', remedy: 'RFC 7617 allows neither' }
      : null,
  use: ({ username, password }) => ({ carrier: basicField(username), secret: password }),
  opener: ({ password }) => ({ called: 'password', secret: password }),
  opens: (demand) => (demand.type === 'http' && demand.scheme === 'basic') || isAuthorizationKey(demand),
  first: ofOneVariable((variable) => [`username: \${env:${variable}_USER}`, `password: \${env:${variable}}`]),
  proof: {
    setting: 'basic',
    words: 'credentials: { scheme: basic }',
    conforming: ['search'],
    isRefusedOtherwise: true,
    values: ({ app }) => ({
      username: 'example-user',
      password: new Secret('EXAMPLE_PASSWORD', 'example-password-not-secret'),
      app,
    }),
  },
});
