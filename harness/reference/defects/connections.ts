import { type Defect, REST, tableOf } from '../behavior/deviation.ts';
import {
  insteadOfServing,
  onFinished,
  onFirstOctets,
  onHead,
  onReceipt,
  onWireHead,
  type Patch,
  withTrailer,
} from '../behavior/patches/patch.ts';
import { asProblem, dropped, writtenAs } from '../http/answer-changes.ts';
import { fieldValue, type RequestCondition, sending, withField } from '../http/message.ts';
import { inChunks } from '../http/octets.ts';

const LENGTH = /^Content-Length:.*\r\n/m;
const CODING = /^Transfer-Encoding:.*\r\n/m;
const EXPECTED = /^Expect:[\s\S]*^conform=12/im;
const BEHIND = /\r\n\r\n(?=GET )/;

/** Takes a request of a kind for another one, with all that came at once. */
const mistaking = (kind: RegExp, change: (text: string) => string): Patch =>
  onFirstOctets((text) => (kind.test(text) ? change(text) : text));

/** Of two requests that came at once, neither with content. */
const ofTwo = (kind: (first: string) => boolean, change: (first: string, second: string) => string): Patch =>
  onFirstOctets((text) => {
    const [first = '', second] = text.split(BEHIND);
    const isPlain = !/^(?:content-length|transfer.encoding):/im.test(first);
    return second !== undefined && isPlain && kind(first) ? change(`${first}\r\n\r\n`, second) : text;
  });

const saysClose = (head: string) => /^connection: close$/im.test(head);
const kept = (head: string) => head.replace(/^Connection: close\r\n/im, '');

/** Believes a hidden Transfer-Encoding, and not the length. */
const believing = (kind: RegExp, written: string): Patch =>
  mistaking(kind, (text) => text.replace(LENGTH, '').replace(kind, written));

const isOld: RequestCondition = ({ httpVersion }) => httpVersion === '1.0';
const offersUpgrade = sending('upgrade', /^h2c$/);

/** Other octets in place of the answer to requests of a kind. */
const writing = (when: RequestCondition, render: (head: Buffer, body: Buffer) => Buffer): Patch =>
  onFinished('every', writtenAs(render), when);

const SWITCHING = Buffer.from(
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: conform/1\r\n\r\n',
);

/** Octets that no server reads. */
const UNREADABLE = '\0';

/** Refuses a request of a kind as unreadable. */
const refusing = (kind: RegExp, isMeant: (segments: number) => boolean = () => true): Patch =>
  onFirstOctets((text, segments) => (kind.test(text) && isMeant(segments) ? UNREADABLE + text : text));

