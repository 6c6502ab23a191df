import {
  type CheckContext,
  capitalized,
  check,
  type Ground,
  type Probe,
  practice,
  type Reply,
  rfc9110,
  rfc9112,
} from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { noErrorInSuccess, stable } from '../status/documented-answer.ts';
import { oldVersionAlone, sampleOnKept } from '../stimuli/sample.ts';
import { oneResponse } from './messages.ts';
import type { Pair } from './stimuli/connection.ts';
import * as connection from './stimuli/connection.ts';

/** Ends a check of a rule that HTTP/1.0 does not have, if the service has no other version (RFC 9110 §6.2, RFC 1945). */
export async function speaksHttp11({ probe, notApplicable }: CheckContext): Promise<void> {
  const isOldAlone = await probe(oldVersionAlone);
  if (isOldAlone()) notApplicable('every answer of the service is in HTTP/1.0, which has no such rule');
}

/** `status 200 and status 401`, as they came. */
function answers({ statuses }: Pick<Reply, 'statuses'>): string {
  return statuses.length === 0 ? 'no response' : statuses.map((status) => `status ${status}`).join(' and ');
}

const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

/** Octets on a connection that should have ended. */
function goingOn(reply: Reply): string | null {
  if (reply.answersAnother) return `${answers(reply)} on one connection`;
  return reply.staysOpen ? `${answers(reply)} and an open connection` : null;
}

interface Disputed {
  /** Completes "reads … as one request" and "… is read as two requests". */
  readonly what: string;
  readonly change: string;
  readonly ground: Ground;
  /** The connection must end behind the response as well. */
  readonly closes?: true;
}

const HIDES =
  'An attacker can hide a request in another one, past a proxy and its rules, and answer other users with it.';

/** A message of which a proxy on the way may think that it ends elsewhere: nothing of it is another request. */
const oneRequest = (
  id: string,
  probe: Probe<Reply> | Probe<readonly Reply[]>,
  { what, ground, change, closes }: Disputed,
) =>
  check(id, {
    title: closes ? `ends the connection after ${what}` : `takes ${what} for one request`,
    headline: closes
      ? `The connection is kept after ${what}: {got}`
      : `${capitalized(what)} is taken for two requests: {got}`,
    why: HIDES,
    change,
    grounds: [ground],
    uses: [probe],
    judge: ({ expect }) =>
      expect().toConform(
        closes ? 'one response at most and the end of the connection' : 'one response at most',
        (reply) => (reply.answersAnother || closes ? goingOn(reply) : null),
      ),
  });

interface Refused extends Omit<Disputed, 'closes'> {
  readonly why: string;
  readonly statuses: readonly [number, ...number[]];
}

/** Refused, and nothing more is read of the connection. */
const refusedAndClosed = (
  id: string,
  probe: Probe<Reply>,
  { what, ground, change, why, statuses }: Refused,
) =>
  check(id, {
    title: `answers ${what} with ${statuses.join(' or ')} and ends the connection`,
    headline: `${capitalized(what)} gets {answer}`,
    why,
    change,
    grounds: [ground],
    restsOn: [noErrorInSuccess],
    uses: [oldVersionAlone, probe],
    async judge(context) {
      await speaksHttp11(context);
      await context
        .expect(probe)
        .toConform(`status ${statuses.join(' or ')} and the end of the connection`, (reply) => {
          const { statuses: got, staysOpen } = reply;
          if (got.length !== 1 || !statuses.includes(reply.response.status)) return answers(reply);
          return staysOpen ? `${answers(reply)} and an open connection` : null;
        });
    },
  });

/** Some refuse it as unsupported: the other status does no harm. */
const REFUSES_CODING: readonly number[] = [400, 411, 415, 422, 501];

// RFC 9112 §9.3: an open connection takes further requests.
export const nextRequest = check('framing.next-request', {
  title: 'answers the next request on a connection that it keeps',
  headline: 'The second request on a connection is not served: {got}',
  why: 'Most clients keep connections, so their calls fail now and then while single calls work.',
  change:
    'Read each request to its end before the next one, or send Connection: close and close the connection.',
  grounds: [rfc9112('9.3', 'SHOULD')],
  restsOn: [oneResponse, stable],
  uses: [sampleOnKept],
  judge: ({ expect }) =>
    expect().toConform(
      'the request to be served as on a connection of its own',
      ({ answered, served, status, exchange }) =>
        served ? null : answered ? `status ${status}` : (exchange.failure?.message ?? 'no response'),
    ),
});

