import { check, ENCODED, type Reply, rfc9110, suite } from '../harness/check/suite.ts';
import { everyReply } from '../harness/probe/every-reply.ts';
import { rawSample } from '../harness/probe/request/sample.ts';
import * as target from '../harness/probe/request/target.ts';
import { handles } from './status/unusual.ts';

/** What the client says that it takes, and the content coding that it gets (RFC 9110 §12). */
export const negotiation = suite('negotiation', 'Negotiation', [
  // RFC 9110 §12.5.1: 406, or another representation than was asked for.
  handles({
    id: 'negotiation.unknown-accept',
    what: 'an Accept header that it cannot meet',
    why: 'Browsers and libraries send all kinds of Accept headers.',
    change: 'Answer 406, or send the format that you have.',
    probe: target.unknownAccept,
  }),

  // RFC 9110 §12.5.3: where only identity is acceptable, the representation comes without a content coding.
  check('negotiation.content-coding', {
    title: 'compresses the body only as the client has asked',
    headline: 'The body is compressed as the client has not asked: {got}',
    why: 'A client that cannot unpack the body sees garbage.',
    change: 'Look at Accept-Encoding before you compress.',
    grounds: [rfc9110('12.5.3', 'SHOULD')],
    async judge({ expect }) {
      await expect(rawSample).toConform('no Content-Encoding', codingBeside());
      await expect(target.gzipAccepted).toConform(
        'gzip or no Content-Encoding',
        codingBeside('gzip', 'x-gzip'),
      );
    },
  }),

  // RFC 9110 §12.5.5: caches must know that another client would have got the content in another coding.
  check('negotiation.coding-vary', {
    title: 'names Accept-Encoding in Vary where the compression depends on it',
    headline: 'Vary does not name Accept-Encoding: {got}',
    why: 'A cache gives the compressed copy to clients that cannot unpack it.',
    change: 'Send Vary: Accept-Encoding with every answer that may be compressed.',
    grounds: [rfc9110('12.5.5', 'SHOULD')],
    async judge({ probe, expect }) {
      const isEncoded = (await probe(rawSample)).response.has('content-encoding');
      await expect(target.gzipAccepted)
        .where(
          ({ response }) => response.has('content-encoding') !== isEncoded,
          'the compression does not depend on Accept-Encoding',
        )
        .where(({ response }) => !response.cacheControl.has('no-store'), 'no cache may keep the answer')
        .toConform('Accept-Encoding in Vary', ({ response: { vary } }) =>
          vary.includes('accept-encoding') || vary.includes('*') ? null : vary.join(', ') || 'no Vary',
        );
    },
  }),

  // RFC 9110 §8.4: Content-Encoding lists what was really applied.
  check('negotiation.true-coding', {
    title: 'compresses the body as Content-Encoding says',
    headline: 'The body is not what Content-Encoding says: {got}',
    why: 'No client can unpack the body.',
    change:
      'Set Content-Encoding where the body is compressed, and see that no proxy unpacks it and keeps the header.',
    grounds: [rfc9110('8.4', 'MUST')],
    judge: ({ expect }) =>
      expect(everyReply)
        .where(({ response }) => response.has('content-encoding'))
        .toConform('content in the coding named', ({ response }) => response.codingFault, ENCODED),
  }),
]);

/** Content codings beside those that are accepted; null when there are none. */
function codingBeside(...accepted: readonly string[]) {
  return ({ response }: Reply): string | null => {
    const others = response.contentCodings.filter((coding) => ![...accepted, 'identity'].includes(coding));
    return others.length === 0 ? null : `Content-Encoding: ${others.join(', ')}`;
  };
}
