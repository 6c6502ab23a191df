import {
  check,
  clause,
  clients,
  practice,
  rfc,
  rfc9110,
  rfc9111,
  suite,
} from '../../harness/engine/check/suite.ts';
import { errorMediaType, successMediaType } from '../json/json.suite.ts';
import { steady } from '../row.ts';
import { stable } from '../status/documented-answer.ts';
import { everyExchange } from '../stimuli/record.ts';
import { sample, sampleAgain } from '../stimuli/sample.ts';
import { digests, messageSignatures } from './message-signatures.ts';

// RFC 6797 §6.1: directives with semicolons between them, each once, and max-age among them. Browsers ignore the others.
const transportSecurityForm = check('headers.transport-security-form', {
  title: 'sends a well-formed Strict-Transport-Security',
  headline: 'Strict-Transport-Security is malformed: {got}',
  why: 'Browsers ignore the header, and go on to use plain http.',
  change: 'Write it like this: max-age=31536000; includeSubDomains.',
  grounds: [rfc(6797, '6.1', 'MUST')],
  uses: [everyExchange],
  judge: ({ expect }) =>
    expect()
      .where(
        ({ response }) => response.isOfSecureHost && response.transportSecurity !== null,
        'no response over TLS has Strict-Transport-Security',
      )
      .toConform('max-age and other directives', ({ response }) => response.transportSecurity?.fault ?? null),
});

// RFC 9110 §5.3: if the value of a field is no list, it is unknown which of several lines counts.
export const singleFields = check('headers.single-fields', {
  title: 'sends each header with a single value once',
  headline: 'A header comes twice: {got}',
  why: 'Nobody knows which of the two counts: a client and a proxy may take different ones.',
  change: 'Set the header in one place, in the service or in the proxy in front of it.',
  grounds: [rfc9110('5.3', 'MUST'), clients('fetch joins both lines, and "99, 99" is no number')],
  uses: [everyExchange],
  judge: ({ expect }) =>
    expect().toConform('one line of each such field', ({ response }) => response.repeatedField),
});

