import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { clause, practice, rfc8259, rfc9110 } from '../../harness/contract/ground.ts';
import {
  errorReplies,
  everyReply,
  jsonReplies,
  serverErrorReplies,
  successReplies,
} from '../../harness/probe/gathered.ts';
import { sample } from '../../harness/probe/sample.ts';

/** What messages say of their content. */
export const mediaTypes: readonly CheckDefinition[] = [
  check(
    'json.success-media-type',
    {
      title: 'labels the documented response as JSON',
      grounds: [clause('endpoint.sample'), clause('responses.format')],
      provenBy: ['json-wrong-content-type', 'content-is-html-everywhere'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(successReplies))).toHaveJsonMediaType();
    },
  ),

  check(
    'json.error-media-type',
    {
      title: 'labels its errors as JSON',
      grounds: [clause('errors.format')],
      provenBy: ['unknown-path-html', 'errors-are-plain-text'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(errorReplies))).toHaveJsonMediaType();
    },
  ),

  // Bad requests are refused by the HTTP server as a rule, before the service sees them; clients parse those errors too.
  check(
    'json.server-error-media-type',
    {
      title: 'labels as JSON what it says to requests that its HTTP server refuses',
      grounds: [practice('one form for all errors')],
      provenBy: ['server-errors-are-plain-text'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(serverErrorReplies))).toHaveJsonMediaType();
    },
  ),

  // RFC 9110 §8.3: a message with content should say what it is.
  check(
    'json.content-type',
    {
      title: 'names the media type of whatever has content',
      grounds: [rfc9110('8.3', 'SHOULD')],
      provenBy: ['json-no-content-type'],
    },
    async ({ probe, expect }) => {
      const replies = [...(await probe(successReplies)), ...(await probe(errorReplies))];
      expect(...replies.filter(({ response }) => response.bodyLength > 0)).toHaveField('Content-Type');
    },
  ),

  // RFC 9110 §8.3.1: type "/" subtype, and parameters that have a value.
  check(
    'json.content-type-valid',
    {
      title: 'writes Content-Type by its grammar',
      grounds: [rfc9110('8.3.1', 'MUST')],
      provenBy: ['malformed-content-type'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(everyReply))).toConform(
        'a media type',
        ({ response }) => response.mediaTypeFault,
      );
    },
  ),

  // RFC 8259 §8.1: JSON between systems is UTF-8; §11: the media type has no charset parameter.
  check(
    'json.charset',
    {
      title: 'claims no other charset than UTF-8',
      grounds: [rfc8259('8.1', 'MUST')],
      provenBy: ['json-latin1-charset'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(jsonReplies))).toConform('no charset but utf-8', ({ response }) => {
        const charset = response.mediaType?.parameters.get('charset');
        // Without its hyphen it is not registered, and means nothing else.
        return charset === undefined || /^utf-?8$/i.test(charset) ? null : `charset=${charset}`;
      });
    },
  ),

  check(
    'json.nosniff',
    {
      title: 'forbids guessing the media type (X-Content-Type-Options: nosniff)',
      grounds: [practice('OWASP API8:2023')],
      provenBy: ['no-nosniff'],
    },
    async ({ probe, expect }) => {
      expect(await probe(sample)).toConform('X-Content-Type-Options: nosniff', ({ response }) =>
        response.field('x-content-type-options')?.toLowerCase() === 'nosniff' ? null : 'none',
      );
    },
  ),

  observation(
    'json.media-types',
    {
      title: 'has a media type for what it serves and for its errors',
      grounds: [clause('errors.shape')],
      shownBy: ['plain-json-errors', 'vendor-json'],
    },
    async ({ probe, observe, note }) => {
      const success = (await probe(sample)).response.mediaType?.essence ?? null;
      const named = (await probe(errorReplies)).map(({ response }) => response.mediaType?.essence ?? 'none');
      const errors = [...new Set(named)].sort();
      observe('responses.media-types', { success, errors });
      note(`${success ?? 'none'}; errors: ${errors.join(', ')}`);
    },
  ),
];
