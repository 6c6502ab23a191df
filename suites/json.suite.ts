import {
  type CheckDefinition,
  check,
  clause,
  type Ground,
  IN_CONTENT,
  IN_JSON,
  type JsonRemarkKind,
  jsonErrors,
  jsonResponses,
  observation,
  practice,
  type Reading,
  rfc8259,
  rfc9457,
  suite,
} from '../harness/check/suite.ts';
import {
  errorReplies,
  jsonReplies,
  serverErrorReplies,
  successReplies,
} from '../harness/probe/every-reply.ts';
import { sample, sampleAgain } from '../harness/probe/request/sample.ts';
import { stable } from './status/documented-answer.ts';

interface Rule {
  readonly id: string;
  /** Completes "sends JSON that …". */
  readonly what: string;
  readonly ground: Ground;
  readonly breach: JsonRemarkKind;
  readonly reading?: Reading;
}

/** Everything that calls itself JSON keeps RFC 8259, octet by octet. */
const keeps = ({ id, what, ground, breach, reading = IN_CONTENT }: Rule): CheckDefinition =>
  check(id, {
    title: `sends JSON that ${what}`,
    grounds: [ground],
    judge: ({ expect }) =>
      expect(jsonReplies).toConform(
        `JSON that ${what}`,
        ({ response }) => response.jsonRemark(breach),
        reading,
      ),
  });

/** The refusal of a credential has a check of its own. */
const isForTheCredential = (status: number | null) => status === 401 || status === 403;

// endpoint.sample, responses.format: the documented response is JSON.
export const successMediaType = check('json.success-media-type', {
  title: 'labels the documented response as JSON',
  grounds: [clause('endpoint.sample'), clause('responses.format')],
  applies: [jsonResponses],
  judge: ({ expect }) => expect(successReplies).toHaveJsonMediaType(),
});

// errors.format: so are errors.
export const errorMediaType = check('json.error-media-type', {
  title: 'labels its errors as JSON',
  grounds: [clause('errors.format')],
  applies: [jsonErrors],
  restsOn: [successMediaType],
  judge: ({ expect }) =>
    expect(errorReplies)
      .where(({ status }) => !isForTheCredential(status), 'nothing but a bad credential is refused')
      .toHaveJsonMediaType(),
});

// errors.format: an error says what went wrong.
export const errorBodyPresent = check('json.error-body-present', {
  title: 'explains its errors in a JSON body',
  grounds: [clause('errors.format')],
  applies: [jsonErrors],
  judge: ({ expect }) =>
    expect(errorReplies).toConform('a JSON body', ({ response }) =>
      response.bodyLength > 0 ? null : `status ${response.status} without content`,
    ),
});

