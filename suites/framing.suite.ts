import { type CheckDefinition, check, observation, suite } from '../harness/check/check.ts';
import { framingFault } from '../harness/check/framing.ts';
import { FRAMED } from '../harness/check/reading.ts';
import { clause, rfc9110, rfc9112 } from '../harness/contract/ground.ts';
import type { Reply } from '../harness/evidence/exchange/reply.ts';
import { rawReplies } from '../harness/probe/gathered.ts';
import { rawSample } from '../harness/probe/request/sample.ts';
import * as target from '../harness/probe/request/target.ts';
import type { Probe } from '../harness/session.ts';

/** Where a message ends, and what was done to its content on the way: read octet by octet. */
export const framing = suite('framing', 'Framing', [
  // RFC 9110 §8.6: Content-Length is the number of octets that follow.
  check(
    'framing.content-length',
    {
      title: 'sends as many octets as Content-Length says',
      grounds: [rfc9110('8.6', 'MUST')],
      provenBy: ['content-length-too-long'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(rawReplies))).toConform(
        'the octets that Content-Length declares',
        (reply) => framingFault(reply, 'length'),
        FRAMED,
      );
    },
  ),

  // RFC 9112 §7.1: the size of each chunk in hexadecimal, its octets, and a last one of size 0.
  check(
    'framing.chunks',
    {
      title: 'sends well-formed chunks where it sends chunks',
      grounds: [rfc9112('7.1', 'MUST')],
      provenBy: ['bad-chunk-size'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(rawReplies))).toConform(
        'well-formed chunks',
        (reply) => framingFault(reply, 'chunks'),
        FRAMED,
      );
    },
  ),

  // RFC 9112 §2.1 and §6.3: lines end with CRLF, and nothing follows the message.
  check(
    'framing.one-message',
    {
      title: 'sends one well-formed message and nothing else',
      grounds: [rfc9112('6.3', 'MUST'), rfc9112('2.1', 'MUST')],
      provenBy: ['bytes-after-body', 'bare-line-feeds', 'content-length-too-short'],
    },
    async ({ probe, expect }) => {
      expect(...(await probe(rawReplies))).toConform(
        'one message framed by RFC 9112',
        (reply) => {
          const named = (['length', 'chunks', 'no-content'] as const).some(
            (matter) => framingFault(reply, matter) !== null,
          );
          const failure = named || reply.cut ? null : reply.exchange.failure;
          return framingFault(reply, 'lines') ?? failure?.message ?? null;
        },
        FRAMED,
      );
    },
  ),

  observation(
    'framing.transfer',
    {
      title: 'delimits and compresses its content in some way',
      grounds: [clause('endpoint.response-fields')],
      shownBy: ['chunked-body', 'gzip-when-accepted', 'closes-connections'],
    },
    async ({ probe, observe, note }) => {
      const { response } = await probe(rawSample);
      const chunked = response.field('transfer-encoding') !== undefined;
      const delimiter = chunked ? 'chunks' : response.has('content-length') ? 'Content-Length' : 'close';
      const gzip = (await probe(target.gzipAccepted)).response;
      const coding = gzip.field('content-encoding') ?? 'identity';
      const persistent = gzip.field('connection')?.toLowerCase() !== 'close';
      observe('responses.transfer', { delimiter, coding, persistent });
      note(`${delimiter}; ${coding} where gzip is accepted; connections ${persistent ? 'persist' : 'close'}`);
    },
  ),

  // RFC 9112 §5.1: whoever reads the name otherwise than a proxy before it is fooled.
  check(
    'framing.spaced-field-name',
    {
      title: 'refuses a space between a field name and its colon with 400',
      grounds: [rfc9112('5.1', 'MUST')],
      provenBy: ['accepts-spaced-field-name'],
    },
    async ({ probe, expect }) => {
      expect(await probe(target.spacedFieldName)).toHaveStatus(400);
    },
  ),

  // RFC 9112 §3.2: 400 for a request that lacks Host or has several; whoever heeds another one than a cache did is fooled.
  refusesHost('framing.missing-host', 'a request without Host', target.withoutHost, ['accepts-missing-host']),
  refusesHost('framing.two-hosts', 'a request with two Host fields', target.twoHosts, ['accepts-two-hosts']),
]);

function refusesHost(
  id: string,
  what: string,
  stimulus: Probe<Reply>,
  provenBy: readonly [string, ...string[]],
): CheckDefinition {
  return check(
    id,
    { title: `refuses ${what} with 400`, grounds: [rfc9112('3.2', 'MUST')], provenBy },
    async ({ probe, expect }) => {
      expect(await probe(stimulus)).toHaveStatus(400);
    },
  );
}
