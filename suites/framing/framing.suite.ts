import {
  capitalized,
  check,
  clause,
  type Ground,
  observation,
  type Probe,
  type Reply,
  rfc9112,
  suite,
} from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { noErrorInSuccess } from '../status/documented-answer.ts';
import { oldVersionAlone, rawSample } from '../stimuli/sample.ts';
import * as target from '../stimuli/target.ts';
import { connections, nextRequest, speaksHttp11 } from './connections.ts';
import { messages, oneResponse } from './messages.ts';
import { spellings } from './spellings.ts';

interface Smuggled extends RowNotes {
  /** Completes "answers … with 400", and with a capital letter "… gets status 200". */
  readonly what: string;
  readonly ground: Ground;
}

/** A request that a proxy on the way reads as another one. */
const refuses = (id: string, probe: Probe<Reply>, { what, ground, ...notes }: Smuggled) =>
  check(id, {
    ...notes,
    title: `answers ${what} with 400`,
    headline: `${capitalized(what)} gets {answer}`,
    grounds: [ground],
    restsOn: [noErrorInSuccess],
    uses: [oldVersionAlone, probe],
    async judge(context) {
      await speaksHttp11(context);
      await context.expect(probe).toHaveStatus(400);
    },
  });

// RFC 9112 §3.2: 400 for a request that lacks Host or has several; a server and a cache could choose different ones.
export const missingHost = refuses('framing.missing-host', target.withoutHost, {
  what: 'a request without Host',
  why: 'Without Host it is open which site was meant, and a cache may store the answer for another one.',
  change: 'Answer 400 where Host is missing.',
  ground: rfc9112('3.2', 'MUST'),
});

/** The end of a message, and the codings of its content: read octet by octet. */
export const framing = suite('framing', 'Framing', [
  ...messages,
  oneResponse,
  nextRequest,

  // endpoint.response-fields do not show how content travels.
  observation('framing.transfer', {
    title: 'marks the end of its bodies, and compresses them, in some way',
    why: 'It is what clients and proxies in between have to handle.',
    grounds: [clause('endpoint.response-fields')],
    records: 'responses.transfer',
    uses: [rawSample, target.gzipAccepted],
    async observe({ probe }) {
      const { response } = await probe(rawSample);
      const declared = response.has('content-length') ? 'Content-Length' : 'close';
      const delimiter = response.has('transfer-encoding') ? 'chunks' : declared;
      const gzip = (await probe(target.gzipAccepted)).response;
      const coding = gzip.field('content-encoding') ?? 'identity';
      const persistent = !gzip.announcesClose;
      return {
        seen: { delimiter, coding, persistent },
        note: `${delimiter}; ${coding} where gzip is accepted; connections ${persistent ? 'persist' : 'close'}`,
      };
    },
  }),

  // RFC 9112 §5.1: a server and a proxy before it must read the same name.
  refuses('framing.spaced-field-name', target.spacedFieldName, {
    what: 'a space between a header name and its colon',
    why: 'A proxy may read the header in another way, and an attacker can hide a request from it.',
    change: 'Use an HTTP server that answers 400 to such a header, and update it.',
    ground: rfc9112('5.1', 'MUST'),
  }),

  missingHost,
  refuses('framing.two-hosts', target.twoHosts, {
    what: 'a request with two Host headers',
    why: 'A proxy and the service may take different ones, so rules of access are evaded.',
    change: 'Answer 400 where Host comes twice.',
    ground: rfc9112('3.2', 'MUST'),
  }),
  refuses('framing.invalid-host', target.invalidHost, {
    what: 'a request whose Host is no host',
    why: 'Its value gets into links and logs, and past rules that go by the host.',
    change: 'Answer 400 where Host is anything but a host and a port.',
    ground: rfc9112('3.2', 'MUST'),
  }),

  ...connections,
  ...spellings,
]);
