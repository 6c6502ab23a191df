import { check, clause, practice, rfc, rfc9110, rfc9111, suite } from '../harness/check/suite.ts';
import { errorReplies, everyReply, successReplies } from '../harness/probe/every-reply.ts';
import { sample, sampleAgain } from '../harness/probe/request/sample.ts';
import * as target from '../harness/probe/request/target.ts';

/** The syntax of header fields, and those that every answer should have. */
export const headers = suite('headers', 'Header fields', [
  // RFC 9110 §8.3: a message with content should say what it is.
  check('headers.content-type', {
    title: 'names the media type of whatever has content',
    grounds: [rfc9110('8.3', 'SHOULD')],
    judge: ({ expect }) =>
      expect(successReplies, errorReplies)
        .where(({ response }) => response.bodyLength > 0)
        .toHaveField('Content-Type'),
  }),

  // RFC 9110 §8.3.1: type "/" subtype, and parameters that have a value.
  check('headers.content-type-form', {
    title: 'writes Content-Type by its grammar',
    grounds: [rfc9110('8.3.1', 'MUST')],
    judge: ({ expect }) =>
      expect(everyReply).toConform('a media type', ({ response }) => response.mediaTypeFault),
  }),

  // RFC 9110 §5.3: of a field whose value is no list, nobody knows which of several lines counts.
  check('headers.single-fields', {
    title: 'sends each field that has one value once',
    grounds: [rfc9110('5.3', 'MUST')],
    judge: ({ expect }) =>
      expect(everyReply).toConform('one line of each such field', ({ response }) => response.repeatedField),
  }),

  // RFC 9110 §6.6.1: an origin server with a clock sends Date.
  check('headers.date', {
    title: 'dates its responses',
    grounds: [rfc9110('6.6.1', 'SHOULD')],
    judge: ({ expect }) => expect(sample, target.unknownPath).toHaveField('Date'),
  }),

  // RFC 9110 §5.6.7: whoever generates a date generates an IMF-fixdate.
  check('headers.date-form', {
    title: 'writes Date as HTTP does',
    grounds: [rfc9110('5.6.7', 'MUST')],
    judge: ({ expect }) =>
      expect(sample)
        .where(({ response }) => response.has('date'), 'the answer has no Date')
        .toConform('an IMF-fixdate in Date', ({ response }) =>
          response.dateFault === null ? null : `"${response.field('date')}"`,
        ),
  }),

  // RFC 9111 §5.2: directives with commas between them; a cache that cannot read `no-store` stores.
  check('headers.cache-control-form', {
    title: 'writes Cache-Control by its grammar',
    grounds: [rfc9111('5.2', 'MUST')],
    judge: ({ expect }) =>
      expect(everyReply)
        .where(({ response }) => response.has('cache-control'))
        .toConform('Cache-Control directives', ({ response }) => response.cacheControl.faults[0] ?? null),
  }),

  // RFC 9110 §8.8.3: an opaque tag in double quotes, perhaps weak.
  check('headers.etag-form', {
    title: 'writes ETag as an entity tag',
    grounds: [rfc9110('8.8.3', 'MUST')],
    judge: ({ expect }) =>
      expect(sample)
        .where(({ response }) => response.has('etag'), 'the documented response has no ETag')
        .toConform('an entity tag in double quotes', ({ response }) => response.etagFault),
  }),

  // RFC 8288 §3: a target in angle brackets and parameters behind semicolons.
  check('headers.link-form', {
    title: 'writes Link by its grammar',
    grounds: [rfc(8288, '3', 'MUST')],
    judge: ({ expect }) =>
      expect(everyReply)
        .where(({ response }) => response.has('link'))
        .toConform('links', ({ response }) => response.linkFaults[0] ?? null),
  }),

  // errors.request-id: so that whoever asks for help can be helped.
  check('headers.request-id', {
    title: 'labels each response with a request id of its own',
    grounds: [clause('errors.request-id')],
    records: 'headers.request-id',
    async judge({ probe, observe, violated, note }) {
      const { response, evidence } = await probe(sampleAgain);
      const first = (await probe(sample)).response.requestId;
      const unique = first !== null && first.value !== response.requestId?.value;
      observe({ field: first?.field ?? null, unique });
      if (first === null) return violated('expected a request id on each response, got none', evidence);
      if (!unique) violated(`expected another ${first.field} on each response, got one twice`, evidence);
      note(`in ${first.field}, unique`);
    },
  }),

  // A browser that guesses may take data for a script.
  check('headers.nosniff', {
    title: 'forbids guessing the media type (X-Content-Type-Options: nosniff)',
    grounds: [practice('OWASP API8:2023')],
    judge: ({ expect }) =>
      expect(sample).toConform('X-Content-Type-Options: nosniff', ({ response }) =>
        response.field('x-content-type-options')?.toLowerCase() === 'nosniff' ? null : 'none',
      ),
  }),

  // RFC 9110 §10.2.4: no needlessly fine-grained detail in Server.
  check('headers.no-product-version', {
    title: 'does not tell which version of which software answers',
    grounds: [rfc9110('10.2.4', 'SHOULD'), practice('OWASP API8:2023')],
    async judge({ probe, expect }) {
      // Once is enough: most answers say the same.
      const telling = (await probe(everyReply)).find(({ response }) => response.productVersion !== null);
      if (telling)
        await expect(telling).toConform('no product version', ({ response }) => response.productVersion);
    },
  }),
]);
