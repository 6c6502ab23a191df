import { APPLICATION, optional, secret, text } from '../keys.ts';
import { scheme } from '../scheme.ts';

/** RFC 7617. */
export const basic = scheme({
  name: 'basic',
  summary: 'user name and password',
  keys: {
    username: text('The user name.', { example: 'example-user' }),
    password: secret('The password.'),
    app: optional(APPLICATION),
  },
  // RFC 7617 §2: the first colon ends the user-id.
  fault: ({ username }) =>
    /[:\p{Cc}]/u.test(username)
      ? { key: 'username', problem: 'holds a colon or control character', remedy: 'RFC 7617 allows neither' }
      : null,
});
