import {
  check,
  type Ground,
  type Probe,
  type Reply,
  rfc9110,
  rfc9112,
} from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import { oldVersionAlone } from '../stimuli/sample.ts';
import { chunkedRequest, speaksHttp11 } from './connections.ts';
import { CHUNK_SPELLED, type PairOfTwo, SPELLED } from './stimuli/spelling.ts';

interface Spelled extends RowNotes<'headline'> {
  /** Completes "serves a request …". */
  readonly what: string;
  readonly ground: Ground;
}

/** Every server reads the request, and reads the same in it. */
const serves = (id: string, probe: Probe<Reply>, { what, ground, ...notes }: Spelled) =>
  check(id, {
    ...notes,
    title: `serves a request ${what}`,
    grounds: [ground],
    uses: [oldVersionAlone, probe],
    async judge(context) {
      await speaksHttp11(context);
      await context
        .expect(probe)
        .toConform('the documented resource', ({ response: { status, statusClass } }) =>
          statusClass === 2 || statusClass === 3 ? null : `status ${status}`,
        );
    },
  });

interface SpelledChunks extends RowNotes<'headline'> {
  /** Completes "reads …". */
  readonly what: string;
  readonly ground: Ground;
}

/** What comes for the usual spelling of the chunks comes for this one too. */
const readsChunks = (id: string, probe: Probe<PairOfTwo>, { what, ground, ...notes }: SpelledChunks) =>
  check(id, {
    ...notes,
    title: `reads ${what}`,
    grounds: [ground],
    restsOn: [chunkedRequest],
    uses: [probe],
    judge: ({ expect }) =>
      expect()
        .where(({ usual }) => usual.statuses.length > 0, 'content in chunks gets no response')
        .toConform('the answers to usual chunks', ({ statuses, usual }) => {
          if (statuses.join() === usual.statuses.join()) return null;
          const [first, second] = statuses;
          if (first === undefined) return 'no response';
          return first === usual.statuses[0] && second === undefined
            ? `status ${first}, and nothing for the request behind it`
            : `status ${statuses.join(' and ')}`;
        }),
  });

