import {
  check,
  clause,
  clients,
  getDocumented,
  given,
  IN_CONTENT,
  practice,
  rfc,
  rfc9110,
  settled,
  unsafeMethods,
} from '../../harness/engine/check/suite.ts';
import { handles } from '../row.ts';
import { allowBesideServed, everyExchange, everyMessage } from '../stimuli/record.ts';
import { sample, sampleAgain, served } from '../stimuli/sample.ts';
import * as target from '../stimuli/target.ts';
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
  uses: [target.unknownMethod],
  judge: ({ expect }) => expect().toHaveStatus(400, 403, 404, 405, 501),
});

// RFC 9110 §10.2.1: a comma-separated list of methods, which are case-sensitive (§9.1).
const allowForm = check('status.allow-form', {
  title: 'writes Allow as a list of methods',
  headline: 'The Allow header is not a list of methods: {got}',
  why: 'Clients that read the header find no method in it that they know.',
  change: 'Write the methods in capitals with commas between them: Allow: GET, HEAD.',
  grounds: [rfc9110('10.2.1', 'MUST')],
  uses: [everyExchange],
  judge: ({ expect }) =>
    expect()
      .where(({ response }) => response.has('allow'), 'no response has Allow')
      .toConform('methods with commas between them', ({ response }) => response.allowFault),
});

// Whether PROPFIND is offered is not shown: it may succeed where the service says that it does.
const unservedMethod = check('status.unserved-method', {
  title: 'refuses a method that it does not offer with a 4xx status or 501',
  headline: 'PROPFIND, which is not offered, gets {answer}',
  why: 'The client believes that the call worked, or that the service is down.',
  change: 'Answer 405 with Allow to methods that a path does not offer.',
  grounds: [clause('responses.status-codes'), rfc9110('9.1', 'SHOULD')],
  applies: [unsafeMethods],
  restsOn: [noErrorInSuccess],
  uses: [target.unservedMethod, target.optionsSample],
  async judge({ probe, expect, notApplicable }) {
    const reply = await probe(target.unservedMethod);
    const { allow } = (await probe(target.optionsSample)).response;
    if (reply.served && (allow.length === 0 || allow.includes('PROPFIND')))
      notApplicable('PROPFIND is served here, and nothing says that it is not offered');
    await expect(reply).toConform('a client error or 501', ({ response: { status, statusClass } }) =>
      statusClass === 4 || status === 501 ? null : `status ${status}`,
    );
  },
});

const headHandled = handles('status.head-handled', target.headSample, {
  what: 'HEAD',
  why: 'Monitors, `curl -I` and link checkers take the service for down.',
  change: 'Answer HEAD like GET without the body, or refuse it with 405.',
  applies: [getDocumented],
  relied: clients('uptime monitors and wget --spider take a 5xx to HEAD for an outage'),
});

const postHandled = handles('status.post-handled', target.undocumentedPost, {
  what: 'a POST that it does not offer',
  why: 'Clients with a wrong address take the service for down, and send the same again.',
  change: 'Answer 405 with Allow to methods that a path does not offer.',
  applies: [unsafeMethods],
  repeats: [unservedMethod],
});

// RFC 9110 §10.2.1: the set of methods that the resource supports. What it has just served it supports.
const allowComplete = check('status.allow-complete', {
  title: 'names in Allow the method that it serves',
  headline: 'Allow leaves out the documented method: {got}',
  why: 'A client that follows Allow never makes the call that would work.',
  change: 'Build Allow from the methods that the path really has.',
  grounds: [rfc9110('10.2.1', 'SHOULD')],
  restsOn: [allowForm],
  uses: [served, target.optionsSample, target.unknownMethod],
  async judge({ probe, expect }) {
    const { method } = (await probe(served)).exchange.request;
    await expect(target.optionsSample, target.unknownMethod)
      .where(({ response }) => response.allow.length > 0, 'no response about the documented path has Allow')
      .toConform(`Allow with ${method}`, ({ response }) =>
        response.allow.includes(method) ? null : `Allow: ${response.field('allow')}`,
      );
  },
});

