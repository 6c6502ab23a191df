import { check, practice } from '../../harness/engine/check/suite.ts';
import { documented } from './items.ts';
import { everyAnswer } from './stimuli/answers.ts';
import { callsOfMediaType, callsOfSchema } from './stimuli/operation.ts';
import { responseSchemas } from './stimuli/response-schemas.ts';

/** Every answer of an operation, refusals included, whichever stimulus brought it, is held to its document. */
export const answers = [
  // OpenAPI 3.1 §4.8.16: a document covers a success and any known errors. That of a call is another check.
  check('operations.answer-status', {
    title: 'answers every request to an operation with a documented status',
    headline: 'An answer of an operation is not documented: {got}',
    why: 'Generated clients know the documented statuses only, and fail at others.',
    change: 'Answer with a documented status, or document the one that you send.',
    grounds: [documented],
    uses: [everyAnswer],
    judge: ({ expect }) =>
      expect()
        .where(({ isCall }) => !isCall, 'only the documented calls were answered')
        .faultOf(({ isIndistinct }) => (isIndistinct ? 'document' : 'service'))
        .toConform('a documented status', ({ undocumented }) =>
          undocumented?.by === 'the service' ? undocumented.text : null,
        ),
  }),

  // The same for the refusals of a proxy, a gateway, a limiter or a framework.
  check('operations.undocumented-refusal', {
    title: 'documents the refusals that clients of an operation get',
    headline: 'A refusal of an operation is not documented: {got}',
    why: 'A proxy may have sent it, and clients get it all the same. Generated clients have no type for it.',
    change: 'Document the status, or `default`, for each operation that can be refused so.',
    grounds: [practice('OpenAPI: document known errors')],
    uses: [everyAnswer],
    judge: ({ expect }) =>
      expect()
        .where(({ isCall }) => !isCall, 'only the documented calls were answered')
        .faultOf(() => 'document')
        .toConform('a documented status', ({ undocumented }) =>
          undocumented?.by === 'any front' ? undocumented.text : null,
        ),
  }),

  // endpoint.other-operations: and these have media types.
  check('operations.content-type', {
    title: 'answers each operation with its documented media type',
    headline: 'An operation answers in {got}',
    why: 'Generated clients have no parser for it, and drop the body.',
    change: 'Send the documented Content-Type, or document the one that you send.',
    grounds: [documented],
    uses: [callsOfMediaType, everyAnswer],
    judge: ({ expect }) =>
      expect()
        .where(({ isTyped }) => isTyped, 'no answer is documented with a media type')
        .toConform('the documented media type', ({ foreignMediaType }) => foreignMediaType),
  }),

  // OpenAPI 3.1 §4.8.17 and §4.8.21: headers by their names, required or not, with schemas.
  check('operations.answer-headers', {
    title: 'answers each operation with the headers that are documented for it',
    headline: 'A response header is not as documented: {got}',
    why: 'Clients that were generated from the document read it, and fail or go on without it.',
    change: 'Send the header as it is documented, or correct the document.',
    grounds: [documented],
    uses: [everyAnswer],
    judge: ({ expect, service }) =>
      expect()
        .where(
          ({ documented: answer }) => (answer?.headers.length ?? 0) > 0,
          'no response header is documented',
        )
        .toConform(
          'the documented headers',
          (reply) => responseSchemas(service).headerFault(reply),
          responseSchemas(service).headerReading,
        ),
  }),

  // endpoint.other-operations: and these have schemas.
  check('operations.schema', {
    title: 'answers each operation with a body that fits its documented JSON Schema',
    headline: 'A response body does not fit its schema: {got}',
    why: 'Code that was generated from the document fails on it, or loses data.',
    change: 'Send what the schema says, or correct the schema.',
    grounds: [documented],
    uses: [callsOfSchema, everyAnswer],
    judge: ({ expect, service }) =>
      expect()
        .where(
          (reply) =>
            reply.isTyped &&
            [undefined, 'unread'].includes(responseSchemas(service).whyNotJudged(reply)?.why),
          'no answer is documented with a schema',
        )
        .faultOf((reply) => responseSchemas(service).faultSide(reply))
        .toConform(
          'a body that fits its schema',
          (reply) => responseSchemas(service).fault(reply),
          responseSchemas(service).reading,
        ),
  }),
];
