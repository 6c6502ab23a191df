import { variation } from '../../stimuli/sample.ts';

/** The sample for clients that say what they take (RFC 9110 §12.5), in every way in which it may be said. */

/** Media types are compared in any letter case (§8.3.1), and JSON has the larger weight. */
export const jsonPreferred = variation('json-preferred', 'as HTML or, rather, as APPLICATION/JSON', {
  fields: [['Accept', 'text/html;q=0.1, APPLICATION/JSON;q=0.9']],
});
/** A range that JSON is in. */
export const applicationRange = variation('application-range', 'as application/*', {
  fields: [['Accept', 'application/*, text/html;q=0']],
});
export const htmlAlone = variation('html-alone', 'as text/html and not as JSON', {
  fields: [['Accept', 'text/html, application/json;q=0']],
});
/** No Accept field at all by its grammar. */
export const malformedAccept = variation('malformed-accept', 'with an Accept header that nobody can read', {
  fields: [['Accept', ';q=x,,/;json,*/json;q=2']],
});
/** Some look for the word alone. */
export const gzipRefused = variation('gzip-refused', 'accepting deflate and not gzip', {
  fields: [['Accept-Encoding', 'gzip;q=0, deflate']],
});
/** A coding that has the name of another one in its own. */
export const similarCoding = variation('similar-coding', 'accepting br and conform-gzip', {
  fields: [['Accept-Encoding', 'conform-gzip, br;q=0.5']],
});
export const otherLanguage = variation('other-language', 'in Tamil or any other language', {
  fields: [['Accept-Language', 'ta-IN-x-conform;q=1.000, *;q=0.5, de;q=0']],
});
/** The media type of the sample in capitals and with a parameter, where it has one. */
const CONTENT_TYPE_SPELLED = 'APPLICATION/JSON; charset="utf-8"';
export const contentTypeSpelled = variation(
  'content-type-spelled',
  `with Content-Type: ${CONTENT_TYPE_SPELLED}`,
  {
    fields: [['Content-Type', CONTENT_TYPE_SPELLED]],
  },
);
