import type { FieldLine } from '../../wire/exchange.ts';
import { type Defect, tableOf, under } from '../behavior/deviation.ts';
import { countingApart, inHttp2 } from '../behavior/patches/parts.ts';
import type { Patch } from '../behavior/patches/patch.ts';
import type { HttpAnswer } from '../http/answer.ts';
import { withMembers } from '../http/answer-changes.ts';
import { fieldValues, withField } from '../http/message.ts';

/** A field behind those of refusals, as a library that was written for HTTP/1.1 sends it. */
const inRefusals = (field: FieldLine): Patch =>
  inHttp2({
    appended: (request) => (fieldValues(request, 'authorization').length === 0 ? field : null),
  });

const lengthened = (answer: HttpAnswer) => withField(answer, 'Content-Length', String(answer.body.length));

const NO_REFUSAL = 'no refusal can be read';
const OF_REFUSALS = {
  'auth.refusal-class': NO_REFUSAL,
  'auth.challenge-error': NO_REFUSAL,
  'auth.metadata-address': NO_REFUSAL,
  'auth.resource-metadata': NO_REFUSAL,
  'auth.refusal-json': NO_REFUSAL,
  'auth.refusal-not-cached': NO_REFUSAL,
};

/** Node names no header that it refuses: capitals, Connection and a late pseudo-header look the same. */
const MALFORMED = 'Responses in HTTP/2 have a header that HTTP/2 forbids';

/** Faults that HTTP/2 alone shows (RFC 9113). */
export const HTTP2_DEFECTS = tableOf<Defect>(under('HTTP/2'), {
  'capital-names-in-http2': {
    cause: MALFORMED,
    fails: ['http2.well-formed'],
    alsoFails: OF_REFUSALS,
    patch: inRefusals(['X-Served-By', 'api-1']),
  },
  'connection-header-in-http2': {
    cause: MALFORMED,
    fails: ['http2.well-formed'],
    alsoFails: OF_REFUSALS,
    patch: inRefusals(['connection', 'close']),
  },
  'late-status-in-http2': {
    cause: MALFORMED,
    fails: ['http2.well-formed'],
    alsoFails: OF_REFUSALS,
    patch: inRefusals([':status', '401']),
  },
  'answers-otherwise-in-http2': {
    cause: 'The response in HTTP/2 is another one than in HTTP/1.1',
    fails: ['http2.same-answer'],
    alsoFails: { 'status.head-equals-get': 'HEAD is sent in HTTP/1.1' },
    patch: inHttp2({
      answersAs: (answer) =>
        answer.responseKind === 'served' && answer.body.length > 0
          ? lengthened(withMembers(answer, { edge: true }))
          : answer,
    }),
  },
  'limit-of-each-connection': {
    cause: 'Each HTTP/2 connection has a quota of its own',
    fails: ['limits.connections-share'],
    patch: (behavior) => {
      const numbers = new WeakMap<object, number>();
      let connections = 0;
      return countingApart(({ connection }) => {
        if (connection === undefined) return '';
        const number = numbers.get(connection) ?? ++connections;
        numbers.set(connection, number);
        return `@${number}`;
      })(behavior);
    },
  },
  'reset-ends-connection': {
    cause: 'A reset of one stream ends all of its HTTP/2 connection',
    fails: ['http2.stream-reset'],
    patch: inHttp2({ resetEnds: true }),
  },
});