// RFC 9112 §9.3.2: the responses come in the order of the requests. To answer one and to close is lawful.
const pipelining = check('framing.pipelining', {
  title: 'answers two requests that come at once in their order',
  headline: 'Two requests that come at once do not get their answers in order: {got}',
  why: 'A client or a proxy takes the answer to one request for that to another one.',
  change: 'Read the next request of a connection only when the answer to the one before is written.',
  grounds: [rfc9112('9.3.2', 'MUST')],
  restsOn: [stable],
  uses: [connection.pipelined],
  judge: ({ expect }) =>
    expect().toConform('the answers in order', ({ served, statuses, alone, staysOpen }) => {
      const [, second, ...others] = statuses;
      if (!served) return answers({ statuses });
      if (second === undefined) return staysOpen ? 'only the first, on an open connection' : null;
      // What a credential opens is judged by itself.
      const isOrderly = others.length === 0 && (second === alone || isSuccess(second));
      return isOrderly ? null : answers({ statuses });
    }),
});

interface ReadContent extends RowNotes<'title' | 'headline'> {
  readonly ground: Ground;
}

/** The content belongs to the request: what is behind it is the next one. */
const readsContent = (id: string, probe: Probe<Pair>, { ground, ...notes }: ReadContent) =>
  check(id, {
    ...notes,
    grounds: [ground],
    uses: [probe],
    judge: ({ expect }) =>
      expect().toConform(
        'its answer, and then that to the next request or the end of the connection',
        ({ statuses, alone, staysOpen }) => {
          const [first, second, ...others] = statuses;
          if (first === undefined) return 'no response';
          if (first >= 500 && first !== 501 && first !== alone) return answers({ statuses });
          if (second === undefined) return staysOpen ? 'only the first, on an open connection' : null;
          return others.length > 0 || second !== alone ? answers({ statuses }) : null;
        },
      ),
  });

// RFC 9112 §7.1 and §7.1.1: every recipient decodes chunks, and ignores extensions that it does not know.
export const chunkedRequest = readsContent('framing.chunked-request', connection.chunkedContent, {
  title: 'reads the content of a request in chunks to its end',
  headline: 'Content in chunks is not read to its end: {got}',
  why: 'The rest of it is read as the next request, which may belong to another user.',
  change: 'Read chunks with an HTTP library, or answer and close the connection.',
  ground: rfc9112('7.1', 'MUST'),
});