// RFC 9110 §9.3.1 and §9.3.3: GET retrieves, and POST has the content processed.
const postLikeGet = check('status.post-like-get', {
  title: 'does not answer POST like GET where POST is not offered',
  headline: 'POST, which is not offered, gets the answer of GET: {got}',
  why: 'A client that posts to a wrong address takes its data for stored.',
  change: 'Answer 405 with Allow to methods that a path does not offer.',
  grounds: [rfc9110('9.1', 'SHOULD'), practice('orderly answers')],
  applies: [unsafeMethods, getDocumented],
  restsOn: [unknownMethod, noErrorInSuccess, postHandled],
  uses: [sample, target.undocumentedPost],
  async judge({ probe, expect }) {
    const { response: documented } = await probe(sample);
    await expect(target.undocumentedPost).toConform(
      'another answer than that of GET',
      ({ served, status, response }) =>
        served && response.hasContentLike(documented) ? `status ${status}` : null,
      // A refusal is another answer, whatever it says.
      {
        ...IN_CONTENT,
        unread: (response, { served }) => (served ? (response.unread ?? documented.unread) : null),
      },
    );
  },
});

const changesHandled = handles('status.changes-handled', target.undocumentedChanges, {
  what: 'PUT, PATCH and DELETE where they are not offered',
  why: 'Clients with a wrong address take the service for down, and send the same again.',
  change: 'Answer 405 with Allow to methods that a path does not offer, and 404 where nothing is.',
  applies: [unsafeMethods],
  repeats: [unservedMethod, postHandled],
});

