import { parseJson, parseJsonObject } from '../../../base/json-text.ts';
import type { AnswerChange } from '../../behavior/behavior.ts';
import { type Defect, REST, tableOf } from '../../behavior/deviation.ts';
import { onAnswer, onReceipt, type Patch } from '../../behavior/patches/patch.ts';
import { asSuccess, failed } from '../../http/answer-changes.ts';
import { fieldValue, type ReceivedRequest } from '../../http/message.ts';

const textOf = ({ body }: ReceivedRequest): string => body.toString('utf8');
const typeOf = (request: ReceivedRequest): string => fieldValue(request, 'content-type') ?? '';
const codingOf = (request: ReceivedRequest): string | undefined => fieldValue(request, 'content-encoding');
const isJson = (request: ReceivedRequest): boolean => parseJson(textOf(request)) !== undefined;

/** About what is posted to find something. */
const posted =
  (when: (request: ReceivedRequest) => boolean) =>
  (request: ReceivedRequest): boolean =>
    request.method === 'POST' && request.path === '/v1/matches' && when(request);

const changing = (when: (request: ReceivedRequest) => boolean, change: AnswerChange): Patch =>
  onAnswer(['served', 'invalid-content'], change, posted(when));

const failingOver = (when: (request: ReceivedRequest) => boolean): Patch => changing(when, failed);

const NOTHING_FOUND = '{"matches":[],"text":null,"kind":null}';

/** Serves it as if it had found nothing. */
const servingNothingFor = (when: (request: ReceivedRequest) => boolean): Patch =>
  changing(when, asSuccess(NOTHING_FOUND));

/** What the service does wrong with bodies of requests that are not as they should be. */
export const BODY_DEFECTS = tableOf<Defect>(REST, {
  'malformed-body-500': {
    summary: 'does not catch what its JSON parser throws',
    cause: 'Malformed JSON in a request is answered {status:500}, a server error',
    fails: ['operations.body-malformed'],
    patch: failingOver((request) => request.body.length > 0 && !isJson(request)),
  },
  'malformed-body-served': {
    summary: 'takes a body that it cannot parse for an empty object',
    cause: 'Malformed JSON in a request is taken for an empty object',
    fails: ['operations.body-malformed'],
    patch: servingNothingFor((request) => request.body.length > 0 && !isJson(request)),
  },
  'truncated-body-completed': {
    summary: 'completes a body that was cut off, and carries it out',
    cause: 'A body that was cut off is completed and carried out',
    fails: ['operations.body-malformed'],
    patch: onReceipt((request) => {
      const text = `${textOf(request)}}`;
      return posted(() => parseJsonObject(text) !== null)(request)
        ? { ...request, body: Buffer.from(text) }
        : request;
    }),
  },
  'empty-body-500': {
    summary: 'fails over an empty body',
    cause: 'An empty body is answered {status:500}, a server error',
    fails: ['operations.body-empty'],
    patch: failingOver((request) => request.body.length === 0 && typeOf(request) !== ''),
  },
  'empty-body-served': {
    summary: 'takes an empty body for one that asks for nothing',
    cause: 'An empty body is served although one is required',
    fails: ['operations.body-empty'],
    patch: servingNothingFor((request) => request.body.length === 0 && typeOf(request) !== ''),
  },
  'null-body-500': {
    summary: 'reads members of a body that is null',
    cause: 'The body null is answered {status:500}, a server error',
    fails: ['operations.body-other-value'],
    patch: failingOver((request) => parseJson(textOf(request)) === null),
  },
  'list-body-served': {
    summary: 'asks a list for members, and takes it for an empty object',
    cause: 'A list in place of an object is served',
    fails: ['operations.body-other-value'],
    patch: servingNothingFor(
      (request) => Array.isArray(parseJson(textOf(request))) && textOf(request).length < 10,
    ),
  },
  'deep-body-500': {
    summary: 'parses by recursion, without a limit',
    cause: 'A deeply nested body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => textOf(request).startsWith('['.repeat(1_000))),
  },
  'nan-body-500': {
    summary: 'parses NaN, and fails to write it down',
    cause: 'NaN in a body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => textOf(request).includes(':NaN')),
  },
  'large-number-500': {
    summary: 'fails over a number that no type can hold',
    cause: 'A very large number in a body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => /\de\d{4}/.test(textOf(request))),
  },
  'repeated-member-500': {
    summary: 'fails over a member that comes twice',
    cause: 'A member that comes twice in a body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => (textOf(request).match(/"text":/g)?.length ?? 0) > 1),
  },
  'half-surrogate-500': {
    summary: 'fails to encode half a surrogate pair',
    cause: 'Half a surrogate pair in a body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => textOf(request).includes('\\ud800')),
  },
  'nul-in-body-500': {
    summary: 'hands U+0000 to a database that cannot store it',
    cause: 'U+0000 in a body is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => textOf(request).includes('\\u0000')),
  },
  'bad-utf8-in-body-500': {
    summary: 'fails over octets that are no UTF-8',
    cause: 'A body that is no UTF-8 is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver(({ body }) => body.includes(0xff)),
  },
  'byte-order-mark-500': {
    summary: 'fails over a byte order mark',
    cause: 'A body with a byte order mark is answered {status:500}, a server error',
    fails: ['operations.body-odd-json'],
    patch: failingOver((request) => textOf(request).startsWith('\ufeff')),
  },
  'xml-body-500': {
    summary: 'fails over a Content-Type that it does not know',
    cause: 'XML in place of JSON is answered {status:500}, a server error',
    fails: ['operations.body-foreign-type'],
    patch: failingOver((request) => typeOf(request).endsWith('/xml')),
  },
  'foreign-body-served': {
    summary: 'does not read content of a type that it does not know, and serves the request',
    cause: 'A body of an unknown media type is served unread',
    fails: ['operations.body-foreign-type'],
    patch: servingNothingFor((request) => typeOf(request).startsWith('application/x-')),
  },
  'missing-type-500': {
    summary: 'fails where Content-Type is missing',
    cause: 'A body without a Content-Type is answered {status:500}, a server error',
    fails: ['operations.body-odd-type'],
    patch: failingOver((request) => typeOf(request) === '' && request.body.length > 0),
  },
  'unknown-charset-500': {
    summary: 'fails over a charset that it does not know',
    cause: 'An unknown charset is answered {status:500}, a server error',
    fails: ['operations.body-odd-type'],
    patch: failingOver((request) => /charset=x-/.test(typeOf(request))),
  },
  'malformed-type-500': {
    summary: 'fails over a Content-Type that is no media type',
    cause: 'A malformed Content-Type is answered {status:500}, a server error',
    fails: ['operations.body-odd-type'],
    patch: failingOver((request) => typeOf(request) === 'json'),
  },
  'unknown-content-coding-500': {
    summary: 'fails over a content coding that it does not know',
    cause: 'An unknown Content-Encoding is answered {status:500}, a server error',
    fails: ['operations.body-coding'],
    patch: failingOver((request) => codingOf(request)?.startsWith('x-') ?? false),
  },
  'false-gzip-500': {
    summary: 'fails over content that calls itself gzip and is none',
    cause: 'A body that is not the gzip it claims is answered {status:500}, a server error',
    fails: ['operations.body-coding'],
    patch: failingOver((request) => codingOf(request) === 'gzip'),
  },
  'large-body-500': {
    summary: 'fails over a body that is too large',
    cause: 'A large body is answered {status:500}, a server error',
    fails: ['operations.body-large'],
    patch: onAnswer('content-too-large', failed),
  },
});