/** How connections are used and ended (RFC 9112 §9), and where messages end of which it can be disputed (§6). */
export const connections = [
  pipelining,

  // RFC 9110 §3.3: each request is understood by itself.
  check('framing.credential-per-request', {
    title: 'asks each request on a connection for its credential',
    headline: 'A request without a credential gets {got} behind one that has it',
    why: 'Proxies send the requests of many users over one connection, so one acts with the login of another.',
    change: 'Look for the credential in each request, and keep nothing of it with the connection.',
    grounds: [rfc9110('3.3', 'MUST')],
    restsOn: [pipelining],
    uses: [connection.pipelined],
    judge: ({ expect }) =>
      expect()
        .where(({ statuses }) => statuses.length > 1, 'no second request is answered on the connection')
        .toConform('the answer that it gets alone', ({ statuses: [, second], alone }) =>
          second !== undefined && isSuccess(second) && second !== alone ? `status ${second}` : null,
        ),
  }),

  chunkedRequest,

  // RFC 9110 §10.1.1: a final answer comes in any case, and content that was sent is read, or the connection ends.
  readsContent('framing.expected-content', connection.expectedContent, {
    title: 'reads content that comes along with Expect: 100-continue',
    headline: 'Content that comes along with Expect: 100-continue is not read to its end: {got}',
    why: 'curl sends its content after a second without an answer, and then hangs or gets the wrong one.',
    change: 'Answer 100 or a final status at once; read the content that comes, or close the connection.',
    ground: rfc9110('10.1.1', 'MUST'),
  }),

  // RFC 9112 §9.6: behind a request that says close nothing is processed, and the connection ends.
  check('framing.close-obeyed', {
    title: 'ends the connection after a request with Connection: close',
    headline: 'Connection: close in a request is not obeyed: {got}',
    why: 'Clients wait for the end of the connection, and idle connections pile up.',
    change: 'Answer such a request, read no more, and close the connection.',
    grounds: [rfc9112('9.6', 'MUST')],
    uses: [connection.closeAsked],
    judge: ({ expect }) => expect().toConform('one response and the end of the connection', goingOn),
  }),

  // RFC 9112 §9.3: who keeps no connections says so in each response. A single end may be an accident.
  check('framing.close-announced', {
    title: 'says Connection: close where it keeps no connections',
    headline: 'Connections end without a word after each response: {got}',
    why: 'Clients send the next request on a connection that is being closed, and lose it now and then.',
    change: 'Send Connection: close with the last response of a connection, or keep the connection.',
    grounds: [rfc9112('9.3', 'MUST')],
    uses: [connection.pipelined, connection.keptOpen],
    async judge({ probe, expect, notApplicable }) {
      const { statuses, staysOpen } = await probe(connection.pipelined);
      if (statuses.length > 1 || staysOpen) notApplicable('a second request on a connection is answered');
      await expect(connection.keptOpen)
        .where(({ status }) => status !== null)
        .toConform('Connection: close, or an open connection', (reply) =>
          reply.staysOpen || reply.response.announcesClose ? null : 'the end of the connection without it',
        );
    },
  }),

  // RFC 9112 §9.3: content is read to its end, or the connection is closed.
  oneRequest('framing.unread-content', connection.unreadContent, {
    what: 'a GET with content',
    change: 'Read the content of each request to its end, or close the connection after the answer.',
    ground: rfc9112('9.3', 'MUST'),
  }),
  // RFC 9112 §6.1: whichever of the two it goes by, it closes the connection afterwards.
  oneRequest('framing.both-lengths', connection.bothLengths, {
    what: 'a request with Content-Length and Transfer-Encoding',
    change: 'Answer 400 to such a request, and close the connection.',
    ground: rfc9112('6.1', 'MUST'),
    closes: true,
  }),
  // RFC 9112 §6.1: whose framing is faulty by definition.
  oneRequest('framing.old-chunks', connection.chunksInOldVersion, {
    what: 'an HTTP/1.0 request with Transfer-Encoding',
    change: 'Answer 400 to such a request, and close the connection.',
    ground: rfc9112('6.1', 'MUST'),
    closes: true,
  }),
  // RFC 9112 §2.2, §5.2: white space before a name and a bare CR begin no line; RFC 9110 §5.1: names have no other spelling.
  oneRequest('framing.hidden-field', connection.hiddenFields, {
    what: 'a request with a hidden Transfer-Encoding',
    change: 'Let lines end with CRLF alone, answer 400 to folded ones, and compare header names as they are.',
    ground: rfc9112('5.2', 'MUST'),
  }),
  // RFC 9112 §7.1: no overflow of numbers.
  oneRequest('framing.chunk-size-overflow', connection.overflowingChunk, {
    what: 'a chunk with a size beyond all numbers',
    change: 'Answer 400 where the size of a chunk does not fit into the number that holds it.',
    ground: rfc9112('7.1', 'MUST'),
  }),

  // RFC 9112 §6.3: the length of such messages cannot be known.
  refusedAndClosed('framing.differing-lengths', connection.differingLengths, {
    what: 'a request with two different Content-Length headers',
    why: HIDES,
    change: 'Answer 400 where Content-Length comes with different values, and close the connection.',
    ground: rfc9112('6.3', 'MUST'),
    statuses: [400],
  }),
  refusedAndClosed('framing.bad-length', connection.badLength, {
    what: 'a request whose Content-Length has a plus sign',
    why: HIDES,
    change: 'Answer 400 where Content-Length is anything but digits, and close the connection.',
    ground: rfc9112('6.3', 'MUST'),
    statuses: [400],
  }),
  refusedAndClosed('framing.chunked-not-last', connection.chunksNotLast, {
    what: 'a request in which chunked is not the last coding',
    why: HIDES,
    change: 'Answer 400 where Transfer-Encoding does not end with chunked, and close the connection.',
    ground: rfc9112('6.3', 'MUST'),
    // RFC 9112 §6.1: who does not know the other coding either may say so.
    statuses: [400, 501],
  }),
  // RFC 9112 §6.1: 501 for an unknown coding.
  check('framing.unknown-coding', {
    title: 'refuses a request in a transfer coding that it does not know',
    headline: 'A request in an unknown transfer coding gets {answer}',
    why: 'The service takes for content what it cannot read.',
    change: 'Answer 501 where Transfer-Encoding has a coding that you do not know.',
    grounds: [rfc9112('6.1', 'SHOULD')],
    restsOn: [noErrorInSuccess],
    uses: [oldVersionAlone, connection.unknownCoding],
    async judge(context) {
      await speaksHttp11(context);
      await context
        .expect(connection.unknownCoding)
        .toConform('a refusal with 501', ({ response: { status } }) =>
          REFUSES_CODING.includes(status) ? null : `status ${status}`,
        );
    },
  }),

  // RFC 9112 §6.1 and RFC 9110 §15.2: an HTTP/1.0 client knows neither.
  check('framing.old-client-transfer', {
    title: 'sends no chunks to an HTTP/1.0 client',
    headline: 'An HTTP/1.0 client gets Transfer-Encoding: {got}',
    why: 'Such a client takes the sizes of the chunks for content.',
    change: 'Send Content-Length to an HTTP/1.0 client, or end the body by closing the connection.',
    grounds: [rfc9112('6.1', 'MUST')],
    uses: [connection.oldClient],
    judge: ({ expect }) =>
      expect().toConform(
        'no Transfer-Encoding',
        ({ response }) => response.field('transfer-encoding') ?? null,
      ),
  }),
  check('framing.old-client-interim', {
    title: 'sends no interim response to an HTTP/1.0 client',
    headline: 'An HTTP/1.0 client gets an interim response: {got}',
    why: 'Such a client takes the interim response for the whole answer.',
    change: 'Ignore Expect in an HTTP/1.0 request.',
    grounds: [rfc9110('15.2', 'MUST')],
    uses: [connection.oldClient],
    judge: ({ expect }) =>
      expect().toConform('no interim response', ({ exchange }) => {
        const [interim] = exchange.response?.informational ?? [];
        return interim ? `status ${interim.status}` : null;
      }),
  }),
  // RFC 9112 §9.3: without keep-alive the connection closes after the response.
  check('framing.old-client-close', {
    title: 'ends the connection after the response to an HTTP/1.0 client',
    headline: 'The connection of an HTTP/1.0 client is kept: {got}',
    why: 'Such a client waits for the end of the connection, and hangs.',
    change: 'Close the connection after the response to HTTP/1.0, unless it was asked for with keep-alive.',
    grounds: [rfc9112('9.3', 'SHOULD')],
    uses: [connection.oldClient],
    judge: ({ expect }) =>
      expect()
        .where(({ status }) => status !== null)
        .toConform('the end of the connection', (reply) =>
          reply.staysOpen ? `${answers(reply)} and an open connection` : null,
        ),
  }),

  // RFC 9110 §7.8: an offer may be ignored, and clients make it with ordinary requests.
  check('framing.upgrade-offer', {
    title: 'serves a request that offers HTTP/2 by Upgrade',
    headline: 'A request that offers HTTP/2 by Upgrade gets {answer}',
    why: 'Some clients make this offer with each first request, and cannot use the service.',
    change: 'Ignore the Upgrade header of a request where you do not want to switch.',
    grounds: [practice('clients offer h2c')],
    uses: [connection.upgradeOffer],
    judge: ({ expect }) =>
      expect().toConform('an answer as without the offer, or 101', ({ status, served, exchange }) => {
        if (status === null) return exchange.failure?.message ?? 'no response';
        return status === 101 || served ? null : `status ${status}`;
      }),
  }),
  // RFC 9110 §7.8: a 101 names what it switches to, and that was offered.
  check('framing.upgrade-answer', {
    title: 'switches protocols only to one that was offered',
    headline: 'The service switches to a protocol that was not offered: {got}',
    why: 'The client cannot read a single byte of what follows.',
    change: 'Answer 101 with the offered protocol in Upgrade, or do not switch.',
    grounds: [rfc9110('7.8', 'MUST')],
    uses: [connection.upgradeOffer],
    judge: ({ expect }) =>
      expect()
        .where(({ status }) => status === 101, 'the offer is not taken')
        .toConform('Upgrade: h2c', ({ response }) => {
          const value = response.field('upgrade');
          return value?.toLowerCase() === 'h2c' ? null : (value ?? 'none');
        }),
  }),
];