/** Other methods than the documented one. */
export const methods = [
  unknownMethod,

  unservedMethod,

  postHandled,

  postLikeGet,
  changesHandled,

  // RFC 9110 §9.3.4, §9.3.5, RFC 5789: each changes something.
  check('status.change-like-get', {
    title: 'does not answer PUT and PATCH like GET where they are not offered',
    headline: 'A change that is not offered gets the answer of GET: {got}',
    why: 'A client takes its change for stored.',
    change: 'Answer 405 with Allow to methods that a path does not offer.',
    grounds: [rfc9110('9.1', 'SHOULD'), practice('orderly answers')],
    applies: [unsafeMethods, getDocumented],
    restsOn: [unknownMethod, noErrorInSuccess, changesHandled, postLikeGet],
    uses: [sample, target.undocumentedChanges],
    async judge({ probe, expect }) {
      const { response: documented } = await probe(sample);
      await expect(target.undocumentedChanges).toConform(
        'another answer than that of GET',
        ({ served, status, response }) =>
          served && response.hasContentLike(documented)
            ? `status ${status} to ${response.request.method}`
            : null,
        {
          ...IN_CONTENT,
          unread: (response, { served }) => (served ? (response.unread ?? documented.unread) : null),
        },
      );
    },
  }),

  check('status.documented-method-refusal', {
    title: 'refuses a method that it does not offer with the documented status',
    headline: 'PROPFIND, which is not offered, gets {answer}, which is not what the documents say',
    why: 'Clients take it for another error than the documented one.',
    change: 'Answer with the status that errors.codes names for unservedMethod, or correct the documents.',
    grounds: [clause('errors.codes')],
    applies: [unsafeMethods, settled('errors.codes')],
    restsOn: [unservedMethod],
    uses: [target.unservedMethod],
    async judge({ probe, expect, documentedStatus, notApplicable }) {
      const wanted =
        documentedStatus('unservedMethod') ?? notApplicable('errors.codes names none for unservedMethod');
      const reply = await probe(target.unservedMethod);
      if (reply.served) notApplicable('PROPFIND is served here');
      // RFC 9110 §9.1: 501 where a server knows no such method for any path.
      await expect(reply).toHaveStatus(...wanted, 501);
    },
  }),

  // RFC 9110 §15.5.6: the origin server generates Allow in a 405 response.
  check('status.allow', {
    title: 'names the allowed methods in every 405',
    headline: 'A 405 has no Allow header',
    why: 'Neither a client nor its developer can see which method would work.',
    change: 'Send Allow with every 405, and name the methods of the path in it: Allow: GET, HEAD.',
    grounds: [rfc9110('15.5.6', 'MUST')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(
          // To TRACE proxies answer by themselves.
          ({ status, response }) => status === 405 && response.request.method !== 'TRACE',
          'no request was answered 405',
        )
        .toHaveField('Allow'),
  }),

  // RFC 9110 §10.2.1: Allow is the set of methods that the resource supports.
  check('status.allow-true', {
    title: 'does not name the refused method among the allowed ones',
    headline: 'A 405 lists the very method that it refuses: {got}',
    why: 'The client is invited to repeat a request that was just refused.',
    change: 'Build Allow from the methods of the path instead of a fixed list.',
    grounds: [rfc9110('10.2.1', 'SHOULD')],
    uses: [everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(
          ({ status, response }) => status === 405 && response.has('allow'),
          'no request was answered 405 with Allow',
        )
        .toConform('Allow without the refused method', ({ response }) =>
          response.allow.includes(response.request.method) ? `Allow: ${response.field('allow')}` : null,
        ),
  }),

  allowForm,

  allowComplete,

  // RFC 9110 §10.2.1: of each address, and by whatever request it was found out.
  check('status.allow-served', {
    title: 'names in Allow each method that it serves at the same address',
    headline: 'Allow leaves out a method that was served there: {got}',
    why: 'Clients and gateways that go by Allow never make calls that would work.',
    change: 'Build Allow from the methods that the path really has.',
    grounds: [rfc9110('10.2.1', 'SHOULD')],
    restsOn: [allowForm, allowComplete],
    uses: [everyExchange],
    async judge({ probe, expect }) {
      const pairs = allowBesideServed((await probe(everyExchange)).all);
      await expect
        .each(pairs, ({ allowing }) => allowing, 'no Allow is of an address at which something was served')
        .toConform('Allow with the methods that were served', ({ allowing: { response }, method }) =>
          response.allow.includes(method)
            ? null
            : `Allow: ${response.field('allow')} where ${method} was served`,
        );
    },
  }),

  // RFC 9110 §10.2.1: what Allow names is not refused as not allowed.
  check('status.allow-kept', {
    title: 'does not refuse the methods that OPTIONS names',
    headline: 'A method that OPTIONS names is refused: {got}',
    why: 'The client learns that a call works, and finds out that it does not.',
    change: 'Build the answer to OPTIONS from the methods that the path really has.',
    grounds: [rfc9110('10.2.1', 'SHOULD')],
    uses: [target.optionsSample, target.otherMethods],
    async judge({ probe, expect, notApplicable }) {
      const { allow } = (await probe(target.optionsSample)).response;
      const named = (await probe(target.otherMethods)).filter(({ exchange }) =>
        allow.includes(exchange.request.method),
      );
      if (named.length === 0) notApplicable('OPTIONS names none of the methods that were sent');
      await expect(named).toConform('a method that is allowed', ({ response }) =>
        response.status === 405 || response.status === 501
          ? `status ${response.status} to ${response.request.method}`
          : null,
      );
    },
  }),

  // RFC 9110 §9.3.7: about the server as a whole, and no path of the service.
  handles('status.options-server', target.optionsOfServer, {
    what: 'OPTIONS for the whole server (OPTIONS *)',
    why: 'Proxies and monitors use it as a ping, and take a failure for an outage.',
    change: 'Answer OPTIONS * with 200 or 204, or refuse it with 400, 404 or 405.',
  }),

  // RFC 9110 §9.3.1: content in a GET has no meaning; it may be refused, and nothing may break.
  ...given(
    [getDocumented],
    [
      handles('status.get-body', target.getWithContent, {
        what: 'a GET with a body',
        why: 'Some libraries send an empty JSON object with every request, and proxies pass it on.',
        change: 'Read and ignore the body of a GET, or refuse it with 400 or 413.',
      }),
    ],
  ),

  // RFC 10008 §3.
  check('status.accept-query', {
    title: 'writes Accept-Query as a list of media types',
    headline: 'The Accept-Query header is not a list of media types: {got}',
    why: 'Clients cannot learn from it what they may send with QUERY.',
    change: 'Write it as a structured list: Accept-Query: application/json, "application/sql".',
    grounds: [rfc(10008, '3', 'MUST')],
    uses: [target.optionsSample, everyExchange],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('accept-query'), 'no response has Accept-Query')
        .toConform('a list of media types', ({ response }) => response.acceptQueryFault),
  }),

  // RFC 10008 §2: the request fails where Content-Type is missing, or does not fit the content.
  check('status.query-type', {
    title: 'refuses QUERY with content of no type or an unknown one',
    headline: 'QUERY with content of no known type gets {answer}',
    why: 'The service guesses the meaning, and two services guess differently.',
    change: 'Answer 400 where Content-Type is missing, and 415 with Accept-Query where you do not know it.',
    grounds: [rfc(10008, '2', 'MUST')],
    uses: [target.queryWithoutType, target.queryOfUnknownType],
    judge: ({ expect }) => expect().toHaveStatusClass(4),
  }),

  headHandled,

  // RFC 9110 §9.1: a general-purpose server supports GET and HEAD.
  check('status.head', {
    title: 'serves HEAD where it serves GET',
    headline: 'HEAD gets {answer} where GET is served',
    why: 'Monitors, caches and link checkers use HEAD, and take the service for broken.',
    change: 'Answer HEAD like GET, with the same status and headers and no body.',
    grounds: [rfc9110('9.1', 'SHOULD')],
    applies: [getDocumented],
    restsOn: [headHandled],
    uses: [sample, target.headSample],
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
    uses: [target.headSample, everyMessage],
    judge: ({ expect }) =>
      expect()
        .where(({ exchange }) => exchange.request.method === 'HEAD')
        .toConform('nothing after the header section', (reply) => reply.framingFault('no-content')),
  }),

  // RFC 9110 §9.3.2: the same header fields as for GET, but for those that only the content yields.
  check('status.head-equals-get', {
    title: 'answers HEAD with the headers of GET',
    headline: 'HEAD and GET have different headers: {got}',
    why: 'Caches update what they hold by HEAD, and clients plan downloads by it.',
    change: 'Let the same code write the headers of HEAD and GET.',
    grounds: [rfc9110('9.3.2', 'SHOULD')],
    applies: [getDocumented],
    uses: [sample, sampleAgain, target.headSample],
    async judge({ probe, expect }) {
      const documented = await probe(sample);
      const get = documented.response;
      // A clock or a counter in the content has another length the next time.
      const isStill = documented.hasSameContentAs(await probe(sampleAgain)) && get.unread === null;
      await expect(target.headSample)
        .where(({ served }) => served, 'HEAD is not served')
        .toConform('the fields of GET', ({ response }) => {
          const other = SAME_FOR_HEAD.find((name) => response.field(name) !== get.field(name));
          if (other !== undefined)
            return `${other} ${response.field(other) ?? 'absent'} where GET has ${get.field(other) ?? 'none'}`;
          const length = response.field('content-length');
          return length === undefined || !isStill || Number(length) === get.bodyLength
            ? null
            : `Content-Length ${length} where GET has ${get.bodyLength} octets`;
        });
      const isCompared = (await probe(target.headSample)).response.has('content-length');
      if (isCompared)
        await expect(sample, sampleAgain)
          .where(({ served }) => served)
          .toBeRead('the length of GET', IN_CONTENT);
    },
  }),

  // RFC 9110 §15.3.5 and §15.4.5: a 204 and a 304 end with their header section.
  check('status.no-content', {
    title: 'sends no body with 204 and 304',
    headline: 'A 204 or 304 comes with {got}',
    why: 'Clients stop reading after the headers, and take the rest for the next response.',
    change: 'Send no body with 204 and 304, and no Content-Length with 204.',
    grounds: [rfc9110('15.3.5', 'MUST'), rfc9110('15.4.5', 'MUST')],
    uses: [target.optionsSample, target.conditional, everyMessage],
    judge: ({ expect }) =>
      expect()
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
    uses: [target.optionsSample],
    judge: ({ expect }) => expect().toBeHandled(),
  }),
];
