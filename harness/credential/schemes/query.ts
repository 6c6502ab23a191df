import { APPLICATION, KEY, NAME, optional, SECOND_KEY } from '../keys.ts';
import { scheme } from '../scheme.ts';

/** Unreserved characters of RFC 3986 §2.3, and the brackets that some interfaces use. */
const PARAMETER_NAME = /^[A-Za-z0-9_.~[\]-]+$/;

export const query = scheme({
  name: 'query',
  summary: 'the key in the query parameter `name`',
  keys: { name: NAME, key: KEY, secondKey: SECOND_KEY, app: optional(APPLICATION) },
  fault: ({ name }) =>
    PARAMETER_NAME.test(name)
      ? null
      : {
          key: 'name',
          problem: 'cannot be the name of a query parameter',
          remedy: 'use letters, digits and - . _ ~ [ ]',
        },
});
