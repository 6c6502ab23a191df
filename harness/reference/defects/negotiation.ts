import { deflateRawSync, gzipSync } from 'node:zlib';
import { type Defect, EVERY, REST, tableOf } from '../behavior/deviation.ts';
import { insteadOfServing, onAnswer, onFinished, type Patch } from '../behavior/patches/patch.ts';
import {
  acceptsGzip,
  compressing,
  paging,
  speaking,
  wantOfCoding,
  wantOfType,
} from '../behavior/patches/representations.ts';
import { asProblem, dropped, failed, having } from '../http/answer-changes.ts';
import { fieldValues, listMembers, sending } from '../http/message.ts';

const notAcceptable = (accept: RegExp): Patch => insteadOfServing(sending('accept', accept), asProblem(406));

const unsupported = (types: RegExp): Patch =>
  insteadOfServing(sending('content-type', types), asProblem(415));

export const NEGOTIATION_DEFECTS = tableOf<Defect>(EVERY, {
  'malformed-accept-500': {
    cause: 'A malformed Accept header is answered {status:500}, a server error',
    fails: ['negotiation.malformed-accept'],
    patch: insteadOfServing(sending('accept', /^;|q=[^01]/), failed),
  },
  'xml-accept-500': {
    cause: 'A client that asks for XML is answered {status:500}, a server error',
    fails: ['negotiation.other-formats'],
    patch: insteadOfServing(sending('accept', /^\w+\/xml$/), failed),
  },
  'csv-accept-500': {
    cause: 'A client that asks for CSV is answered {status:500}, a server error',
    fails: ['negotiation.other-formats'],
    patch: insteadOfServing(sending('accept', /^\w+\/csv$/), failed),
  },
  'text-accept-500': {
    cause: 'A client that asks for plain text is answered {status:500}, a server error',
    fails: ['negotiation.other-formats'],
    patch: insteadOfServing(sending('accept', /^\w+\/plain$/), failed),
  },
  'picture-accept-500': {
    cause: 'A client that asks for a picture is answered {status:500}, a server error',
    fails: ['negotiation.other-formats'],
    patch: insteadOfServing(sending('accept', /^\w+\/png$/), failed),
  },
  'stream-accept-500': {
    cause: 'A client that asks for an event stream is answered {status:500}, a server error',
    fails: ['negotiation.further-formats'],
    patch: insteadOfServing(sending('accept', /event-stream$/), failed),
  },
  'yaml-accept-500': {
    cause: 'A client that asks for YAML is answered {status:500}, a server error',
    fails: ['negotiation.further-formats'],
    patch: insteadOfServing(sending('accept', /yaml$/), failed),
  },
  'stream-accept-unanswered': {
    cause: 'A client that asks for an event stream gets no response',
    fails: ['negotiation.further-formats'],
    patch: onFinished('served', dropped, sending('accept', /event-stream$/)),
  },
  'json-called-xml': {
    services: REST.services,
    cause: 'JSON is sent as {media type:application/xml} to clients that ask for it',
    fails: ['negotiation.true-type'],
    patch: insteadOfServing(sending('accept', /^\w+\/xml$/), having('Content-Type', 'application/xml')),
  },
  'json-called-csv': {
    services: REST.services,
    cause: 'JSON is sent as {media type:text/csv} to clients that ask for it',
    fails: ['negotiation.true-type'],
    patch: insteadOfServing(sending('accept', /^\w+\/csv$/), having('Content-Type', 'text/csv')),
  },
  'json-called-picture': {
    services: REST.services,
    cause: 'JSON is sent as {media type:image/png} to clients that ask for it',
    fails: ['negotiation.true-type'],
    patch: insteadOfServing(sending('accept', /^\w+\/png$/), having('Content-Type', 'image/png')),
  },
  'language-500': {
    cause: 'An unknown language in Accept-Language is answered {status:500}, a server error',
    fails: ['negotiation.language'],
    patch: insteadOfServing(sending('accept-language', /^ta\b/), failed),
  },
  'accept-case-sensitive': {
    cause: 'Its media type in capitals in Accept is answered {status:406}',
    fails: ['negotiation.accept-spelling'],
    patch: notAcceptable(/APPLICATION\/JSON/),
  },
  'accept-weight-406': {
    // RFC 9110 §12.4.2
    cause: 'Its media type with a weight in Accept is answered {status:406}',
    fails: ['negotiation.accept-spelling'],
    patch: notAcceptable(/json;q=0\.[1-9]/i),
  },
  'first-accept-line-406': {
    services: REST.services,
    cause: 'Of several Accept headers only the first is read',
    fails: ['negotiation.several-lines'],
    patch: insteadOfServing((request) => {
      const [first = '', ...further] = fieldValues(request, 'accept');
      return further.length > 0 && first.includes('x-conform');
    }, asProblem(406)),
  },
  'empty-member-400': {
    services: REST.services,
    cause: 'Accept with empty members is answered {status:400}',
    fails: ['negotiation.empty-members'],
    patch: insteadOfServing(sending('accept', /^, /), asProblem(400)),
  },
  'accept-range-406': {
    cause: '`Accept: application/*` is answered {status:406}',
    fails: ['negotiation.accept-range'],
    patch: notAcceptable(/^application\/\*/),
  },
  'first-type-wins': {
    services: REST.services,
    cause: 'A client that prefers JSON to HTML gets HTML',
    fails: ['negotiation.weights'],
    patch: paging(sending('accept', /^text\/html/)),
  },
  'html-at-a-word': {
    services: REST.services,
    cause: 'A client that takes no HTML gets HTML',
    fails: ['negotiation.weights', 'negotiation.refused-type'],
    patch: paging(sending('accept', /text\/html/)),
  },
  'html-at-weight-0': {
    services: REST.services,
    cause: 'A client that takes no HTML gets HTML',
    fails: ['negotiation.refused-type'],
    patch: paging(sending('accept', /text\/html(?:;q=0)?$/)),
  },
  'page-without-vary': {
    services: REST.services,
    cause: 'Vary does not name Accept, although the format depends on it',
    fails: ['negotiation.accept-vary'],
    patch: paging(
      (request) => wantOfType(request, 'text/html') > wantOfType(request, 'application/json'),
      false,
    ),
  },
  'language-without-vary': {
    cause: 'Vary does not name Accept-Language, although the language depends on it',
    fails: ['negotiation.language-vary'],
    patch: speaking((wanted) => (wanted.startsWith('ta') ? 'ta' : 'en'), false),
  },
  'language-with-underscore': {
    cause: 'Content-Language has an underscore in the place of a hyphen',
    fails: ['headers.content-language-form'],
    patch: onAnswer('served', having('Content-Language', 'en_US')),
  },
  'content-type-case-415': {
    cause: 'The Content-Type of the documents in capitals is answered {status:415}',
    fails: ['negotiation.content-type-spelling'],
    patch: unsupported(/APPLICATION/),
  },
  'content-type-parameter-415': {
    cause: 'The Content-Type of the documents with a charset is answered {status:415}',
    fails: ['negotiation.content-type-spelling'],
    patch: unsupported(/;/),
  },

  'gzip-at-weight-0': {
    cause: 'A client that refuses gzip gets gzip',
    fails: ['negotiation.refused-coding'],
    patch: compressing((request) =>
      listMembers(request, 'accept-encoding').some((member) => /^gzip *(?:;|$)/.test(member)) ? 'gzip' : null,
    ),
  },
  'gzip-in-other-name': {
    cause: 'A client that takes conform-gzip gets gzip',
    fails: ['negotiation.similar-coding'],
    patch: compressing((request) => (sending('accept-encoding', /gzip(?!;q=0)/)(request) ? 'gzip' : null)),
  },
  'gzip-at-a-word': {
    cause: 'The word gzip in Accept-Encoding is enough to get gzip',
    fails: ['negotiation.refused-coding', 'negotiation.similar-coding'],
    patch: compressing((request) => (sending('accept-encoding', /gzip/)(request) ? 'gzip' : null)),
  },
  'raw-deflate': {
    cause: 'The body is not in deflate as Content-Encoding says',
    fails: ['negotiation.other-codings'],
    patch: compressing(
      (request) => (wantOfCoding(request, 'deflate') > 0 ? 'deflate' : null),
      deflateRawSync,
    ),
  },
  'br-is-gzip': {
    cause: 'The body is not in br as Content-Encoding says',
    fails: ['negotiation.other-codings'],
    patch: compressing(
      (request) => (wantOfCoding(request, 'br') > 0 ? 'br' : null),
      (content) => gzipSync(content),
    ),
  },
  'gzip-twice': {
    cause: 'The body is compressed twice, and Content-Encoding says it once',
    fails: ['negotiation.coding-once'],
    alsoFails: {
      'json.utf8': 'content that was unpacked once is still packed',
      'json.syntax': 'content that was unpacked once is still packed',
    },
    patch: compressing(
      (request) => (acceptsGzip(request) ? 'gzip' : null),
      (content) => gzipSync(gzipSync(content)),
    ),
  },
});
