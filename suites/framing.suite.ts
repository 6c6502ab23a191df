import {
  type CheckDefinition,
  check,
  clause,
  FRAMED,
  type Ground,
  observation,
  type Probe,
  type Reply,
  rfc9110,
  rfc9112,
  suite,
} from '../harness/check/suite.ts';
import { rawReplies } from '../harness/probe/every-reply.ts';
import { rawSample } from '../harness/probe/request/sample.ts';
import * as target from '../harness/probe/request/target.ts';

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
    judge: ({ expect }) => expect(probe).toHaveStatus(400),
  });

/** Where a message ends, and what was done to its content on the way: read octet by octet. */
export const framing = suite('framing', 'Framing', [
  // RFC 9110 §8.6: Content-Length is the number of octets that follow.
  check('framing.content-length', {
    title: 'sends as many octets as Content-Length says',
    grounds: [rfc9110('8.6', 'MUST')],
    judge: ({ expect }) =>
      expect(rawReplies).toConform(
        'the octets that Content-Length declares',
        (reply) => reply.framingFault('length'),
        FRAMED,
      ),
  }),

  // RFC 9112 §7.1: the size of each chunk in hexadecimal, its octets, and a last one of size 0.
  check('framing.chunks', {
    title: 'sends well-formed chunks where it sends chunks',
    grounds: [rfc9112('7.1', 'MUST')],
    judge: ({ expect }) =>
      expect(rawReplies).toConform('well-formed chunks', (reply) => reply.framingFault('chunks'), FRAMED),
  }),

  // RFC 9112 §2.1 and §6.3: lines end with CRLF, and nothing follows the message.
  check('framing.one-message', {
    title: 'sends one well-formed message and nothing else',
    grounds: [rfc9112('6.3', 'MUST'), rfc9112('2.1', 'MUST')],
    judge: ({ expect }) =>
      expect(rawReplies).toConform(
        'one message framed by RFC 9112',
        (reply) => {
          const others = ['length', 'chunks', 'no-content'] as const;
          const isNamed = others.some((matter) => reply.framingFault(matter) !== null);
          const failure = isNamed || reply.cut ? null : reply.exchange.failure;
          return reply.framingFault('lines') ?? failure?.message ?? null;
        },
        FRAMED,
      ),
  }),

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