/** The syntax of header fields, and those that every answer should have. */
export const headers = suite('headers', 'Header fields', [
  // RFC 9110 §8.3: a message with content should say what it is.
  check('headers.content-type', {
    title: 'sends Content-Type with every body',
    headline: 'A body comes without a Content-Type header',
    why: 'Clients and browsers guess what the body is, and may guess wrong.',
    change: 'Send Content-Type with every response that has a body.',
    grounds: [rfc9110('8.3', 'SHOULD')],
    restsOn: [successMediaType, errorMediaType],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.bodyLength > 0)
        .toHaveField('Content-Type'),
  }),

  // RFC 9110 §8.3.1: type "/" subtype, and parameters that have a value.
  check('headers.content-type-form', {
    title: 'sends a well-formed Content-Type',
    headline: 'Content-Type is malformed: {got}',
    why: 'A client that cannot read the header does not know how to read the body.',
    change: 'Write it as type/subtype, with parameters as name=value: text/html; charset=utf-8.',
    grounds: [rfc9110('8.3.1', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) => expect().toConform('a media type', ({ response }) => response.mediaTypeFault),
  }),

  // RFC 9110 §8.5 and §8.5.1: language tags, which have hyphens in them.
  check('headers.content-language-form', {
    title: 'names languages in Content-Language by their tags',
    headline: 'Content-Language has {got}',
    why: 'Clients and search engines pass over a language that they cannot read, and read text aloud in another one.',
    change: 'Write language tags, with hyphens: en-US, and commas between several.',
    grounds: [rfc9110('8.5.1', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('content-language'), 'no answer has Content-Language')
        .toConform('language tags', ({ response }) => response.languageFault),
  }),

  singleFields,

  // RFC 9110 §6.6.1: an origin server with a clock sends Date.
  check('headers.date', {
    title: 'sends a Date header',
    headline: 'A response has no Date header',
    why: 'Caches cannot tell how old the response is.',
    change: 'Let the HTTP server add Date to every response.',
    grounds: [rfc9110('6.6.1', 'SHOULD')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where((reply) => reply.isOrdinary && [2, 3, 4].includes(reply.response.statusClass))
        .toHaveField('Date'),
  }),

  // RFC 9110 §5.6.7: whoever generates a date generates an IMF-fixdate.
  check('headers.date-form', {
    title: 'sends Date in the format of HTTP',
    headline: 'Date is not in the format of HTTP: {got}',
    why: 'Caches cannot read it, and keep the response too long or not at all.',
    change: 'Write it like this: Sun, 06 Nov 1994 08:49:37 GMT.',
    grounds: [rfc9110('5.6.7', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        // One that comes twice is told by a rule of its own.
        .where(({ response }) => response.fieldLines('date').length === 1, 'no response has one Date')
        .toConform('an IMF-fixdate in Date', ({ response }) =>
          response.dateFault === null ? null : `"${response.field('date')}"`,
        ),
  }),

  // RFC 9111 §5.2: directives with commas between them; a cache that cannot read `no-store` stores.
  check('headers.cache-control-form', {
    title: 'sends a well-formed Cache-Control',
    headline: 'Cache-Control is malformed: {got}',
    why: 'A cache that cannot read no-store keeps the response.',
    change: 'Put commas between the directives: no-store, no-cache.',
    grounds: [rfc9111('5.2', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('cache-control'))
        .toConform('Cache-Control directives', ({ response }) => response.cacheControl.faults[0] ?? null),
  }),

  // RFC 9110 §8.8.3: an opaque tag in double quotes, perhaps weak.
  check('headers.etag-form', {
    title: 'sends a well-formed ETag',
    headline: 'ETag is malformed: {got}',
    why: 'Caches cannot use it, so nothing is ever answered 304.',
    change: 'Put the tag into double quotes: ETag: "abc".',
    grounds: [rfc9110('8.8.3', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('etag'), 'no response has ETag')
        .toConform('an entity tag in double quotes', ({ response }) => response.etagFault),
  }),

  // RFC 8288 §3: a target in angle brackets and parameters behind semicolons.
  check('headers.link-form', {
    title: 'sends a well-formed Link header',
    headline: 'Link is malformed: {got}',
    why: 'A client that follows links, from page to page for example, finds none.',
    change: 'Put the address into angle brackets: <https://api.example/items?page=2>; rel="next".',
    grounds: [rfc(8288, '3', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('link'))
        .toConform('links', ({ response }) => response.link.faults[0] ?? null),
  }),

  // What one instance leaves out clients cannot rely on.
  steady('headers.steady', {
    title: 'sends the same headers for caches and browsers each time',
    headline: 'The documented response has other headers now and then: {got}',
    why: 'Caches and browsers treat the same response in two ways, and nobody can say why.',
    change: 'Configure all instances alike, or set these headers where all answers pass.',
    restsOn: [stable],
    alike: ['fields'],
    wanted: ({ usual }) => `${usual} each time`,
    got: ({ odd }) => odd,
  }),

  check('headers.request-id', {
    title: 'gives each response a request id of its own',
    headline: 'Responses have no request id of their own: {got}',
    why: 'When a client asks about a request, nobody can find it in the logs.',
    change: 'Make a new id for each request, log it, and send it in the header that the documents name.',
    grounds: [clause('errors.request-id')],
    records: 'headers.request-id',
    uses: [sampleAgain, sample],
    async judge({ probe, observe, violated, note }) {
      const { response, evidence } = await probe(sampleAgain);
      const first = (await probe(sample)).response.requestId;
      const unique = first !== null && first.value !== response.requestId?.value;
      observe({ field: first?.field ?? null, unique });
      if (first === null) return violated('a request id on each response', 'none', evidence);
      if (!unique) violated(`another ${first.field} on each response`, 'one twice', evidence);
      note(`in ${first.field}, unique`);
    },
  }),

  // A browser that guesses may take data for a script.
  check('headers.nosniff', {
    title: 'forbids browsers to guess the media type (X-Content-Type-Options: nosniff)',
    headline: 'The header X-Content-Type-Options: nosniff is missing',
    why: 'A browser that guesses may run data as a script.',
    change: 'Send X-Content-Type-Options: nosniff with every response.',
    grounds: [practice('OWASP API8:2023')],
    uses: [sample],
    judge: ({ expect }) =>
      expect().toConform('X-Content-Type-Options: nosniff', ({ response }) =>
        response.field('x-content-type-options')?.toLowerCase() === 'nosniff' ? null : 'none',
      ),
  }),

  // OWASP, on headers: a browser that has seen it never goes without TLS again.
  check('headers.transport-security', {
    title: 'tells browsers to use TLS alone (Strict-Transport-Security)',
    headline: 'Strict-Transport-Security does not keep browsers on TLS: {got}',
    why: 'Somebody on the network can lead a browser to plain http, and read along.',
    change: 'Send Strict-Transport-Security: max-age=31536000 with every response over TLS.',
    grounds: [practice('OWASP API8:2023')],
    restsOn: [transportSecurityForm],
    uses: [sample],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.isOfSecureHost, 'the service is not called over TLS by a name')
        .toConform('Strict-Transport-Security with a time', ({ response: { transportSecurity } }) => {
          if (transportSecurity === null) return 'none';
          return transportSecurity.maxAgeSeconds === 0 ? 'max-age=0, which ends it' : null;
        }),
  }),

  transportSecurityForm,

  // RFC 9110 §10.2.4: no needlessly fine-grained detail in Server.
  check('headers.no-product-version', {
    title: 'does not show the version of its software',
    headline: 'A header shows the version of the software: {got}',
    why: 'Attackers search for versions with known holes.',
    change: 'Take the version out of Server, and drop headers such as X-Powered-By.',
    grounds: [rfc9110('10.2.4', 'SHOULD'), practice('OWASP API8:2023')],
    uses: [everyExchange],
    async judge({ probe, expect }) {
      // Once is enough: most answers say the same.
      const telling = (await probe(everyExchange)).all.find(
        ({ response }) => response.productVersion !== null,
      );
      if (telling)
        await expect(telling).toConform('no product version', ({ response }) => response.productVersion);
    },
  }),

  ...digests,
  ...messageSignatures,
]);
