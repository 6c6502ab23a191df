import { imfFixdate } from '../behavior/clock.ts';
import { EVERY, REST, tableOf, type Variant } from '../behavior/deviation.ts';
import { oneFinishedIn, oneIn, whenCrowded } from '../behavior/patches/instances.ts';
import {
  insteadOfServing,
  onAnswer,
  onFinished,
  onHead,
  onReceipt,
  onWireHead,
  together,
  withTrailer,
} from '../behavior/patches/patch.ts';
import type { HttpAnswer } from '../http/answer.ts';
import { asProblem, having, withJson, writtenAs } from '../http/answer-changes.ts';
import { sending, withField, withFields, withoutField } from '../http/message.ts';

/** Refuses, and closes the connection. */
const closingWith = (status: number) => (answer: HttpAnswer) =>
  withField(asProblem(status)(answer), 'Connection', 'close');

const SWITCHING_TO_H2C = Buffer.from(
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
);

/** Lawful ways to use connections (RFC 9112 §9) and to take the messages of clients (§6). */
export const CONNECTION_VARIANTS = tableOf<Variant>(REST, {
  'unknown-coding-400': {
    summary: 'refuses a transfer coding that it does not know with 400',
    patch: onAnswer('unknown-coding', asProblem(400)),
  },
  'refuses-chunked-content-411': {
    summary: 'takes content by its length alone, and refuses chunks with 411 (RFC 9112 §6.3)',
    patch: onAnswer('every', closingWith(411), sending('transfer-encoding', /^chunked$/i)),
  },
  'refuses-expectations-417': {
    summary: 'says 417 to an expectation with content, and closes the connection (RFC 9110 §15.5.18)',
    patch: onAnswer(
      'every',
      closingWith(417),
      (request) => sending('expect')(request) && request.body.length > 0,
    ),
  },
  'closes-behind-expectations': {
    summary: 'answers a request with an expectation, and closes the connection',
    patch: onAnswer('every', (answer) => withField(answer, 'Connection', 'close'), sending('expect')),
  },
  'closes-after-chunks': {
    summary: 'answers a request with content in chunks, and closes the connection (RFC 9112 §9.3)',
    patch: onAnswer(
      'every',
      (answer) => withField(answer, 'Connection', 'close'),
      sending('transfer-encoding'),
    ),
  },
  'takes-one-member-of-accept': {
    summary: 'serves its one format whatever stands in Accept, and says that it varies by it',
    patch: onAnswer('served', having('Vary', 'Accept'), sending('accept')),
  },
  'refuses-content-of-get': {
    summary: 'refuses a GET that has content, and closes the connection (RFC 9110 §9.3.1)',
    patch: onAnswer('every', closingWith(400), ({ method, body }) => method === 'GET' && body.length > 0),
  },
  'refuses-old-clients-426': {
    summary: 'refuses HTTP/1.0 with 426 (RFC 9110 §15.5.22)',
    patch: insteadOfServing(
      ({ httpVersion }) => httpVersion === '1.0',
      (answer) => withFields(asProblem(426)(answer), { Upgrade: 'HTTP/1.1', Connection: 'Upgrade' }),
    ),
  },
  'answers-in-http-1-0': {
    summary:
      'speaks HTTP/1.0 alone, which has no transfer codings, no Host that is demanded and no whole URL in the request line, and closes each connection without a word (RFC 1945)',
    patch: together(
      onHead((head) =>
        `${head}\r\n`
          .replace(/^(\w+) http:\/\/[^/ ]+/, '$1 /whole-url')
          .replace(/^(?:Host|Transfer-Encoding):.*\r\n/gim, '')
          .replace(/^(Content-Length: )\+?(\d+\r\n)(?:Content-Length:.*\r\n)*/im, '$1$2')
          .replace(/^([\w-]+) +:/gm, '$1:')
          .replace(/\r\n/, '\r\nHost: here.example\r\n')
          .trimEnd(),
      ),
      onWireHead('every', (head) =>
        head.replace('HTTP/1.1', 'HTTP/1.0').replace(/^Connection: close\r\n/m, ''),
      ),
    ),
  },
  'takes-h2c': {
    summary: 'switches to HTTP/2 where that is offered (RFC 9110 §7.8)',
    patch: onFinished(
      'served',
      writtenAs(() => SWITCHING_TO_H2C),
      sending('upgrade', /^h2c$/),
    ),
  },
  'timing-in-trailers': {
    summary: 'sends a trailer that may stand behind content (RFC 9110 §6.5)',
    patch: withTrailer('Server-Timing: all;dur=1'),
  },
  'cgi-drops-underscored-fields': {
    summary: 'leaves out fields with an underscore in their name, as servers before applications do',
    unseen: 'what is sent in such fields changes no answer',
    patch: onReceipt((request) => ({
      ...request,
      fields: request.fields.filter(([name]) => !name.includes('_')),
    })),
  },
});

