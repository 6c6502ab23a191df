import { APPLICATION, KEY, NAME, optional, SECOND_KEY } from '../keys.ts';
import { scheme } from '../scheme.ts';

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Fields that frame or route the message; a credential there would break it. */
const FRAMING_FIELDS =
  /^(?:connection|content-(?:encoding|length|type)|date|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent)$/i;

/** The key in a header field of its own, such as X-API-Key. */
export const header = scheme({
  name: 'header',
  summary: 'the key in the header field `name`',
  keys: { name: NAME, key: KEY, secondKey: SECOND_KEY, app: optional(APPLICATION) },
  fault({ name }) {
    if (!TOKEN.test(name)) {
      return {
        key: 'name',
        problem: 'cannot be the name of a header field',
        remedy: 'use letters, digits and hyphens, such as X-API-Key',
      };
    }
    return FRAMING_FIELDS.test(name)
      ? {
          key: 'name',
          problem: 'is a header field that cannot carry a credential',
          remedy: 'name another one, such as X-API-Key',
        }
      : null;
  },
});
