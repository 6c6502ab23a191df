import { isToken } from '../../../wire/fields/grammar/field-grammar.ts';
import { headerField } from '../carrier.ts';
import { KEYED, NAME } from '../keys.ts';
import { ofNamedKey, scheme, shippedKey } from '../scheme.ts';

/** Fields that frame or route the message; a credential there would break it. */
export const FRAMING_FIELDS =
  /^(?:connection|content-(?:encoding|length|type)|date|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent)$/i;

/** The key in a header field of its own, such as X-API-Key; or in Authorization, with no scheme before it. */
export const header = scheme({
  name: 'header',
  summary: 'the key in the header `name`; in Authorization the key alone',
  keys: { name: NAME, ...KEYED },
  fault({ name }) {
    const fault = (problem: string, remedy: string) => ({ key: 'name', problem, remedy });
    if (!isToken(name)) {
      return fault(
        'cannot be the name of a header field',
        'use letters, digits and hyphens, such as X-API-Key',
      );
    }
    if (!FRAMING_FIELDS.test(name)) return null;
    return fault('is a header field that cannot carry a credential', 'use another one, such as X-API-Key');
  },
  use: ({ name }) => ({ carrier: headerField(name) }),
  opens: ({ type, in: place, name }, written) =>
    type === 'apiKey' && place === 'header' && name.toLowerCase() === written.name?.toLowerCase(),
  first: ofNamedKey('Header that carries the key', 'X-API-Key'),
  proof: {
    setting: 'header',
    words: 'credentials: { scheme: header, name: X-API-Key }',
    conforming: ['search'],
    values: (shipped) => ({ name: 'X-API-Key', ...shippedKey(shipped) }),
  },
});
