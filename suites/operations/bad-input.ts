import {
  capitalized,
  check,
  clause,
  type Ground,
  observation,
  type Probe,
  practice,
  rfc9110,
  type Selected,
} from '../../harness/engine/check/suite.ts';
import { handles, type RowNotes } from '../row.ts';
import { documented } from './items.ts';
import { bodiesOf } from './stimuli/bodies.ts';
import * as operation from './stimuli/operation.ts';
import type { OperationReply, Trials } from './stimuli/trials.ts';

interface BadInput extends RowNotes<'repeats'> {
  /** Completes "answers … with a 4xx status", and with a capital letter "… gets status 200". */
  readonly what: string;
  readonly grounds?: readonly Ground[];
}

/** Bad input is the client's fault: neither is it served, nor does the service fail over it. */
export const refuses = (
  id: string,
  probe: Probe<Trials | Selected<OperationReply>>,
  { what, grounds = [documented], ...notes }: BadInput,
) =>
  check(id, {
    ...notes,
    title: `answers ${what} with a 4xx status`,
    headline: `${capitalized(what)} gets {answer}`,
    grounds,
    uses: [probe],
    judge: ({ expect }) =>
      expect()
        .faultOf(({ isIndistinct }) => (isIndistinct ? 'document' : 'service'))
        .toConform('a client error (4xx, but not 401)', ({ response: { status, statusClass } }) =>
          statusClass === 4 && status !== 401 ? null : `status ${status}`,
        ),
  });

// endpoint.other-operations: types, what is required and what is allowed are documented.
const negativeType = refuses('operations.negative-type', operation.wrongTypes, {
  what: 'input of the wrong type',
  why: 'A mistake of the client goes unnoticed, or looks like an outage of the service.',
  change: 'Check the type of each input, and answer 400 or 422 with its name.',
});

const negativeMissing = refuses('operations.negative-missing', operation.missingInputs, {
  what: 'a request that lacks required input',
  why: 'The service guesses what the client forgot, or fails over it.',
  change: 'Check that all required input is there, and answer 400 or 422 with the name of what is missing.',
});

interface GoodInput extends RowNotes {
  /** Completes "accepts …", and with a capital letter "… gets status 400". */
  readonly what: string;
}

/** Statuses by which a service refuses what the input is; others may be about what it names, or who asks. */
const REFUSED_AS_INPUT: readonly number[] = [400, 413, 414, 422];

/** Input that the documents admit is carried out: a refusal of it contradicts them. */
const accepts = (id: string, probe: Probe<Trials>, { what, ...notes }: GoodInput) =>
  check(id, {
    ...notes,
    title: `accepts ${what}`,
    headline: `${capitalized(what)} gets {answer}`,
    grounds: [documented],
    uses: [probe],
    judge: ({ expect }) =>
      expect()
        .where((reply) => reply.isOrdinary, 'servers may refuse requests of this length')
        .toConform('no refusal and no server error', ({ response: { status, statusClass } }) =>
          REFUSED_AS_INPUT.includes(status) || statusClass === 5 ? `status ${status}` : null,
        ),
  });

/** Input at the bounds of what the documents admit. */
export const goodInput = [
  accepts('operations.boundary-accepted', operation.atBounds, {
    what: 'a value at its documented bound',
    why: 'Clients that keep to the document are refused.',
    change: 'Accept the bound itself, or document the bound that you check.',
  }),
  // JSON Schema Validation §6.3.1: the length of a string is the number of its characters (RFC 8259).
  accepts('operations.length-in-characters', operation.lengthsInCharacters, {
    what: 'a text of the documented length with letters beyond ASCII',
    why: 'People who write in other languages may enter less than the document says, or nothing.',
    change: 'Count characters, not bytes, where you check a length, and in the columns that store it.',
  }),
  accepts('operations.example-accepted', operation.shownExamples, {
    what: 'a documented example',
    why: 'An example is the first thing that a new client copies.',
    change: 'Correct the example, or accept it.',
  }),
  // RFC 8259 §8.1 and RFC 3986 §2.5: text is Unicode. Whether a value may have such letters is not documented.
  handles('operations.unusual-text', operation.unusualTexts, {
    what: 'a text with an emoji, a combining sequence or letters beyond ASCII',
    why: 'People write so. A column or a parser for another character set fails over it.',
    change:
      'Use UTF-8 from the request to the database (`utf8mb4` in MySQL), and normalise text before you compare it.',
    relied: practice('take any text'),
  }),
  handles('operations.path-value', operation.hostileValues, {
    what: 'a path parameter with quotes, `%`, NUL, 300 characters or a large number',
    why: 'A failure over such a value often means that it reaches the database unchecked.',
    change: 'Check the path parameter before you look anything up, and answer 400 or 404.',
    relied: practice('check path parameters'),
    repeats: [negativeType],
  }),
];

