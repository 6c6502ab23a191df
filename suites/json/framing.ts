import { type CheckDefinition, check, observation } from '../../harness/check/check.ts';
import { framingFault } from '../../harness/check/framing.ts';
import { ENCODED, FRAMED } from '../../harness/check/reading.ts';
import { clause, rfc9110, rfc9112 } from '../../harness/contract/ground.ts';
import type { ResponseView } from '../../harness/evidence/response.ts';
import { everyReply, rawReplies } from '../../harness/probe/gathered.ts';
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
      expect(...(await probe(rawReplies))).toConform(
        'the octets that Content-Length declares',
        (reply) => framingFault(reply, 'length'),
        FRAMED,
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
      expect(...(await probe(rawReplies))).toConform(
        'well-formed chunks',
        (reply) => framingFault(reply, 'chunks'),
        FRAMED,
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

  // RFC 9110 §12.5.3: where only identity is acceptable, the representation comes without a content coding.
  check(
    'json.content-coding',
    {
      title: 'applies no content coding that was not asked for',
      grounds: [rfc9110('12.5.3', 'SHOULD')],
      provenBy: ['unasked-gzip', 'brotli-for-gzip'],
    },
    async ({ probe, expect }) => {
      expect(await probe(rawSample)).toConform('no Content-Encoding', ({ response }) =>
        codingBeside([], response),
      );
      expect(await probe(target.gzipAccepted)).toConform('gzip or no Content-Encoding', ({ response }) =>
        codingBeside(['gzip', 'x-gzip'], response),
      );
    },
  ),

  // RFC 9110 §12.5.5: caches must know that another client would have got the content in another coding.
  check(
    'json.coding-vary',
    {
      title: 'names Accept-Encoding in Vary where the content coding depends on it',
      grounds: [rfc9110('12.5.5', 'SHOULD')],
      provenBy: ['gzip-without-vary'],
    },
    async ({ probe, expect, notApplicable }) => {
      const plain = (await probe(rawSample)).response;
      const encoded = await probe(target.gzipAccepted);
      const { response } = encoded;
      if (plain.has('content-encoding') === response.has('content-encoding')) {
        return notApplicable('the content coding does not depend on Accept-Encoding');
      }
      if (response.cacheControl.has('no-store')) return notApplicable('no cache may keep the answer');
      expect(encoded).toConform('Accept-Encoding in Vary', ({ response: { vary } }) =>
        vary.includes('accept-encoding') || vary.includes('*') ? null : vary.join(', ') || 'no Vary',
      );
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
      const encoded = (await probe(everyReply)).filter(({ response }) => response.has('content-encoding'));
      expect(...encoded).toConform(
        'content in the coding named',
        ({ response }) => response.codingFault,
        ENCODED,
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

/** Content codings beside those that are accepted; null when there are none. */
function codingBeside(accepted: readonly string[], { contentCodings }: ResponseView): string | null {
  const others = contentCodings.filter((coding) => coding !== 'identity' && !accepted.includes(coding));
  return others.length === 0 ? null : `Content-Encoding: ${others.join(', ')}`;
}