export const json = suite('json', 'JSON', [
  successMediaType,
  errorMediaType,

  // Bad requests are refused by the HTTP server as a rule, before the service sees them; clients parse those errors too.
  check('json.server-error-media-type', {
    title: 'labels as JSON what it says to requests that its HTTP server refuses',
    grounds: [practice('one form for all errors')],
    applies: [jsonErrors],
    restsOn: [errorMediaType],
    judge: ({ expect }) => expect(serverErrorReplies).toHaveJsonMediaType(),
  }),

  // RFC 8259 §8.1: JSON between systems is UTF-8; §11: the media type has no charset parameter.
  check('json.charset', {
    title: 'claims no other charset than UTF-8',
    grounds: [rfc8259('8.1', 'MUST')],
    judge: ({ expect }) =>
      expect(jsonReplies).toConform('no charset but utf-8', ({ response }) => {
        const charset = response.mediaType?.parameters.get('charset');
        // Without its hyphen it is not registered, and means nothing else.
        return charset === undefined || /^utf-?8$/i.test(charset) ? null : `charset=${charset}`;
      }),
  }),

  // errors.shape does not show whether errors have a media type of their own.
  observation('json.media-types', {
    title: 'has a media type for what it serves and for its errors',
    grounds: [clause('errors.shape')],
    records: 'responses.media-types',
    async observe({ probe }) {
      const success = (await probe(sample)).response.mediaType?.essence ?? null;
      const named = (await probe(errorReplies)).map(({ response }) => response.mediaType?.essence ?? 'none');
      const errors = [...new Set(named)].sort();
      return { seen: { success, errors }, note: `${success ?? 'none'}; errors: ${errors.join(', ')}` };
    },
  }),

  // responses.format: without content there is no JSON.
  check('json.body-present', {
    title: 'sends content where a JSON body is promised',
    grounds: [clause('endpoint.sample'), clause('responses.format')],
    applies: [jsonResponses],
    judge: ({ expect }) =>
      expect(successReplies).toConform('a JSON body', ({ response }) =>
        response.bodyLength > 0 ? null : 'no content',
      ),
  }),

  errorBodyPresent,

  // RFC 8259 §8.1: text between systems is UTF-8, and has no byte order mark.
  keeps({ id: 'json.utf8', what: 'is valid UTF-8', ground: rfc8259('8.1', 'MUST'), breach: 'invalid-utf8' }),
  keeps({
    id: 'json.no-bom',
    what: 'begins without a byte order mark',
    ground: rfc8259('8.1', 'MUST'),
    breach: 'byte-order-mark',
  }),
  // RFC 8259 §2: white space around one value, and the grammar of values.
  keeps({
    id: 'json.one-text',
    what: 'is one JSON text and nothing else',
    ground: rfc8259('2', 'MUST'),
    breach: 'trailing-content',
  }),
  keeps({
    id: 'json.syntax',
    what: 'keeps the JSON grammar',
    ground: rfc8259('2', 'MUST'),
    breach: 'syntax',
  }),
  // RFC 8259 §6: what has no digits is no number.
  keeps({
    id: 'json.numbers',
    what: 'has neither NaN nor Infinity',
    ground: rfc8259('6', 'MUST'),
    breach: 'number',
  }),
  // RFC 8259 §4: of a name that comes twice nobody knows which member counts.
  keeps({
    id: 'json.unique-names',
    what: 'names each member of an object once',
    ground: rfc8259('4', 'SHOULD'),
    breach: 'duplicate-name',
    reading: IN_JSON,
  }),

  // RFC 8259 §6: what goes beyond doubles is read otherwise from library to library.
  observation('json.big-integers', {
    title: 'sends integers that doubles cannot hold',
    grounds: [rfc8259('6', 'MAY')],
    async observe({ probe, expect }) {
      const replies = await probe(jsonReplies);
      const found = replies.some(({ response }) => response.jsonRemark('big-integer') !== null);
      if (!found && replies.length > 0) await expect(replies).toBeRead('an integer', IN_CONTENT);
      return { seen: found, note: found ? 'integers beyond 2^53 are seen' : 'none are seen' };
    },
  }),

  // RFC 9457 §3: members of a problem details object have their types; status repeats the status code.
  check('json.problem-details', {
    title: 'keeps RFC 9457 where it claims application/problem+json',
    grounds: [rfc9457('3', 'MUST')],
    restsOn: [errorBodyPresent],
    judge: ({ expect }) =>
      expect(errorReplies, serverErrorReplies)
        .where(({ response }) => response.isProblem, 'no error claims application/problem+json')
        .toConform('a problem details object', ({ response }) => response.problemFaults[0] ?? null, IN_JSON),
  }),

  // errors.shape is not shown.
  observation('json.error-shape', {
    title: 'gives its errors a shape, the same for every status',
    grounds: [clause('errors.shape')],
    records: 'errors.shape',
    async observe({ probe, expect }) {
      await expect(errorReplies).toBeRead('a shape', IN_JSON);
      const errors = (await probe(errorReplies)).map(({ response }) => response);
      const shapes = errors.map(({ shape }) => shape);
      const same = new Set(shapes.map((shape) => JSON.stringify(shape))).size <= 1;
      if (same) return { seen: { same, shape: shapes[0] ?? null }, note: 'one shape for every error' };
      const byStatus = Object.fromEntries(errors.map(({ status, shape }) => [status, shape]));
      return { seen: { same, byStatus }, note: 'the shape differs from status to status' };
    },
  }),

  // endpoint.response-fields are not shown.
  observation('json.success-shape', {
    title: 'gives the documented response a shape',
    grounds: [clause('endpoint.response-fields')],
    records: 'success.shape',
    async observe({ probe, expect }) {
      await expect(sample).toBeRead('a shape', IN_JSON);
      const { shape } = (await probe(sample)).response;
      return { seen: shape, note: `at the top: ${shape?.type ?? 'nothing'}` };
    },
  }),

  // Clients are written for what they have seen.
  check('json.shape-stable', {
    title: 'keeps the shape of the documented response from request to request',
    grounds: [practice('repeatable answers')],
    restsOn: [stable],
    async judge({ probe, expect, notApplicable }) {
      await expect(sample).toBeRead('a shape', IN_JSON);
      const { shape } = (await probe(sample)).response;
      if (shape === null) notApplicable('the documented response is no JSON text');
      await expect(sampleAgain).toConform(
        'the shape of the first answer',
        ({ response }) => (JSON.stringify(response.shape) === JSON.stringify(shape) ? null : 'another one'),
        IN_JSON,
      );
    },
  }),
]);