/** What differs from answer to answer, and may. */

export const INSTANCE_VARIANTS = tableOf<Variant>(EVERY, {
  'names-its-instances': {
    summary: 'says in headers which of several instances answered, what it took and whether a cache had it',
    patch: (behavior) => {
      let count = 0;
      return onFinished('every', (answer) => {
        count += 1;
        return withFields(answer, {
          'X-Served-By': `api-${count % 3}`,
          'Server-Timing': `app;dur=${count}`,
          ...(count % 3 === 0 && { 'X-Cache': 'HIT' }),
        });
      })(behavior);
    },
  },
  'unavailable-when-crowded': {
    services: REST.services,
    summary: 'says 503 and for how long, where many requests come together (RFC 9110 §15.6.4)',
    patch: whenCrowded(12, (answer) => withField(asProblem(503)(answer), 'Retry-After', '1')),
  },
  'server-of-the-instance': {
    summary: 'has another Server header on one of four instances',
    patch: oneFinishedIn(4, having('Server', 'blue')),
  },
  'list-that-grows': {
    services: REST.services,
    summary: 'has one more in its list with each answer, as others add to it',
    changes: ['json.success-shape'],
    undescribed: true,
    patch: (behavior) => {
      let added = 0;
      return onAnswer('served', (answer, { query }) =>
        withJson(withoutField(answer, 'ETag'), (content) => {
          if (query !== null || !Array.isArray(content.resources)) return content;
          added += 1;
          return { ...content, added: Array.from({ length: added }, (_, at) => at) };
        }),
      )(behavior);
    },
  },
  'list-of-the-moment': {
    services: REST.services,
    summary: 'lists what is under way at the moment, sometimes one and sometimes two, never the same again',
    changes: ['json.success-shape'],
    undescribed: true,
    patch: (behavior) => {
      let count = 0;
      return onAnswer('served', (answer, { query }) =>
        withJson(withoutField(answer, 'ETag'), (content) => {
          if (query !== null || !Array.isArray(content.resources)) return content;
          count += 1;
          return { ...content, jobs: count % 2 === 0 ? [count] : [count, count + 1] };
        }),
      )(behavior);
    },
  },
  'lists-in-any-order': {
    services: REST.services,
    summary: 'lists resources in another order each time, each order with a tag of its own',
    patch: (behavior) => {
      let count = 0;
      return onAnswer(
        'served',
        (answer) =>
          withJson(withoutField(answer, 'ETag'), (content) => {
            count += 1;
            const { resources } = content;
            if (!Array.isArray(resources)) return content;
            const at = count % resources.length;
            return { ...content, resources: [...resources.slice(at), ...resources.slice(0, at)] };
          }),
        ({ query }) => query === null,
      )(behavior);
    },
  },
  'a-cache-that-fills': {
    services: REST.services,
    summary: 'is behind a cache for some of its answers, which are older each time and say so',
    patch: (behavior) => {
      let age = 0;
      return oneIn(3, (answer, _, { clock }) => {
        age += 200;
        return withFields(answer, { Age: String(age), Date: imfFixdate(clock.now() - age * 1_000) });
      })(behavior);
    },
  },
});