/** Requests as lawful clients write them, if seldom. */
export const spellings = [
  // RFC 9112 §2.2: an empty line before the request line should be ignored.
  serves('framing.empty-line', SPELLED['empty-line'], {
    what: 'that comes after an empty line',
    headline: 'A request after an empty line gets {answer}',
    why: 'Some clients end the content of a request with a line break that is not counted.',
    change: 'Skip an empty line before the request line.',
    ground: rfc9112('2.2', 'SHOULD'),
  }),
  // RFC 9112 §2.2: a message is a sequence of octets, whatever the segments of TCP.
  serves('framing.octet-by-octet', SPELLED.piecemeal, {
    what: 'that comes byte by byte',
    headline: 'A request that comes byte by byte gets {answer}',
    why: 'Networks cut what is sent wherever they like.',
    change: 'Collect bytes until the headers are complete, before you read them.',
    ground: rfc9112('2.2', 'MUST'),
  }),
  // RFC 9110 §5.5: white space around a field value is no part of it.
  serves('framing.spaced-values', SPELLED['wide-values'], {
    what: 'with several spaces around its header values',
    headline: 'Several spaces around header values get {answer}',
    why: 'Some clients and proxies align headers, or leave a space at the end.',
    change: 'Remove spaces around a header value before you use it.',
    ground: rfc9110('5.5', 'MUST'),
  }),
  // RFC 9110 §5.6.3: white space is spaces and tabs.
  serves('framing.tabbed-values', SPELLED['tabbed-values'], {
    what: 'with tabs around its header values',
    headline: 'Tabs around header values get {answer}',
    why: 'Where a proxy removes tabs and the server does not, they see different values.',
    change: 'Remove tabs around a header value like spaces.',
    ground: rfc9110('5.5', 'MUST'),
  }),
  // RFC 9112 §5: the space after the colon is optional.
  serves('framing.bare-colon', SPELLED['bare-colon'], {
    what: 'without spaces after the colons of its headers',
    headline: 'Headers without a space after the colon get {answer}',
    why: 'Small clients and devices leave the space out, and the standard lets them.',
    change: 'Split a header line at its first colon, and do not expect a space behind it.',
    ground: rfc9110('2.2', 'MUST'),
  }),
  // RFC 9110 §5.1: field names are case-insensitive.
  serves('framing.name-case', SPELLED['upper-names'], {
    what: 'with its header names in capitals',
    headline: 'Header names in capitals get {answer}',
    why: 'Libraries and proxies change the letter case of header names.',
    change: 'Compare header names in any letter case.',
    ground: rfc9110('5.1', 'MUST'),
  }),

  // RFC 9112 §7: the names of transfer codings are case-insensitive.
  readsChunks('framing.chunked-case', CHUNK_SPELLED['coding-case'], {
    what: 'content in chunks where Transfer-Encoding is Chunked',
    headline: 'Transfer-Encoding: Chunked is not read like chunked: {got}',
    why: 'Where a server and a proxy disagree on it, one request hides another.',
    change: 'Compare the names of transfer codings in any letter case.',
    ground: rfc9112('7', 'MUST'),
  }),
  // RFC 9112 §7.1: 1*HEXDIG.
  readsChunks('framing.chunk-zeros', CHUNK_SPELLED.zeros, {
    what: 'the size of a chunk with zeros before it',
    headline: 'Zeros before the size of a chunk are not read: {got}',
    why: 'Clients that write the size before they know it fill it up with zeros.',
    change: 'Read the size of a chunk as a hexadecimal number with any leading zeros.',
    ground: rfc9112('7.1', 'MUST'),
  }),
  readsChunks('framing.chunk-size-case', CHUNK_SPELLED['size-case'], {
    what: 'the size of a chunk in small letters',
    headline: 'The size of a chunk in small letters is not read: {got}',
    why: 'Half of all clients write a to f, and the others A to F.',
    change: 'Read hexadecimal digits in both letter cases.',
    ground: rfc9112('7.1', 'MUST'),
  }),
  // RFC 9112 §7.1.1: unknown extensions are ignored.
  readsChunks('framing.quoted-extension', CHUNK_SPELLED['quoted-extension'], {
    what: 'past a quoted value in the extension of a chunk',
    headline: 'A quoted value in a chunk extension is not ignored: {got}',
    why: 'Chunks are signed and marked in this way by some proxies and storage clients.',
    change: 'Ignore what stands between the size of a chunk and the end of its line.',
    ground: rfc9112('7.1.1', 'MUST'),
  }),
  // RFC 9112 §7.1.2: any number of them.
  readsChunks('framing.request-trailers', CHUNK_SPELLED.trailers, {
    what: 'the trailers behind content in chunks',
    headline: 'Several trailers behind content in chunks are not read: {got}',
    why: 'What is not read of them is taken for the next request.',
    change: 'Read lines behind the last chunk until an empty one comes.',
    ground: rfc9112('7.1.2', 'MUST'),
  }),
];

/** Lists in field values (RFC 9110 §5.6.1). */
export const listSpellings = [
  // RFC 9110 §5.2: the field value is that of all its lines.
  serves('negotiation.several-lines', SPELLED['several-lines'], {
    what: 'with Accept in two lines',
    headline: 'Accept in two lines gets {answer}',
    why: 'Libraries and proxies add a line of their own, so what the client takes stands in the second one.',
    change: 'Join the lines of a list header with commas before you read it.',
    ground: rfc9110('5.2', 'MUST'),
  }),
  // RFC 9110 §5.6.1.2: empty elements are ignored.
  serves('negotiation.empty-members', SPELLED['empty-members'], {
    what: 'with empty members in Accept',
    headline: 'Accept with empty members gets {answer}',
    why: 'Clients that join parts of a list leave commas with nothing between them.',
    change: 'Skip empty members when you read a list header.',
    ground: rfc9110('5.6.1', 'MUST'),
  }),
];
