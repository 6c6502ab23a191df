import { type CheckDefinition, check } from '../../harness/check/check.ts';
import { framingFault } from '../../harness/check/framing.ts';
import { unsafeMethods } from '../../harness/check/requirement.ts';
import { clause, practice, rfc9110 } from '../../harness/contract/ground.ts';
import { everyReply } from '../../harness/probe/gathered.ts';
import { sample } from '../../harness/probe/request/sample.ts';
import * as target from '../../harness/probe/request/target.ts';

/** What does not depend on content that is only generated for GET, and is the same from one request to the next. */
const SAME_FOR_HEAD = ['Content-Type', 'Content-Language', 'Cache-Control', 'Vary'] as const;

/** Other methods than the documented one. */
export const methods: readonly CheckDefinition[] = [
  // RFC 9110 §9.1: 501 for a method that is not implemented, 405 for one that is not allowed here.
  check(
    'status.unknown-method',
    {
      title: 'refuses a method that nobody has registered',
      grounds: [rfc9110('9.1', 'SHOULD')],
      provenBy: ['unknown-method-500', 'unknown-method-served'],
    },
    async ({ probe, expect }) => {
      expect(await probe(target.unknownMethod)).toHaveStatus(400, 403, 404, 405, 501);
    },
  ),

  // Whether DELETE is offered is not shown: it may succeed where the service says that it does.
  check(
    'status.unserved-method',
    {
      title: 'refuses a method that it does not offer with a client error or 501',
      grounds: [clause('responses.status-codes'), rfc9110('9.1', 'SHOULD')],
      applies: [unsafeMethods],
      provenBy: ['unserved-method-500', 'method-not-allowed-200'],
    },
    async ({ probe, expect, notApplicable }) => {
      const reply = await probe(target.deleteSample);
      const { allow } = (await probe(target.optionsSample)).response;
      if (reply.served && (allow.length === 0 || allow.includes('DELETE'))) {
        return notApplicable('DELETE is served here, and nothing says that it is not offered');
      }
      expect(reply).toConform('a client error or 501', ({ response: { status, statusClass } }) =>
        statusClass === 4 || status === 501 ? null : `status ${status}`,
      );
    },
  ),

  // RFC 9110 §15.5.6: the origin server generates Allow in a 405 response.
  check(
    'status.allow',
    {
      title: 'names the allowed methods in every 405',
      grounds: [rfc9110('15.5.6', 'MUST')],
      provenBy: ['method-not-allowed-without-allow'],
    },
    async ({ probe, expect, notApplicable }) => {
      const refused = (await probe(everyReply)).filter(({ exchange }) => exchange.response?.status === 405);
      if (refused.length === 0) return notApplicable('no request was answered 405');
      expect(...refused).toHaveField('Allow');
    },
  ),

  // RFC 9110 §10.2.1: Allow is the set of methods that the resource supports.
  check(
    'status.allow-true',
    {
      title: 'does not name the refused method among the allowed ones',
      grounds: [rfc9110('10.2.1', 'SHOULD')],
      provenBy: ['allow-lists-refused-method'],
    },
    async ({ probe, expect, notApplicable }) => {
      const refused = (await probe(everyReply)).filter(
        ({ exchange, response }) => exchange.response?.status === 405 && response.has('allow'),
      );
      if (refused.length === 0) return notApplicable('no request was answered 405 with Allow');
      expect(...refused).toConform('Allow without the refused method', ({ response }) =>
        response.allow.includes(response.request.method) ? `Allow: ${response.field('allow')}` : null,
      );
    },
  ),

  // RFC 9110 §9.1: a general-purpose server supports GET and HEAD.
  check(
    'status.head',
    {
      title: 'serves HEAD where it serves GET',
      grounds: [rfc9110('9.1', 'SHOULD')],
      provenBy: ['head-is-405'],
    },
    async ({ probe, expect }) => {
      const { status } = (await probe(sample)).response;
      expect(await probe(target.headSample)).toHaveStatus(status);
    },
  ),

  // RFC 9110 §9.3.2: no content in a response to HEAD.
  check(
    'status.head-no-content',
    {
      title: 'sends no content in answer to HEAD',
      grounds: [rfc9110('9.3.2', 'MUST')],
      provenBy: ['head-with-body'],
    },
    async ({ probe, expect }) => {
      expect(await probe(target.headSample)).toConform('nothing after the header section', (reply) =>
        framingFault(reply, 'no-content'),
      );
    },
  ),

  // RFC 9110 §9.3.2: the same header fields as for GET, but for those that only the content yields.
  check(
    'status.head-equals-get',
    {
      title: 'answers HEAD with the header fields of GET',
      grounds: [rfc9110('9.3.2', 'SHOULD')],
      provenBy: ['head-differs', 'head-lacks-fields'],
    },
    async ({ probe, expect, notApplicable }) => {
      const get = (await probe(sample)).response;
      const head = await probe(target.headSample);
      if (!head.served) return notApplicable('HEAD is not served');
      expect(head).toConform('the fields of GET', ({ response }) => {
        const other = SAME_FOR_HEAD.find((name) => response.field(name) !== get.field(name));
        if (other !== undefined) {
          return `${other} ${response.field(other) ?? 'absent'} where GET has ${get.field(other) ?? 'none'}`;
        }
        const length = response.field('content-length');
        return length === undefined || get.unread !== null || length === String(get.bodyLength)
          ? null
          : `Content-Length ${length} where GET has ${get.bodyLength} octets`;
      });
    },
  ),

  // RFC 9110 §15.3.5 and §15.4.5: a 204 and a 304 end with their header section.
  check(
    'status.no-content',
    {
      title: 'sends no content with 204 and 304',
      grounds: [rfc9110('15.3.5', 'MUST'), rfc9110('15.4.5', 'MUST')],
      provenBy: ['no-content-with-content', 'not-modified-with-content'],
    },
    async ({ probe, expect, notApplicable }) => {
      const replies = [await probe(target.optionsSample), await probe(target.conditional)];
      const empty = replies.filter(({ exchange }) => [204, 304].includes(exchange.response?.status ?? 0));
      if (empty.length === 0) return notApplicable('no request was answered 204 or 304');
      expect(...empty).toConform(
        'neither content nor its length',
        (reply) => framingFault(reply, 'no-content') ?? framingFault(reply, 'lines'),
      );
    },
  ),

  check(
    'status.options',
    {
      title: 'does not fail on OPTIONS',
      grounds: [practice('orderly answers')],
      provenBy: ['options-500'],
    },
    async ({ probe, expect }) => {
      expect(await probe(target.optionsSample)).toBeHandled();
    },
  ),
];