/** Input that the documents rule out. */
export const badInput = [
  negativeType,
  negativeMissing,
  refuses('operations.negative-range', operation.outOfRange, {
    what: 'input beyond its documented range',
    why: 'With a limit that nobody checks, one call can ask for everything.',
    change: 'Check minimum, maximum and length, and answer 400 or 422 with the limit.',
  }),
  refuses('operations.negative-surplus', operation.surplusMembers, {
    what: 'a body with members that its schema rules out',
    why: 'A misspelled member is dropped, and the client never learns of it.',
    change: 'Refuse members that the schema rules out (additionalProperties: false) with 400 or 422.',
  }),
  refuses('operations.negative-pattern', operation.patternMisses, {
    what: 'text that does not match its documented pattern',
    why: 'What was stored breaks the clients that rely on the pattern when they read it.',
    change: 'Check the whole text with the documented pattern, and answer 400 or 422 with its name.',
  }),
  refuses('operations.negative-multiple', operation.wrongMultiples, {
    what: 'a number between the documented steps',
    why: 'The service rounds without a word, or works with a number that it was not made for.',
    change: 'Check multipleOf, with decimal numbers for prices, and answer 400 or 422 with the step.',
  }),
  refuses('operations.negative-items', operation.wrongItems, {
    what: 'a list with too many, too few or repeated items',
    why: 'One call can ask for any amount of work, or do the same twice.',
    change: 'Check minItems, maxItems and uniqueItems, and answer 400 or 422 with the limit.',
  }),
  // OpenAPI 3.1 §4.4 has formats as annotations: good practice, and no more.
  refuses('operations.negative-format', operation.wrongFormats, {
    what: 'text that is not of its documented format',
    why: 'A date that is none, or an address without @, surfaces only when a client needs it.',
    change: 'Parse dates, UUIDs, addresses and numbers of 32 bits where they arrive, and answer 400 or 422.',
    grounds: [practice('check formats')],
  }),
];

// RFC 9110 §15.5.1: what the service cannot process for the client's mistake.
const malformed = refuses('operations.body-malformed', bodiesOf.malformed, {
  what: 'a body that is malformed JSON',
  why: 'A mistake of the client looks like an outage, or is taken for something that nobody has sent.',
  change: 'Catch the error of the parser, and answer 400.',
});

// RFC 9110 §15.5.16: the content is in a format that this method does not take.
const foreign = refuses('operations.body-foreign-type', bodiesOf.foreign, {
  what: 'a body of another media type than the documented one',
  why: 'The service carries out a request whose content it cannot have read.',
  change: 'Look at Content-Type first, and answer 415 to what you do not take.',
  repeats: [malformed],
});

/** What becomes of a request body that is not as it should be. */
export const bodies = [
  malformed,

  refuses('operations.body-empty', bodiesOf.empty, {
    what: 'an empty body in place of JSON',
    why: 'Clients send one when a variable was not set. What was meant is lost, or the service fails.',
    change: 'Answer 400 when there is no body where one is required.',
    repeats: [negativeMissing, malformed],
  }),

  // RFC 8259 §2: any value is a JSON text, not objects alone.
  refuses('operations.body-other-value', bodiesOf['other-value'], {
    what: 'a body that is null, a list or a text in place of an object',
    why: 'Code that reads a member of null fails, and one that asks a list for it finds nothing.',
    change: 'Check that the body is an object before you read its members, and answer 400 or 422.',
    repeats: [negativeType, malformed],
  }),

  // RFC 8259 §4, §6, §8 and §9: parsers differ in these, and may refuse them; none may fall over them.
  handles('operations.body-odd-json', bodiesOf.odd, {
    what: 'a body of JSON that parsers read in different ways',
    why: 'Deep nesting, NaN, U+0000 or half a character brings down a parser, or a database behind it.',
    change: 'Set limits to the parser, store only valid text, and answer 400 to what you do not take.',
    repeats: [malformed],
  }),

  foreign,

  // RFC 9110 §8.3: without Content-Type the content may be looked at, or refused.
  handles('operations.body-odd-type', bodiesOf['odd-type'], {
    what: 'a body whose Content-Type is missing or malformed',
    why: 'The code that reads the header fails, and the client takes it for an outage.',
    change: 'Answer 415 to a Content-Type that is missing or cannot be read, or ignore it.',
    repeats: [malformed, foreign],
  }),

  // RFC 9110 §8.4: 415 where a coding is not taken.
  handles('operations.body-coding', bodiesOf.coding, {
    what: 'a body in an unknown or false Content-Encoding',
    why: 'The code that decompresses fails, and the client takes it for an outage.',
    change: 'Answer 415 to a Content-Encoding that you do not know, and 400 to what is not what it says.',
    repeats: [malformed],
  }),

  // RFC 9110 §15.5.14: who refuses it may close the connection while it is still being sent.
  check('operations.body-large', {
    title: 'does not fail over a body of 1.5 MB',
    headline: 'A body of 1.5 MB gets {answer}',
    why: 'The client has to hear that it sent too much. On a server error it tries again and again.',
    change: 'Answer 413 as soon as the body is too large, and read no further.',
    grounds: [clause('responses.status-codes')],
    uses: [bodiesOf.large],
    judge: ({ expect }) =>
      expect().toConform('an answer that is no server error', (reply) => {
        const isEnded = ['closed', 'reset'].includes(reply.exchange.failure?.kind ?? '');
        if (reply.status === null && isEnded) return null;
        return reply.response.statusClass === 5 ? `status ${reply.status}` : null;
      }),
  }),

  // RFC 9110 §8.3 lets a service look into the content.
  observation('operations.body-as-text', {
    title: 'goes by the Content-Type of a JSON body, or by the body',
    why: 'A page of any other site may send text/plain with the cookies of its reader, and no preflight.',
    grounds: [rfc9110('8.3', 'MAY')],
    uses: [bodiesOf['as-text']],
    async observe({ probe }) {
      const [reply] = (await probe(bodiesOf['as-text'])).all;
      const isTaken = reply?.served ?? false;
      return { seen: isTaken, note: isTaken ? 'JSON is taken as text/plain too' : `status ${reply?.status}` };
    },
  }),
];
