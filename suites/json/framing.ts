import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { framingFault } from '../../harness/check/framing.ts';
import { clause, rfc9110, rfc9112 } from '../../harness/contract/ground.ts';
import { rawSample } from '../../harness/probe/sample.ts';
import * as target from '../../harness/probe/target.ts';

/** Where a message ends, and what was done to its content on the way: read octet by octet. */
export const framing: readonly CheckDefinition[] = [
  // RFC 9110 §8.6: Content-Length is the number of octets that follow.
  check(
    'json.content-length',
    {
      title: 'sends as many octets as Content-Length says',
      grounds: [rfc9110('8.6', 'MUST')],
      provenBy: ['content-length-too-long'],
    },
    async ({ probe, expect }) => {
      expect(await probe(rawSample)).toConform('the octets that Content-Length declares', (reply) =>
        framingFault(reply, 'length'),
      );
    },
  ),

  // RFC 9112 §7.1: the size of each chunk in hexadecimal, its octets, and a last one of size 0.
  check(
    'json.chunks',
    {
      title: 'sends well-formed chunks where it sends chunks',
      grounds: [rfc9112('7.1', 'MUST')],
      provenBy: ['bad-chunk-size'],
    },
    async ({ probe, expect }) => {
      expect(await probe(rawSample)).toConform('well-formed chunks', (reply) =>
        framingFault(reply, 'chunks'),
      );
    },
  ),

  // RFC 9112 §2.1 and §6.3: lines end with CRLF, and nothing follows the message.
  check(
    'json.framing',
    {
      title: 'sends one well-formed message and nothing else',
      grounds: [rfc9112('6.3', 'MUST'), rfc9112('2.1', 'MUST')],
      provenBy: ['bytes-after-body', 'bare-line-feeds', 'content-length-too-short'],
    },
    async ({ probe, expect }) => {
      expect(await probe(rawSample)).toConform('one message framed by RFC 9112', (reply) => {
        const named = (['length', 'chunks', 'no-content'] as const).some(
          (matter) => framingFault(reply, matter) !== null,
        );
        return framingFault(reply, 'lines') ?? (named ? null : (reply.exchange.failure?.message ?? null));
      });
    },
  ),

  // RFC 9110 §12.5.3: where only identity is acceptable, the representation comes without a content coding.
  check(
    'json.content-coding',
    {
      title: 'applies no content coding that was not asked for',
      grounds: [rfc9110('12.5.3', 'SHOULD')],
      provenBy: ['unasked-gzip'],
    },
    async ({ probe, expect }) => {
      expect(await probe(target.identityOnly)).toConform('no Content-Encoding', ({ response }) => {
        const coding = response.field('content-encoding');
        return coding === undefined || coding.toLowerCase() === 'identity' ? null : coding;
      });
    },
  ),

  // RFC 9110 §8.4: Content-Encoding lists what was really applied.
  check(
    'json.true-coding',
    {
      title: 'applies the content coding that it names',
      grounds: [rfc9110('8.4', 'MUST')],
      provenBy: ['gzip-in-name-only'],
    },
    async ({ probe, expect }) => {
      expect(await probe(target.gzipAccepted)).toConform(
        'content in the coding named',
        ({ response }) => response.codingFault,
      );
    },
  ),

  observation(
    'json.transfer',
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
];
