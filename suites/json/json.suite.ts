import {
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
  type ResponseReading,
  rfc8259,
  rfc9457,
  suite,
} from '../../harness/engine/check/suite.ts';
import { sameRequests } from '../caching/stimuli/repeated.ts';
import { messages } from '../framing/messages.ts';
import { areShapesDocumented } from '../operations/stimuli/response-schemas.ts';
import { type RowNotes, steady } from '../row.ts';
import { stable } from '../status/documented-answer.ts';
import {
  everyError,
  everyExchange,
  everyJson,
  everyServerError,
  isForTheCredential,
} from '../stimuli/record.ts';
import { sample, samplesInARow } from '../stimuli/sample.ts';
import { explained } from '../stimuli/target.ts';

interface JsonRule extends RowNotes<'headline'> {
  /** Completes "sends JSON that …". */
  readonly what: string;
  readonly ground: Ground;
  readonly reading?: ResponseReading;
}

// Clients are written for what they have seen.
const shapeStable = steady('json.shape-stable', {
  title: 'gives the documented response the same shape each time',
  headline: 'The documented response has another shape now and then',
  why: 'Code that reads a member today fails when it is gone tomorrow.',
  change: 'Send the same members each time, with null where there is no value.',
  restsOn: [stable],
  uses: [sample, areShapesDocumented],
  alike: ['shape'],
  reading: IN_JSON,
  async unless({ probe, expect, notApplicable }) {
    await expect(sample).toBeRead('a shape', IN_JSON);
    const { shape } = (await probe(sample)).response;
    if (shape === null) notApplicable('the documented response is no JSON text');
    if (await probe(areShapesDocumented))
      notApplicable('the documented schema allows each of the shapes that came');
  },
  wanted: () => 'the same shape each time',
  got: ({ odd }) => (odd === 'null' ? 'no JSON' : 'another one'),
});

/** Everything that calls itself JSON keeps RFC 8259, octet by octet. */
const keeps = (
  id: string,
  breach: JsonRemarkKind,
  { what, ground, reading = IN_CONTENT, ...notes }: JsonRule,
) =>
  check(id, {
    ...notes,
    title: `sends JSON that ${what}`,
    grounds: [ground],
    uses: [everyJson],
    judge: ({ expect }) =>
      expect().toConform(`JSON that ${what}`, ({ response }) => response.jsonRemark(breach), reading),
  });

const UNSERVED = 'the documented request is not served';

export const successMediaType = check('json.success-media-type', {
  title: 'labels the documented response as JSON',
  headline: 'The documented response is not labelled JSON: {got}',
  why: 'Clients choose their parser by Content-Type, and leave this body alone.',
  change: 'Send Content-Type: application/json with JSON bodies.',
  grounds: [clause('endpoint.sample'), clause('responses.format')],
  applies: [jsonResponses],
  uses: [sample, samplesInARow],
  judge: ({ expect }) =>
    expect()
      .where(({ served }) => served, UNSERVED)
      .toHaveJsonMediaType(),
});

export const errorMediaType = check('json.error-media-type', {
  title: 'labels its errors as JSON',
  headline: 'An error is not labelled JSON: {got}',
  why: 'The client can show no reason, since it finds no JSON to read one from.',
  change:
    'Send errors as JSON with Content-Type: application/json or application/problem+json, those of the framework too.',
  grounds: [clause('errors.format')],
  applies: [jsonErrors],
  restsOn: [successMediaType],
  uses: [everyError],
  judge: ({ expect }) =>
    expect()
      // The refusal of a credential has a check of its own, and so has an empty one, which needs no media type.
      .where((reply) => !isForTheCredential(reply), 'only bad credentials are refused')
      .where(({ response }) => response.bodyLength > 0, 'no other error has a body')
      .toHaveJsonMediaType(),
});

export const errorBodyPresent = check('json.error-body-present', {
  title: 'explains its errors in a JSON body',
  headline: 'An error comes without a body: {got}',
  why: 'The client cannot tell its user what went wrong.',
  change: 'Put the reason into a JSON body with every error.',
  grounds: [clause('errors.format')],
  applies: [jsonErrors],
  uses: [everyError],
  judge: ({ expect }) =>
    expect().toConform('a JSON body', ({ response }) =>
      response.bodyLength > 0 ? null : `status ${response.status} without content`,
    ),
});

