import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { clause, practice, rfc8259 } from '../../harness/contract/ground.ts';
import {
  errorReplies,
  jsonReplies,
  serverErrorReplies,
  successReplies,
} from '../../harness/probe/gathered.ts';
import { sample } from '../../harness/probe/request/sample.ts';

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
