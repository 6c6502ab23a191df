import {
  type CheckDefinition,
  check,
  ENCODED,
  IN_CONTENT,
  type Reply,
  rfc9110,
} from '../../harness/engine/check/suite.ts';
import { everyExchange } from '../stimuli/record.ts';
import { rawSample } from '../stimuli/sample.ts';
import * as target from '../stimuli/target.ts';
import { gzipRefused, similarCoding } from './stimuli/negotiation.ts';

// RFC 9110 §12.5.3: where only identity is acceptable, the representation comes without a content coding.
const contentCoding = check('negotiation.content-coding', {
  title: 'compresses the body only as the client has asked',
  headline: 'The body is compressed as the client has not asked: {got}',
  why: 'A client that cannot unpack the body sees garbage.',
  change: 'Look at Accept-Encoding before you compress.',
  grounds: [rfc9110('12.5.3', 'SHOULD')],
  uses: [rawSample, target.gzipAccepted],
  async judge({ expect }) {
    await expect(rawSample).toConform('no Content-Encoding', codingBeside());
    await expect(target.gzipAccepted).toConform(
      'gzip or no Content-Encoding',
      codingBeside('gzip', 'x-gzip'),
    );
  },
});

// RFC 9110 §8.4: Content-Encoding lists the codings that were really applied.
const trueCoding = check('negotiation.true-coding', {
  title: 'compresses the body as Content-Encoding says',
  headline: 'The body is not what Content-Encoding says: {got}',
  why: 'No client can unpack the body.',
  change:
    'Set Content-Encoding where the body is compressed, and see that no proxy unpacks it and keeps the header.',
  grounds: [rfc9110('8.4', 'MUST')],
  uses: [everyExchange],
  judge: ({ expect }) =>
    expect()
      // Who asks for deflate or br is judged by negotiation.other-codings.
      .where(({ response, exchange }) => response.has('content-encoding') && !asksForOthers(exchange.request))
      .toConform('content in the coding named', ({ response }) => response.codingFault, ENCODED),
});

/** RFC 9110 §12.5.3: by the names of other codings than the usual one. */
function asksForOthers({ fields }: Reply['exchange']['request']): boolean {
  return fields.some(([name, value]) => /^accept-encoding$/i.test(name) && /\b(?:deflate|br)\b/i.test(value));
}

/** How the content is compressed, and for whom (RFC 9110 §8.4 and §12.5.3). */
export const codings: readonly CheckDefinition[] = [
  contentCoding,

  // RFC 9110 §12.5.5: caches must know that another client would have got the content in another coding.
  check('negotiation.coding-vary', {
    title: 'names Accept-Encoding in Vary where the compression depends on it',
    headline: 'Vary does not name Accept-Encoding: {got}',
    why: 'A cache gives the compressed copy to clients that cannot unpack it.',
    change: 'Send Vary: Accept-Encoding with every answer that may be compressed.',
    grounds: [rfc9110('12.5.5', 'SHOULD')],
    uses: [rawSample, target.gzipAccepted],
    async judge({ probe, expect }) {
      const isEncoded = (await probe(rawSample)).response.has('content-encoding');
      await expect(target.gzipAccepted)
        .where(
          ({ response }) => response.has('content-encoding') !== isEncoded,
          'the compression does not depend on Accept-Encoding',
        )
        .where(({ response }) => !response.cacheControl.has('no-store'), 'no cache may keep the answer')
        .toConform('Accept-Encoding in Vary', varyFor('accept-encoding'));
    },
  }),

  trueCoding,

  // RFC 9110 §12.4.2: a weight of 0 means "not acceptable".
  check('negotiation.refused-coding', {
    title: 'does not compress in a way that the client refuses with a weight of 0',
    headline: 'A client that refuses gzip gets {got}',
    why: 'The client cannot unpack the body. Looking for the word gzip is not enough.',
    change: 'Read the weights of Accept-Encoding: gzip;q=0 means no gzip.',
    grounds: [rfc9110('12.5.3', 'SHOULD')],
    repeats: [contentCoding],
    uses: [gzipRefused],
    judge: ({ expect }) =>
      expect()
        .where(({ served }) => served, 'such a request is refused')
        .toConform('deflate or no Content-Encoding', codingBeside('deflate')),
  }),
  // RFC 9110 §12.5.3: codings are compared as whole names.
  check('negotiation.similar-coding', {
    title: 'knows a compression from another one with a similar name',
    headline: 'A client that takes conform-gzip and br gets {got}',
    why: 'The client cannot unpack the body. The word gzip within another name is not gzip.',
    change: 'Split Accept-Encoding at its commas, and compare whole names.',
    grounds: [rfc9110('12.5.3', 'SHOULD')],
    repeats: [contentCoding],
    uses: [similarCoding],
    judge: ({ expect }) =>
      expect()
        .where(({ served }) => served, 'such a request is refused')
        .toConform('br or no Content-Encoding', codingBeside('br')),
  }),
  // RFC 9110 §8.4: the same for other codings: deflate has the zlib format (§8.4.1.2).
  check('negotiation.other-codings', {
    title: 'compresses with deflate and br as these are defined',
    headline: 'The body is not in deflate or br as Content-Encoding says: {got}',
    why: 'Clients that ask for these cannot unpack the body.',
    change: 'Send the zlib format for deflate, and test each compression that you offer.',
    grounds: [rfc9110('8.4.1', 'MUST')],
    repeats: [trueCoding],
    uses: [gzipRefused, similarCoding],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.has('content-encoding'), 'nothing is compressed for such clients')
        .toConform('content in the coding named', ({ response }) => response.codingFault, ENCODED),
  }),
  // RFC 9110 §8.4: each coding that was applied is named, and no other.
  check('negotiation.coding-once', {
    title: 'compresses a body no more often than it says',
    headline: 'The body is compressed once more than Content-Encoding says: {got}',
    why: 'The client unpacks it once, and gets compressed bytes.',
    change: 'Do not compress a compressed body again: look at Content-Encoding, in the proxy too.',
    grounds: [rfc9110('8.4', 'MUST')],
    uses: [rawSample, target.gzipAccepted, gzipRefused, similarCoding],
    judge: ({ expect }) =>
      expect()
        .where(
          ({ served, response }) => served && response.isJson && response.content.length > 0,
          'no JSON came',
        )
        .toConform(
          'JSON once it is unpacked',
          ({ response }) => (response.isCompressedWithin ? 'compressed octets' : null),
          IN_CONTENT,
        ),
  }),
];

/** Content codings beside those that are accepted; null when there are none. */
function codingBeside(...accepted: readonly string[]) {
  return ({ response }: Reply): string | null => {
    const others = response.contentCodings.filter((coding) => ![...accepted, 'identity'].includes(coding));
    return others.length === 0 ? null : `Content-Encoding: ${others.join(', ')}`;
  };
}

/** What Vary has in place of the name of a request header. */
export function varyFor(name: string) {
  return ({ response: { vary } }: Reply): string | null =>
    vary.includes(name) || vary.includes('*') ? null : vary.join(', ') || 'no Vary';
}
