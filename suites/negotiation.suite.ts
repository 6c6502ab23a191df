import { check, suite } from '../harness/check/check.ts';
import { ENCODED } from '../harness/check/reading.ts';
import { rfc9110 } from '../harness/contract/ground.ts';
import type { ResponseView } from '../harness/evidence/exchange/response.ts';
import { everyReply } from '../harness/probe/gathered.ts';
import { rawSample } from '../harness/probe/request/sample.ts';
import * as target from '../harness/probe/request/target.ts';
import { handles } from './unusual.ts';

/** What the client says that it takes, and the content coding that it gets (RFC 9110 §12). */
export const negotiation = suite('negotiation', 'Negotiation', [
  handles('negotiation.unknown-accept', 'an Accept field that it cannot meet', target.unknownAccept, [
    'accept-unknown-500',
  ]),

  // RFC 9110 §12.5.3: where only identity is acceptable, the representation comes without a content coding.
  check(
    'negotiation.content-coding',
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
    'negotiation.coding-vary',
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
    'negotiation.true-coding',
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
]);

/** Content codings beside those that are accepted; null when there are none. */
function codingBeside(accepted: readonly string[], { contentCodings }: ResponseView): string | null {
  const others = contentCodings.filter((coding) => coding !== 'identity' && !accepted.includes(coding));
  return others.length === 0 ? null : `Content-Encoding: ${others.join(', ')}`;
}