/** How connections are used (RFC 9112 §9), and where the messages of clients end (§6). */
export const CONNECTION_DEFECTS = tableOf<Defect>(REST, {
  'swaps-pipelined-answers': {
    cause: 'Requests that come at once are answered in another order',
    fails: ['framing.pipelining'],
    patch: ofTwo(
      (first) => !saysClose(first),
      (first, second) => kept(second) + first,
    ),
  },
  'loses-pipelined-requests': {
    cause: 'The second of two requests that come at once is lost',
    fails: ['framing.pipelining'],
    patch: ofTwo(
      (first) => !saysClose(first),
      (first) => first,
    ),
  },
  'credential-stays-with-connection': {
    cause: 'A credential opens a whole connection and not one request',
    fails: ['framing.credential-per-request'],
    patch: (behavior) => {
      const known = new WeakMap<object, string>();
      return onReceipt((request) => {
        const { connection } = request;
        const own = fieldValue(request, 'authorization');
        if (connection === undefined) return request;
        if (own !== undefined) known.set(connection, own);
        const before = known.get(connection);
        return before === undefined ? request : withField(request, 'Authorization', before);
      })(behavior);
    },
  },
  'reads-on-after-close': {
    cause: 'Requests behind `Connection: close` are still answered',
    fails: ['framing.close-obeyed'],
    patch: ofTwo(saysClose, (first, second) => kept(first) + second),
  },
  'stays-open-after-close': {
    cause: 'A connection stays open although its client said `Connection: close`',
    fails: ['framing.close-obeyed'],
    patch: ofTwo(saysClose, (first) => kept(first)),
  },
  'ends-without-a-word': {
    cause: 'Connections end after each response without `Connection: close`',
    fails: ['framing.close-announced'],
    patch: onWireHead('every', kept),
  },
  'content-becomes-a-request': {
    cause: 'The content of a GET is taken for the next request',
    fails: ['framing.unread-content'],
    patch: onFirstOctets((text) =>
      /transfer.encoding/i.test(text) || (text.match(/^content-length:/gim) ?? []).length !== 1
        ? text
        : text.replace(/^Content-Length: [1-9]\d*\r\n/m, ''),
    ),
  },
  'chunked-content-becomes-a-request': {
    cause: 'Content in chunks is taken for the next request',
    fails: ['framing.chunked-request'],
    patch: mistaking(/^A;x=1/m, (text) =>
      text
        .replace(CODING, '')
        .replace(/^A;x=1[\s\S]*?\r\n\r\n/m, 'GET /A HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    ),
  },
  'hangs-over-chunk-extensions': {
    cause: 'A request whose chunks have extensions gets no response',
    fails: ['framing.chunked-request'],
    patch: mistaking(/^A;x=1/m, (text) => text.slice(0, text.indexOf('A;x=1'))),
  },
  'waits-for-expected-content': {
    cause: 'A request with Expect gets no response while its content is not asked for',
    fails: ['framing.expected-content'],
    patch: mistaking(EXPECTED, (text) => text.slice(0, text.indexOf('conform=12'))),
  },
  'expected-content-becomes-a-request': {
    cause: 'Content that comes along with Expect is taken for the next request',
    fails: ['framing.expected-content'],
    patch: mistaking(EXPECTED, (text) =>
      text
        .replace(/^(?:Expect|Content-Length):.*\r\n/gim, '')
        .replace(/^conform=12/m, 'GET /conform HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    ),
  },
  'length-over-chunks': {
    cause: 'A request with both lengths is taken by its Content-Length',
    fails: ['framing.both-lengths'],
    patch: onFirstOctets((text) => (LENGTH.test(text) ? text.replace(CODING, '') : text)),
  },
  'reads-on-after-both-lengths': {
    cause: 'A request with both lengths may hide another one',
    fails: ['framing.both-lengths'],
    patch: onFirstOctets((text) => (CODING.test(text) ? text.replace(LENGTH, '') : text)),
  },
  'takes-chunks-of-old-clients': {
    cause: 'An HTTP/1.0 request in chunks is accepted',
    fails: ['framing.old-chunks'],
    patch: onHead((head) =>
      /^Transfer-Encoding:/m.test(head) ? head.replace('HTTP/1.0', 'HTTP/1.1') : head,
    ),
  },
  'unfolds-lines-to-fields': {
    cause: 'A folded header line is taken for a header of its own',
    fails: ['framing.hidden-field'],
    patch: believing(/\r\n Transfer-Encoding/, '\r\nTransfer-Encoding'),
  },
  'bare-cr-ends-lines': {
    // RFC 9112 §2.2
    cause: 'A bare CR ends a header line',
    fails: ['framing.hidden-field'],
    patch: believing(/\r(?!\n)/, '\r\n'),
  },
  'underscore-is-hyphen': {
    // RFC 9110 §5.1
    cause: 'An underscore in a header name is taken for a hyphen',
    fails: ['framing.hidden-field'],
    patch: believing(/^Transfer_Encoding/m, 'Transfer-Encoding'),
  },
  'chunk-size-overflows': {
    cause: 'The size of a chunk overflows',
    fails: ['framing.chunk-size-overflow'],
    patch: onFirstOctets((text) =>
      text.replace(/^10{14}(?=\d)/m, '').replace(/^0+5\r\nabcde/m, '5\r\nabcde'),
    ),
  },
  'first-length-wins': {
    cause: 'Of two different Content-Length headers the first is believed',
    fails: ['framing.differing-lengths'],
    patch: onHead((head) =>
      head.replace(/^(Content-Length: \d+\r\n)Content-Length:[^\r]*(?:\r\n)?/m, '$1').trimEnd(),
    ),
  },
  'length-with-plus-sign': {
    cause: 'A Content-Length with a plus sign is accepted',
    fails: ['framing.bad-length'],
    patch: onHead((head) => head.replace(/^Content-Length: \+/m, 'Content-Length: ')),
  },
  'ignores-last-coding': {
    cause: 'A Transfer-Encoding that does not end with chunked is accepted',
    fails: ['framing.chunked-not-last'],
    patch: onHead((head) => head.replace('Transfer-Encoding: chunked, gzip', 'Transfer-Encoding: chunked')),
  },
  'ignores-unknown-codings': {
    cause: 'An unknown transfer coding is ignored',
    fails: ['framing.unknown-coding'],
    patch: onHead((head) => head.replace('Transfer-Encoding: x-conform, ', 'Transfer-Encoding: ')),
  },
  'chunks-to-old-clients': {
    cause: 'An HTTP/1.0 client gets its answer in chunks',
    fails: ['framing.old-client-transfer'],
    patch: writing(isOld, inChunks),
  },
  'continue-to-old-clients': {
    cause: 'An HTTP/1.0 client gets an interim response',
    fails: ['framing.old-client-interim'],
    patch: writing(isOld, (head, body) =>
      Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'), head, body]),
    ),
  },
  'keeps-old-clients': {
    cause: 'The connection of an HTTP/1.0 client stays open',
    fails: ['framing.old-client-close'],
    patch: onHead((head) =>
      /^Transfer-Encoding:/m.test(head)
        ? head
        : head.replace(/ HTTP\/1\.0([\s\S]*?)\r\nExpect: [^\r]*/, ' HTTP/1.1$1'),
    ),
  },
  'upgrade-offer-400': {
    cause: 'A request that offers HTTP/2 by Upgrade is answered {status:400}',
    fails: ['framing.upgrade-offer'],
    patch: insteadOfServing(offersUpgrade, asProblem(400)),
  },
  'upgrade-offer-drops-connection': {
    cause: 'A request that offers HTTP/2 by Upgrade gets no response',
    fails: ['framing.upgrade-offer'],
    patch: onFinished('served', dropped, offersUpgrade),
  },
  'switches-to-another-protocol': {
    cause: 'A 101 names a protocol that was not offered',
    fails: ['framing.upgrade-answer'],
    patch: writing(offersUpgrade, () => SWITCHING),
  },
  'caching-in-trailers': {
    cause: '`Cache-Control` comes behind the body',
    fails: ['framing.trailers'],
    patch: withTrailer('Cache-Control: no-cache'),
  },
  'refuses-empty-lines': {
    cause: 'An empty line before a request makes it unreadable',
    fails: ['framing.empty-line'],
    patch: refusing(/^\r\n/),
  },
  'hangs-up-on-empty-lines': {
    cause: 'An empty line before a request is taken for a request',
    fails: ['framing.empty-line'],
    patch: onFirstOctets((text) => (text.startsWith('\r\n') ? ' / HTTP/1.1\r\n\r\n' : text)),
  },
  'reads-one-segment': {
    cause: 'A request has to come in one piece',
    fails: ['framing.octet-by-octet'],
    patch: refusing(/^/, (segments) => segments > 3),
  },
  'refuses-space-behind-values': {
    cause: 'A space at the end of a header value is answered {status:400}',
    fails: ['framing.spaced-values'],
    patch: refusing(/^[\w-]+:.* \r$/m),
  },
  'refuses-tabs-before-values': {
    cause: 'Tabs before a header value are answered {status:400}',
    fails: ['framing.tabbed-values'],
    patch: refusing(/^[\w-]+:\t/m),
  },
  'demands-space-after-colon': {
    cause: 'Headers without a space after the colon are dropped',
    fails: ['framing.bare-colon'],
    patch: onFirstOctets((text) => text.replace(/^(?!Host:)[\w-]+:(?=[^ \t\r\n])[^\r\n]*\r\n/gim, '')),
  },
  'refuses-bare-colons': {
    cause: 'A header without a space after the colon is answered {status:400}',
    fails: ['framing.bare-colon'],
    patch: refusing(/^Authorization:[^ \t]/im),
  },
  'compares-names-letter-by-letter': {
    cause: 'Header names in capitals are other headers',
    fails: ['framing.name-case'],
    patch: onFirstOctets((text) => text.replace(/^AUTHORIZATION:/gm, 'X-UNKNOWN:')),
  },
  'knows-chunked-in-one-case': {
    cause: 'Transfer-Encoding: Chunked is an unknown coding',
    fails: ['framing.chunked-case'],
    patch: onFirstOctets((text) => text.replace(/^Transfer-Encoding: Chunked/m, 'Transfer-Encoding: other')),
  },
  'overlooks-capital-chunked': {
    cause: 'Transfer-Encoding: Chunked is overlooked, and the chunks are taken for a request',
    fails: ['framing.chunked-case'],
    patch: onFirstOctets((text) => text.replace(/^Transfer-Encoding: Chunked\r\n/m, '')),
  },
  'refuses-zeros-before-sizes': {
    cause: 'A chunk whose size has zeros before it is answered {status:400}',
    fails: ['framing.chunk-zeros'],
    patch: onFirstOctets((text) => text.replace(/^0+(?=a[;\r])/im, 'zeros')),
  },
  'reads-sizes-in-capitals': {
    cause: 'The size of a chunk in small letters is not read',
    fails: ['framing.chunk-size-case'],
    patch: onFirstOctets((text) => text.replace(/^0*a(?=[;\r])/m, 'z')),
  },
  'cuts-quoted-extensions': {
    cause: 'A semicolon in a quoted extension of a chunk makes it unreadable',
    fails: ['framing.quoted-extension'],
    patch: onFirstOctets((text) => text.replace(/^0*a;x="y;z"/im, 'z')),
  },
  'reads-one-trailer': {
    cause: 'What follows the first trailer is taken for the next request',
    fails: ['framing.request-trailers'],
    patch: onFirstOctets((text) => text.replace(/^X: 1\r\n(?=x-y)/m, '\r\n')),
  },
  'takes-any-host': {
    cause: 'A Host header that is no host is accepted',
    fails: ['framing.invalid-host'],
    patch: onHead((head) => head.replace('Host: conform invalid/@', 'Host: localhost')),
  },
});