export const json = suite('json', 'JSON', [
  successMediaType,
  errorMediaType,

  // Bad requests are refused by the HTTP server as a rule, before the service sees them; clients parse those errors too.
  check('json.server-error-media-type', {
    title: 'labels as JSON also the errors that its HTTP server writes',
    headline: 'An error of the HTTP server is not labelled JSON: {got}',
    why: 'A client that reads every error as JSON fails on those that the server or a proxy writes.',
    change: 'Set the error pages of the HTTP server or the gateway to JSON.',
    grounds: [practice('one form for all errors')],
    applies: [jsonErrors],
    restsOn: [errorMediaType],
    // RFC 9110 §8.3: what has no content needs no media type.
    uses: [everyServerError],
    judge: ({ expect }) =>
      expect()
        .where((reply) => !isForTheCredential(reply), 'its HTTP server refuses without a body')
        .toHaveJsonMediaType(),
  }),

  // RFC 8259 §8.1: JSON between systems is UTF-8; §11: the media type has no charset parameter.
  check('json.charset', {
    title: 'claims no charset but UTF-8 for JSON',
    headline: 'JSON is labelled {got}',
    why: 'Some clients believe the label, and show wrong characters.',
    change: 'Send UTF-8, and leave charset out of Content-Type.',
    grounds: [rfc8259('8.1', 'MUST')],
    uses: [everyJson],
    judge: ({ expect }) =>
      expect().toConform('no charset but utf-8', ({ response }) => {
        const charset = response.mediaType?.parameters.get('charset');
        // Without its hyphen it is not registered, and means nothing else.
        return charset === undefined || /^utf-?8$/i.test(charset) ? null : `charset=${charset}`;
      }),
  }),

  // errors.shape does not show whether errors have a media type of their own.
  observation('json.media-types', {
    title: 'has a media type for its data and for its errors',
    why: 'A client that tells errors by their media type has to know it.',
    varies: 'order',
    grounds: [clause('errors.shape')],
    records: 'responses.media-types',
    uses: [sample, explained],
    async observe({ probe }) {
      const success = (await probe(sample)).response.mediaType?.essence ?? null;
      const named = (await probe(explained)).map(({ response }) => response.mediaType?.essence ?? 'none');
      const errors = [...new Set(named)].sort();
      return { seen: { success, errors }, note: `${success ?? 'none'}; errors: ${errors.join(', ')}` };
    },
  }),

  check('json.body-present', {
    title: 'sends a body where JSON is promised',
    headline: 'The documented response has no body',
    why: 'The client waits for data, and its parser fails on an empty text.',
    change: 'Send a JSON value, an empty list if there is nothing, or document 204.',
    grounds: [clause('endpoint.sample'), clause('responses.format')],
    applies: [jsonResponses],
    // A body that cannot be taken apart is none.
    restsOn: messages,
    uses: [samplesInARow, sample],
    judge: ({ expect }) =>
      expect(sample, samplesInARow)
        .where(({ served }) => served, UNSERVED)
        .toConform('a JSON body', ({ response }) => (response.bodyLength > 0 ? null : 'no content')),
  }),

  errorBodyPresent,

  // RFC 8259 §8.1: text between systems is UTF-8, and has no byte order mark.
  keeps('json.utf8', 'invalid-utf8', {
    what: 'is valid UTF-8',
    headline: 'A JSON body holds {got}',
    why: 'Parsers refuse the body, or show other characters than were meant.',
    change: 'Encode the body as UTF-8, and check texts that come from elsewhere before you send them.',
    ground: rfc8259('8.1', 'MUST'),
  }),
  keeps('json.no-bom', 'byte-order-mark', {
    what: 'begins without a byte order mark',
    headline: 'A JSON body begins with {got}',
    why: 'Many JSON parsers refuse a body that begins like this.',
    change: 'Write UTF-8 without a byte order mark.',
    ground: rfc8259('8.1', 'MUST'),
  }),
  // RFC 8259 §2: white space around one value, and the grammar of values.
  keeps('json.one-text', 'trailing-content', {
    what: 'is one JSON text and nothing else',
    headline: 'A JSON body has {got}',
    why: 'Parsers stop with an error, or silently drop what follows.',
    change: 'Send one JSON value, and look for debug output or a second write behind it.',
    ground: rfc8259('2', 'MUST'),
  }),
  keeps('json.syntax', 'syntax', {
    what: 'keeps the JSON grammar',
    headline: 'A JSON body is malformed: {got}',
    why: 'No client can parse this body.',
    change: 'Build the body with a JSON library, and see that it is sent whole.',
    ground: rfc8259('2', 'MUST'),
  }),
  // RFC 8259 §6: what has no digits is no number.
  keeps('json.numbers', 'number', {
    what: 'has neither NaN nor Infinity',
    headline: 'A JSON body contains {got}',
    why: 'JSON has no NaN and no Infinity, so parsers refuse the body.',
    change: 'Send null, or leave the member out, where there is no number.',
    ground: rfc8259('6', 'MUST'),
  }),
  // RFC 8259 §4: with a repeated name the value is ambiguous.
  keeps('json.unique-names', 'duplicate-name', {
    what: 'names each member of an object once',
    headline: 'A JSON object has {got}',
    why: 'One parser takes the first value and another the last, so clients see different data.',
    change: 'Write each name once in an object.',
    ground: rfc8259('4', 'SHOULD'),
    reading: IN_JSON,
  }),

  // RFC 8259 §6: what goes beyond doubles is read otherwise from library to library.
  observation('json.big-integers', {
    title: 'sends integers larger than JavaScript can hold, or none',
    why: 'JavaScript and others round such numbers silently, ids above all.',
    grounds: [rfc8259('6', 'MAY')],
    uses: [everyJson],
    async observe({ probe, expect }) {
      const { all: replies } = await probe(everyJson);
      const found = replies.some(({ response }) => response.jsonRemark('big-integer') !== null);
      if (!found) await expect(replies).toBeRead('an integer', IN_CONTENT);
      return { seen: found, note: found ? 'integers beyond 2^53 are seen' : 'none are seen' };
    },
  }),

  // RFC 9457 §3: members of a problem details object have their types; status repeats the status code.
  check('json.problem-details', {
    title: 'follows RFC 9457 where it claims application/problem+json',
    headline: 'A problem+json body has a wrong member: {got}',
    why: 'Libraries for problem details read these members, and fail on other types.',
    change: 'Send type, title, detail and instance as strings, and status as the number of the response.',
    grounds: [rfc9457('3', 'MUST')],
    restsOn: [errorBodyPresent],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(
          ({ response }) => response.isProblem && response.request.method !== 'HEAD',
          'no response claims application/problem+json',
        )
        .toConform('a problem details object', ({ response }) => response.problemFaults[0] ?? null, IN_JSON),
  }),

  // errors.shape is not shown.
  observation('json.error-shape', {
    title: 'gives its errors one shape, or one for each status',
    why: 'With one shape a client needs one piece of code for all errors.',
    varies: 'shape',
    grounds: [clause('errors.shape')],
    records: 'errors.shape',
    uses: [explained],
    async observe({ probe, expect }) {
      await expect(explained).toBeRead('a shape', IN_JSON);
      const errors = (await probe(explained)).map(({ response }) => response);
      const shapes = errors.map(({ shape }) => shape);
      const same = new Set(shapes.map((shape) => JSON.stringify(shape))).size <= 1;
      if (same) return { seen: { same, shape: shapes[0] ?? null }, note: 'one shape for every error' };
      const byStatus = Object.fromEntries(errors.map(({ status, shape }) => [status, shape]));
      return { seen: { same, byStatus }, note: 'the shape differs from status to status' };
    },
  }),

  // endpoint.response-fields are not shown.
  observation('json.success-shape', {
    title: 'answers the documented request in a certain shape',
    why: 'The documents do not show the members: this is what clients come to rely on.',
    varies: 'shape',
    grounds: [clause('endpoint.response-fields')],
    records: 'success.shape',
    uses: [sample],
    async observe({ probe, expect }) {
      await expect(sample)
        .where(({ served }) => served, UNSERVED)
        .toBeRead('a shape', IN_JSON);
      const { shape } = (await probe(sample)).response;
      return { seen: shape, note: `at the top: ${shape?.type ?? 'nothing'}` };
    },
  }),

  shapeStable,

  // Nothing was written in between, and the same two contents come back.
  check('json.count-stable', {
    title: 'lists the same number of entries each time',
    headline: 'The same list has now one length and now another: {got}',
    why: 'Clients lose entries, and find them again when they reload.',
    change: 'Compare the instances and caches behind this address: one of them has other data.',
    grounds: [practice('repeatable answers')],
    restsOn: [stable, shapeStable],
    uses: [sample, sameRequests],
    async judge({ probe, expect, violated, notApplicable }) {
      const { isList, countsInTurn: odd, replies } = await probe(sameRequests);
      if (!isList || odd === null)
        await expect(
          sample,
          replies.filter(({ served }) => served),
        ).toBeRead('a list', IN_JSON);
      if (!isList) notApplicable('the documented response is no list');
      if (odd === null) return;
      const share = `${odd.answers.length} of ${odd.of} requests in a row, in turn`;
      violated(`${odd.usual} each time`, `${odd.odd} for ${share}`, odd.answers[0]?.evidence);
    },
  }),
]);
