import { queryParameter } from '../carrier.ts';
import { KEYED, NAME } from '../keys.ts';
import { ofNamedKey, scheme, shippedKey } from '../scheme.ts';

/** Unreserved characters of RFC 3986 §2.3, and the brackets that some interfaces use. */
const PARAMETER_NAME = /^[A-Za-z0-9_.~[\]-]+$/;

export const query = scheme({
  name: 'query',
  summary: 'the key in the query parameter `name`',
  keys: { name: NAME, ...KEYED },
  fault: ({ name }) =>
    PARAMETER_NAME.test(name)
      ? null
      : {
          key: 'name',
          problem: 'cannot be the name of a query parameter',
          remedy: 'use letters, digits and - . _ ~ [ ]',
        },
  use: ({ name }) => ({ carrier: queryParameter(name) }),
  opens: ({ type, in: place, name }, written) =>
    type === 'apiKey' && place === 'query' && name === written.name,
  first: ofNamedKey('Query parameter that carries the key', 'api_key'),
  proof: {
    setting: 'query',
    words: 'credentials: { scheme: query, name: api_key }',
    conforming: ['search'],
    isRefusedOtherwise: true,
    values: (shipped) => ({ name: 'api_key', ...shippedKey(shipped) }),
  },
});
