import {
  check,
  ENCODED,
  IN_CONTENT,
  jsonTypeSent,
  type Reply,
  rfc9110,
  suite,
} from '../../harness/engine/check/suite.ts';
import { listSpellings } from '../framing/spellings.ts';
import { handles } from '../row.ts';
import { everyExchange } from '../stimuli/record.ts';
import { rawSample, sample } from '../stimuli/sample.ts';
import * as target from '../stimuli/target.ts';

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
export const codings = [
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
    uses: [target.gzipRefused],
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
    uses: [target.similarCoding],
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
    uses: [target.gzipRefused, target.similarCoding],
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
    uses: [rawSample, target.gzipAccepted, target.gzipRefused, target.similarCoding],
    judge: ({ expect }) =>
      expect()
        .where(({ served, response }) => served && response.isJson && response.bodyLength > 0, 'no JSON came')
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
function varyFor(name: string) {
  return ({ response: { vary } }: Reply): string | null =>
    vary.includes(name) || vary.includes('*') ? null : vary.join(', ') || 'no Vary';
}

const typeOf = ({ response }: Reply): string => response.mediaType?.essence ?? 'no Content-Type';

/** Types whose content begins otherwise than a JSON object or array. */
const NO_JSON = /^(?:(?:application|text)\/xml|text\/(?:html|csv)|image\/.+|.+\+xml)$/;

const NOT_JSON = 'the documented response is no JSON';

// RFC 9110 §12.5.1: 406, or another representation than was asked for.
const unknownAccept = handles('negotiation.unknown-accept', target.unknownAccept, {
  what: 'an Accept header that it cannot meet',
  why: 'Browsers and libraries send all kinds of Accept headers.',
  change: 'Answer 406, or send the format that you have.',
});

const otherFormats = handles('negotiation.other-formats', target.otherFormats, {
  what: 'an Accept header for XML, CSV, text or pictures',
  why: 'Tools ask for such formats by themselves, and take a 5xx for an outage.',
  change: 'Answer 406, or send the format that you have.',
  repeats: [unknownAccept],
});

/** What the client says that it takes, and what it gets (RFC 9110 §12). */
export const negotiation = suite('negotiation', 'Negotiation', [
  unknownAccept,
  handles('negotiation.malformed-accept', target.malformedAccept, {
    what: 'a malformed Accept header',
    why: 'Scanners and broken clients send such headers. A 5xx for them counts as your fault.',
    change: 'Ignore what you cannot read in Accept, or answer 400 or 406.',
    repeats: [unknownAccept],
  }),
  otherFormats,
  handles('negotiation.further-formats', target.furtherFormats, {
    what: 'an Accept header for an event stream or YAML',
    why: 'Pages ask for streams, and tools for YAML. They take a 5xx for an outage.',
    change: 'Answer 406, or send the format that you have. Let the handler of errors ignore Accept.',
    repeats: [unknownAccept, otherFormats],
  }),
  // RFC 9110 §8.3: Content-Type names the type of the content, whatever the request asked for.
  check('negotiation.true-type', {
    title: 'does not call JSON by the name of another format that was asked for',
    headline: 'JSON is sent under the name of another format: {got}',
    why: 'The client reads it with the wrong parser, and fails.',
    change: 'Send Content-Type: application/json with JSON, or answer 406.',
    grounds: [rfc9110('8.3', 'SHOULD')],
    uses: [sample, target.otherFormats, target.htmlAlone],
    async judge({ probe, expect }) {
      const plain = await probe(sample);
      await expect(target.otherFormats, target.htmlAlone)
        .where(({ served }) => served && plain.response.isJson, NOT_JSON)
        .toConform(
          'content in the format of its Content-Type',
          (reply) =>
            NO_JSON.test(typeOf(reply)) && /^\s*[{[]/.test(reply.response.text ?? '')
              ? `JSON as ${typeOf(reply)}`
              : null,
          IN_CONTENT,
        );
    },
  }),
  handles('negotiation.language', target.otherLanguage, {
    what: 'an Accept-Language header with unusual languages',
    why: 'Browsers send the languages of their users. A lookup that fails must not end in an error.',
    change: 'Use your default language for languages that you do not have.',
  }),

  // RFC 9110 §8.3.1: type and subtype are case-insensitive; §12.5.1: a weight may follow.
  check('negotiation.accept-spelling', {
    title: 'knows its media type in capitals and with a weight',
    headline: 'Accept: APPLICATION/JSON;q=0.9 gets {answer}',
    why: 'A client that asks for just what there is gets nothing.',
    change: 'Read Accept with a parser: letter case does not count, and weights are no part of the type.',
    grounds: [rfc9110('8.3.1', 'MUST')],
    uses: [sample, target.jsonPreferred],
    async judge({ probe, expect }) {
      const plain = await probe(sample);
      await expect(target.jsonPreferred)
        .where(() => plain.response.mediaType?.essence === 'application/json', NOT_JSON)
        .toConform('no refusal of its own media type', refusal);
    },
  }),
  // RFC 9110 §12.5.1: a media range stands for all types in it.
  check('negotiation.accept-range', {
    title: 'knows its media type in a range such as application/*',
    headline: 'Accept: application/* gets {answer}',
    why: 'A client that takes any such format is refused the one that there is.',
    change: 'Take type/* and */* in Accept for every type that they stand for.',
    grounds: [rfc9110('12.5.1', 'MUST')],
    uses: [sample, target.applicationRange],
    async judge({ probe, expect }) {
      const plain = await probe(sample);
      await expect(target.applicationRange)
        .where(() => plain.response.mediaType?.essence.startsWith('application/') === true, NOT_JSON)
        .toConform('no refusal of its own media type', refusal);
    },
  }),
  // RFC 9110 §12.4.2: the larger weight is preferred.
  check('negotiation.weights', {
    title: 'sends the format that the client prefers',
    headline: 'A client that prefers JSON to HTML gets {got}',
    why: 'The client gets the format that it likes least, and cannot read it.',
    change: 'Sort the media types of Accept by their weights (q), not by their order.',
    grounds: [rfc9110('12.5.1', 'SHOULD')],
    uses: [sample, target.jsonPreferred],
    async judge({ probe, expect }) {
      const plain = await probe(sample);
      await expect(target.jsonPreferred)
        .where(({ served }) => served && plain.response.isJson, NOT_JSON)
        .toConform('JSON', (reply) => (typeOf(reply) === 'text/html' ? 'text/html' : null));
    },
  }),
  // RFC 9110 §12.4.2: a weight of 0 means "not acceptable".
  check('negotiation.refused-type', {
    title: 'does not send a format that the client refuses with a weight of 0',
    headline: 'A client that takes application/* and no HTML gets {got}',
    why: 'The client said that it cannot read this format.',
    change: 'Leave out the media types of Accept that have a weight of 0 (q=0).',
    grounds: [rfc9110('12.4.2', 'SHOULD')],
    uses: [sample, target.applicationRange],
    async judge({ probe, expect }) {
      const plain = await probe(sample);
      await expect(target.applicationRange)
        .where(({ served }) => served && plain.response.isJson, NOT_JSON)
        .toConform('no HTML', (reply) => (typeOf(reply) === 'text/html' ? 'text/html' : null));
    },
  }),

  // RFC 9110 §12.5.5: caches must know what the answer depends on.
  check('negotiation.accept-vary', {
    title: 'names Accept in Vary where the format depends on it',
    headline: 'Vary does not name Accept, although the format depends on it: {got}',
    why: 'A cache gives one client the format that another one has asked for.',
    change: 'Send Vary: Accept with every format of the resource.',
    grounds: [rfc9110('12.5.5', 'SHOULD')],
    uses: [sample, target.htmlAlone],
    async judge({ probe, expect }) {
      const plain = await probe(sample);
      await expect(target.htmlAlone)
        .where(
          (other) => other.served && typeOf(other) !== typeOf(plain),
          'the format does not depend on Accept',
        )
        .where(({ response }) => !response.cacheControl.has('no-store'), 'no cache may keep the answer')
        .toConform('Accept in Vary', varyFor('accept'));
    },
  }),
  check('negotiation.language-vary', {
    title: 'names Accept-Language in Vary where the language depends on it',
    headline: 'Vary does not name Accept-Language, although the language depends on it: {got}',
    why: 'A cache gives one client the language of another one.',
    change: 'Send Vary: Accept-Language with every language of the resource.',
    grounds: [rfc9110('12.5.5', 'SHOULD')],
    uses: [sample, target.otherLanguage],
    async judge({ probe, expect }) {
      const plain = await probe(sample);
      const language = ({ response }: Reply) => response.field('content-language')?.toLowerCase();
      await expect(target.otherLanguage)
        .where((other) => other.served && language(other) !== language(plain), 'there is one language')
        .where(({ response }) => !response.cacheControl.has('no-store'), 'no cache may keep the answer')
        .toConform('Accept-Language in Vary', varyFor('accept-language'));
    },
  }),

  // RFC 9110 §8.3.1: the same media type, whatever the letter case, the white space and the quotes.
  check('negotiation.content-type-spelling', {
    title: 'knows the documented Content-Type in capitals and with a charset',
    headline: 'The documented Content-Type in other words gets {answer}',
    why: 'Clients write media types as their libraries do, and are refused for it.',
    change: 'Read Content-Type with a parser, and compare the media type alone, in any letter case.',
    grounds: [rfc9110('8.3.1', 'MUST')],
    applies: [jsonTypeSent],
    uses: [target.contentTypeSpelled],
    judge: ({ expect }) =>
      expect().toConform('the answer to the documented request', ({ response: { status, statusClass } }) =>
        statusClass === 2 || statusClass === 3 ? null : `status ${status}`,
      ),
  }),

  ...listSpellings,
  ...codings,
]);

function refusal({ status }: Reply): string | null {
  return status === 406 || status === 415 || status === 400 ? `status ${status}` : null;
}
