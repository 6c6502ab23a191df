import { APPLICATION, KEY, optional, SECOND_KEY } from '../keys.ts';
import { scheme } from '../scheme.ts';

/** RFC 6750 §2.1. */
export const bearer = scheme({
  name: 'bearer',
  summary: '`Authorization: Bearer KEY`',
  keys: { key: KEY, secondKey: SECOND_KEY, app: optional(APPLICATION) },
});
