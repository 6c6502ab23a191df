import {
  type CheckDefinition,
  check,
  clause,
  practice,
  rfc9110,
  unsafeMethods,
} from '../../harness/check/suite.ts';
import { everyReply } from '../../harness/probe/every-reply.ts';
import { sample, sampleAgain } from '../../harness/probe/request/sample.ts';
import * as target from '../../harness/probe/request/target.ts';
import { noErrorInSuccess } from './documented-answer.ts';

/** What does not depend on content that is only generated for GET, and is the same from one request to the next. */
const SAME_FOR_HEAD = ['Content-Type', 'Content-Language', 'Cache-Control', 'Vary'] as const;

// RFC 9110 §9.1: 501 for a method that is not implemented, 405 for one that is not allowed here.
export const unknownMethod = check('status.unknown-method', {
  title: 'refuses a method that does not exist',
  headline: 'A method that does not exist gets {answer}',
  why: 'A success or a crash for a made-up method shows that methods are not checked at all.',
  change: 'Answer 405 with Allow, or 501, to every method that a path does not offer.',
  grounds: [rfc9110('9.1', 'SHOULD')],
  judge: ({ expect }) => expect(target.unknownMethod).toHaveStatus(400, 403, 404, 405, 501),
});

/** Other methods than the documented one. */
export const methods: readonly CheckDefinition[] = [
  unknownMethod,

  // Whether DELETE is offered is not shown: it may succeed where the service says that it does.
  check('status.unserved-method', {
    title: 'refuses a method that it does not offer with a 4xx status or 501',
    headline: 'DELETE, which is not offered, gets {answer}',
    why: 'The client believes that something was deleted, or that the service is down.',
    change: 'Answer 405 with Allow to methods that a path does not offer.',
    grounds: [clause('responses.status-codes'), rfc9110('9.1', 'SHOULD')],
    applies: [unsafeMethods],
    restsOn: [noErrorInSuccess],
    async judge({ probe, expect, notApplicable }) {
      const reply = await probe(target.deleteSample);
      const { allow } = (await probe(target.optionsSample)).response;
      if (reply.served && (allow.length === 0 || allow.includes('DELETE'))) {
        notApplicable('DELETE is served here, and nothing says that it is not offered');
      }
      await expect(reply).toConform('a client error or 501', ({ response: { status, statusClass } }) =>
        statusClass === 4 || status === 501 ? null : `status ${status}`,
      );
    },
  }),

  // RFC 9110 §15.5.6: the origin server generates Allow in a 405 response.
  check('status.allow', {
    title: 'names the allowed methods in every 405',
    headline: 'A 405 has no Allow header',
    why: 'Neither a client nor its developer can see which method would work.',
    change: 'Send Allow with every 405, and name the methods of the path in it: Allow: GET, HEAD.',
    grounds: [rfc9110('15.5.6', 'MUST')],
    judge: ({ expect }) =>
      expect(everyReply)
        .where(({ status }) => status === 405, 'no request was answered 405')
        .toHaveField('Allow'),
  }),

  // RFC 9110 §10.2.1: Allow is the set of methods that the resource supports.
  check('status.allow-true', {
    title: 'does not name the refused method among the allowed ones',
    headline: 'A 405 lists the very method that it refuses: {got}',
    why: 'The client is told to try again what was just refused.',
    change: 'Build Allow from the methods of the path instead of a fixed list.',
    grounds: [rfc9110('10.2.1', 'SHOULD')],
    judge: ({ expect }) =>
      expect(everyReply)
        .where(
          ({ status, response }) => status === 405 && response.has('allow'),
          'no request was answered 405 with Allow',
        )
        .toConform('Allow without the refused method', ({ response }) =>
          response.allow.includes(response.request.method) ? `Allow: ${response.field('allow')}` : null,
        ),
  }),

  // RFC 9110 §9.1: a general-purpose server supports GET and HEAD.
  check('status.head', {
    title: 'serves HEAD where it serves GET',
    headline: 'HEAD gets {answer} where GET is served',
    why: 'Monitors, caches and link checkers use HEAD, and take the service for broken.',
    change: 'Answer HEAD like GET, with the same status and headers and no body.',
    grounds: [rfc9110('9.1', 'SHOULD')],
    async judge({ probe, expect }) {
      const { status } = (await probe(sample)).response;
      await expect(target.headSample).toHaveStatus(status);
    },
  }),

  // RFC 9110 §9.3.2: no content in a response to HEAD.
  check('status.head-no-content', {
    title: 'sends no body in answer to HEAD',
    headline: 'The response to HEAD has a body',
    why: 'The client takes the body for the beginning of the next response on the connection.',
    change: 'Send the headers alone in answer to HEAD.',
    grounds: [rfc9110('9.3.2', 'MUST')],
    judge: ({ expect }) =>
      expect(target.headSample).toConform('nothing after the header section', (reply) =>
        reply.framingFault('no-content'),
      ),
  }),

  // RFC 9110 §9.3.2: the same header fields as for GET, but for those that only the content yields.
  check('status.head-equals-get', {
    title: 'answers HEAD with the headers of GET',
    headline: 'HEAD and GET have different headers: {got}',
    why: 'Caches update what they hold by HEAD, and clients plan downloads by it.',
    change: 'Let the same code write the headers of HEAD and GET.',
    grounds: [rfc9110('9.3.2', 'SHOULD')],
    async judge({ probe, expect }) {
      const get = (await probe(sample)).response;
      const again = (await probe(sampleAgain)).response;
      // A clock or a counter in the content has another length the next time.
      const isStill = get.unread === null && Buffer.compare(get.content, again.content) === 0;
      await expect(target.headSample)
        .where(({ served }) => served, 'HEAD is not served')
        .toConform('the fields of GET', ({ response }) => {
          const other = SAME_FOR_HEAD.find((name) => response.field(name) !== get.field(name));
          if (other !== undefined) {
            return `${other} ${response.field(other) ?? 'absent'} where GET has ${get.field(other) ?? 'none'}`;
          }
          const length = response.field('content-length');
          return length === undefined || !isStill || length === String(get.bodyLength)
            ? null
            : `Content-Length ${length} where GET has ${get.bodyLength} octets`;
        });
    },
  }),

  // RFC 9110 §15.3.5 and §15.4.5: a 204 and a 304 end with their header section.
  check('status.no-content', {
    title: 'sends no body with 204 and 304',
    headline: 'A 204 or 304 comes with {got}',
    why: 'Clients stop reading after the headers, and take the rest for the next response.',
    change: 'Send no body with 204 and 304, and no Content-Length with 204.',
    grounds: [rfc9110('15.3.5', 'MUST'), rfc9110('15.4.5', 'MUST')],
    judge: ({ expect }) =>
      expect(target.optionsSample, target.conditional)
        .where(({ status }) => status === 204 || status === 304, 'no request was answered 204 or 304')
        .toConform(
          'neither content nor its length',
          (reply) => reply.framingFault('no-content') ?? reply.framingFault('lines'),
        ),
  }),

  // Browsers ask with OPTIONS before they send a credential.
  check('status.options', {
    title: 'does not fail on OPTIONS',
    headline: 'OPTIONS gets {answer}',
    why: 'Browsers ask with OPTIONS before a page may call the API. Without an answer the call never happens.',
    change: 'Answer OPTIONS with 200 or 204 and an Allow header.',
    grounds: [practice('orderly answers')],
    judge: ({ expect }) => expect(target.optionsSample).toBeHandled(),
  }),
];
