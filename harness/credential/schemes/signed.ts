import { APPLICATION } from '../keys.ts';
import { scheme } from '../scheme.ts';

/** Each request signed by the application, by the rules of the Pusher HTTP API. */
export const signed = scheme({
  name: 'signed',
  summary: 'each request signed with HMAC-SHA256 by `app`',
  keys: { app: APPLICATION },
});
