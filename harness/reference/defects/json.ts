import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type Defect, EVERY, tableOf } from '../behavior/deviation.ts';
import {
  beforehand,
  insteadOfServing,
  onAnswer,
  onFinished,
  onWire,
  onWireHead,
  type Patch,
  together,
} from '../behavior/patches/patch.ts';
import { acceptsGzip } from '../behavior/patches/representations.ts';
import { type HttpAnswer, PROBLEM_NAMES, problem } from '../http/answer.ts';
import { having, holding, lacking, withContent, withText } from '../http/answer-changes.ts';
import { fieldValues, withField, withFields, withoutField } from '../http/message.ts';

const inText = (change: (text: string) => string): Patch =>
  onAnswer('served', (answer) => withText(answer, change));

const inOctets = (change: (octets: Buffer) => Buffer): Patch =>
  onAnswer('served', (answer) => ({ ...answer, body: change(answer.body) }));

/** The content with a member before its first one; an array is left alone. */
const withFirstMember = (member: string): ((text: string) => string) => {
  return (text) => text.replace(/^\{/, `{${member},`);
};

function encoded(answer: HttpAnswer, coding: string, encode: (octets: Buffer) => Buffer): HttpAnswer {
  const tag = `W/${fieldValues(answer, 'etag')[0] ?? '""'}`;
  const weak = withFields(answer, { 'Content-Encoding': coding, ETag: tag });
  return { ...weak, body: encode(answer.body) };
}

function firstName(text: string): string {
  return /^\{("(?:[^"\\]|\\.)*")/.exec(text)?.[1] ?? '"total"';
}

/** Declares another length than the content has; the connection ends after it, so no client waits for ever. */
const declaringLength = (difference: number): Patch =>
  together(
    onFinished('served', (answer) =>
      withField(answer, 'Content-Length', String(answer.body.length + difference)),
    ),
    onWire('served', (head, body) => Buffer.concat([head, body])),
  );

export const JSON_DEFECTS = tableOf<Defect>(EVERY, {
  'json-wrong-content-type': {
    cause: 'Responses are labelled {media type:text/plain}, not JSON',
    fails: ['json.success-media-type', 'pact.interaction'],
    patch: onAnswer('served', having('Content-Type', 'text/plain; charset=utf-8')),
  },
  'json-no-content-type': {
    cause: 'Responses have no Content-Type header',
    fails: ['json.success-media-type'],
    alsoFails: { 'pact.interaction': 'a consumer has written down that it relies on the label' },
    patch: onFinished('served', lacking('Content-Type')),
  },
  'errors-have-no-content-type': {
    services: ['search'],
    setting: 'text errors',
    cause: 'Errors have no Content-Type header',
    fails: ['headers.content-type'],
    patch: onAnswer(PROBLEM_NAMES, lacking('Content-Type')),
  },
  'json-latin1-charset': {
    cause: 'The Content-Type names another charset than UTF-8',
    fails: ['json.charset'],
    patch: onAnswer('served', having('Content-Type', 'application/json; charset=iso-8859-1')),
  },
  'json-bom': {
    cause: 'The JSON begins with a byte order mark',
    fails: ['json.no-bom'],
    patch: inText((text) => `\ufeff${text}`),
  },
  'json-invalid-utf8': {
    cause: 'The JSON is not valid UTF-8',
    fails: ['json.utf8'],
    patch: inOctets((octets) => Buffer.from(octets.toString('latin1').replace(/:"/, ':"\xe9'), 'latin1')),
  },
  'json-trailing-bytes': {
    cause: 'Other text follows the JSON',
    fails: ['json.one-text'],
    patch: inText((text) => `${text}\n<!-- served by node 3 -->`),
  },
  'json-truncated': {
    cause: 'The JSON is cut off before its end',
    fails: ['json.syntax'],
    patch: inText((text) => text.slice(0, -1)),
  },
  'json-duplicate-keys': {
    cause: 'A name stands twice in the same JSON object',
    fails: ['json.unique-names'],
    patch: inText((text) => withFirstMember(`${firstName(text)}:null`)(text)),
  },
  'json-nan': {
    cause: 'The JSON has a number that JSON does not know, such as NaN',
    fails: ['json.numbers'],
    patch: inText(withFirstMember('"score":NaN')),
  },
  'json-big-integer': {
    // RFC 8259 §6
    cause: 'The JSON has integers beyond 2^53, which many clients round',
    changes: ['json.big-integers'],
    patch: inText(withFirstMember('"sequence":9007199254740993')),
  },
  'json-empty-body': {
    cause: 'The response has no body where one is promised',
    fails: ['json.body-present'],
    patch: inOctets(() => Buffer.alloc(0)),
  },
  'errors-are-plain-text': {
    cause: 'Error bodies are {media type:text/plain}, not JSON',
    fails: ['json.error-media-type'],
    patch: onAnswer(PROBLEM_NAMES, holding('refused', 'text/plain; charset=utf-8')),
  },
  'content-length-too-long': {
    // RFC 9112 §6.3
    cause: 'The connection ends before the body is as long as Content-Length says',
    fails: ['framing.content-length'],
    patch: declaringLength(10),
  },
  'content-length-too-short': {
    cause: 'The body is longer than Content-Length says',
    fails: ['framing.one-message'],
    alsoFails: { 'json.syntax': 'the content ends where its length says, in the middle of the JSON' },
    patch: declaringLength(-10),
  },
  'bytes-after-body': {
    cause: 'Stray bytes follow the response',
    fails: ['framing.one-message'],
    alsoFails: {
      'status.head-no-content': 'the answer to HEAD ends with its head: whatever follows is content',
    },
    patch: onWire('served', (head, body) => Buffer.concat([head, body, Buffer.from('\r\nend of message')])),
  },
  'second-response': {
    cause: 'A second response follows the first, and a client takes it for the answer to its next request',
    fails: ['framing.one-response'],
    patch: onFinished('served', (answer) => ({ ...answer, followedBy: (message) => message })),
  },
  'next-request-unread': {
    cause: 'The second request on a connection that the service keeps is refused',
    fails: ['framing.next-request'],
    alsoFails: {
      'framing.pipelining': 'both send a second request on a connection',
      'framing.chunked-request': 'both send a second request on a connection',
    },
    patch: (behavior) => {
      const asked = new WeakSet<object>();
      return beforehand((request) => {
        const { connection = request } = request;
        if (asked.has(connection)) return problem('malformed');
        asked.add(connection);
        return null;
      })(behavior);
    },
  },
  'bare-line-feeds': {
    // RFC 9112 §2.2
    cause: 'Header lines end with a bare line feed',
    fails: ['framing.one-message'],
    patch: onWireHead('served', (head) => head.replaceAll('\r\n', '\n')),
  },
  'bad-chunk-size': {
    cause: 'The chunked body cannot be decoded',
    fails: ['framing.chunks'],
    patch: together(
      onFinished('served', (answer) =>
        withField(withoutField(answer, 'Content-Length'), 'Transfer-Encoding', 'chunked'),
      ),
      onWire('served', (head, body) =>
        Buffer.concat([head, Buffer.from(`size ${body.length}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]),
      ),
    ),
  },
  'unasked-gzip': {
    cause: 'The body is compressed although the client did not allow it',
    fails: ['negotiation.content-coding'],
    patch: onAnswer('served', (answer) => encoded(answer, 'gzip', gzipSync)),
  },
  'gzip-in-name-only': {
    cause: 'Content-Encoding says gzip, and the body is not compressed',
    fails: ['negotiation.true-coding'],
    alsoFails: { 'negotiation.content-coding': 'it names a coding even where none is accepted' },
    patch: onAnswer('served', having('Content-Encoding', 'gzip')),
  },
  'brotli-for-gzip': {
    cause: 'The body is compressed with a coding that the client did not name',
    fails: ['negotiation.content-coding'],
    alsoFails: {
      'negotiation.coding-vary': 'nothing in the request chose that coding, and Vary names nothing that did',
    },
    patch: insteadOfServing(acceptsGzip, (answer) => encoded(answer, 'br', brotliCompressSync)),
  },
  'gzip-without-vary': {
    cause: 'Compressed responses do not name Accept-Encoding in Vary',
    fails: ['negotiation.coding-vary'],
    patch: insteadOfServing(acceptsGzip, (answer) => encoded(answer, 'gzip', gzipSync)),
  },
  'no-nosniff': {
    cause: 'Responses have no `X-Content-Type-Options: nosniff`',
    fails: ['headers.nosniff'],
    patch: onFinished('every', lacking('X-Content-Type-Options')),
  },
  'problem-invalid': {
    cause: 'Problem details have members of the wrong type',
    fails: ['json.problem-details'],
    patch: onAnswer(PROBLEM_NAMES, (answer) =>
      withContent(
        answer,
        'application/problem+json',
        JSON.stringify({ type: 'about:blank', title: 12, status: String(answer.status) }),
      ),
    ),
  },
  'server-errors-are-plain-text': {
    cause: 'Errors of the server itself are {media type:text/plain}, not JSON',
    fails: ['json.server-error-media-type'],
    patch: onAnswer(['malformed', 'target-too-long', 'fields-too-large', 'unknown-method'], (answer) =>
      withContent(answer, 'text/plain', 'bad request'),
    ),
  },
  'errors-are-empty': {
    cause: 'Errors have no body',
    fails: ['json.error-body-present'],
    patch: onAnswer(PROBLEM_NAMES, (answer) => ({ ...answer, body: Buffer.alloc(0) })),
  },
  'malformed-content-type': {
    cause: 'The Content-Type header cannot be parsed',
    fails: ['headers.content-type-form'],
    alsoFails: { 'json.success-media-type': 'a label that cannot be read is none of JSON' },
    patch: onAnswer('served', having('Content-Type', 'application/json; charset')),
  },
  'content-is-html-everywhere': {
    cause: 'Every body is labelled {media type:text/html}, not JSON',
    fails: ['json.success-media-type', 'pact.interaction'],
    patch: onAnswer(
      ['served', ...PROBLEM_NAMES],
      holding('<!doctype html><title>API</title><p>Hello</p>', 'text/html; charset=utf-8'),
    ),
  },
});
