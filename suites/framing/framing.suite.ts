import {
  type CheckDefinition,
  check,
  clause,
  type Ground,
  observation,
  type Probe,
  type Reply,
  rfc9112,
  suite,
} from '../../harness/check/suite.ts';
import { rawSample } from '../../harness/probe/request/sample.ts';
import * as target from '../../harness/probe/request/target.ts';
import { noErrorInSuccess } from '../status/documented-answer.ts';
import { messages } from './messages.ts';

interface Smuggled {
  readonly id: string;
  /** Completes "refuses … with 400". */
  readonly what: string;
  readonly ground: Ground;
  readonly probe: Probe<Reply>;
}

/** A request that a proxy on the way reads as another one. */
const refuses = ({ id, what, ground, probe }: Smuggled): CheckDefinition =>
  check(id, {
    title: `refuses ${what} with 400`,
    grounds: [ground],
    restsOn: [noErrorInSuccess],
    judge: ({ expect }) => expect(probe).toHaveStatus(400),
  });

/** Where a message ends, and what was done to its content on the way: read octet by octet. */
export const framing = suite('framing', 'Framing', [
  ...messages,

  // endpoint.response-fields do not show how content travels.
  observation('framing.transfer', {
    title: 'delimits and compresses its content in some way',
    grounds: [clause('endpoint.response-fields')],
    records: 'responses.transfer',
    async observe({ probe }) {
      const { response } = await probe(rawSample);
      const declared = response.has('content-length') ? 'Content-Length' : 'close';
      const delimiter = response.has('transfer-encoding') ? 'chunks' : declared;
      const gzip = (await probe(target.gzipAccepted)).response;
      const coding = gzip.field('content-encoding') ?? 'identity';
      const persistent = gzip.field('connection')?.toLowerCase() !== 'close';
      return {
        seen: { delimiter, coding, persistent },
        note: `${delimiter}; ${coding} where gzip is accepted; connections ${persistent ? 'persist' : 'close'}`,
      };
    },
  }),

  // RFC 9112 §5.1: whoever reads the name otherwise than a proxy before it is fooled.
  refuses({
    id: 'framing.spaced-field-name',
    what: 'a space between a field name and its colon',
    ground: rfc9112('5.1', 'MUST'),
    probe: target.spacedFieldName,
  }),

  // RFC 9112 §3.2: 400 for a request that lacks Host or has several; whoever heeds another one than a cache did is fooled.
  refuses({
    id: 'framing.missing-host',
    what: 'a request without Host',
    ground: rfc9112('3.2', 'MUST'),
    probe: target.withoutHost,
  }),
  refuses({
    id: 'framing.two-hosts',
    what: 'a request with two Host fields',
    ground: rfc9112('3.2', 'MUST'),
    probe: target.twoHosts,
  }),
]);
