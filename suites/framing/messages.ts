import { check, FRAMED, rfc9110, rfc9112 } from '../../harness/engine/check/suite.ts';
import { everyMessage } from '../stimuli/record.ts';
import { unasked } from './stimuli/connection.ts';

// RFC 9112 §9.2: a response belongs to a request by their order alone, so one too many answers the next request.
export const oneResponse = check('framing.one-response', {
  title: 'sends one response to one request',
  headline: 'More follows a response, though nothing else was asked: {got}',
  why: 'A client that keeps the connection takes it for the answer to its next request, which may be for someone else.',
  change:
    'Answer each request once; look for a handler that writes a second response or goes on writing after the end.',
  grounds: [rfc9112('9.2', 'MUST')],
  uses: [unasked],
  judge: ({ expect }) =>
    expect().toConform('nothing more after the response', ({ octets }) => octets && `"${octets}"`),
});

/** The end of a message, and its trailers. */
export const messages = [
  // RFC 9110 §8.6: Content-Length is the number of octets that follow.
  check('framing.content-length', {
    title: 'sends as many bytes as Content-Length says',
    headline: 'Content-Length does not fit the body: {got}',
    why: 'Clients wait for bytes that never come, or lose the end of the body.',
    change: 'Count the bytes of the body as it is sent, after encoding and compression.',
    grounds: [rfc9110('8.6', 'MUST')],
    uses: [everyMessage],
    judge: ({ expect }) =>
      expect().toConform(
        'the octets that Content-Length declares',
        (reply) => reply.framingFault('length'),
        FRAMED,
      ),
  }),

  // RFC 9112 §7.1: the size of each chunk in hexadecimal, its octets, and a last one of size 0.
  check('framing.chunks', {
    title: 'sends well-formed chunks where it sends chunks',
    headline: 'The chunks of a body are malformed: {got}',
    why: 'Clients cannot tell where the body ends, and drop the response.',
    change: 'Let the HTTP library write the chunks.',
    grounds: [rfc9112('7.1', 'MUST')],
    uses: [everyMessage],
    judge: ({ expect }) =>
      expect().toConform('well-formed chunks', (reply) => reply.framingFault('chunks'), FRAMED),
  }),

  // RFC 9112 §2.1 and §6.3: lines end with CRLF, and nothing follows the message.
  check('framing.one-message', {
    title: 'sends one well-formed response and nothing else',
    headline: 'The response is not one well-formed message: {got}',
    why: 'The client loses the response, or takes what follows for the next one, which may be for someone else.',
    change: 'Send as many bytes as you declare, nothing behind them, and leave the rest to the HTTP library.',
    grounds: [rfc9112('6.3', 'MUST'), rfc9112('2.1', 'MUST')],
    restsOn: [oneResponse],
    uses: [everyMessage],
    judge: ({ expect }) =>
      expect().toConform(
        'one message framed by RFC 9112',
        (reply) => {
          const others = ['length', 'chunks', 'no-content'] as const;
          const isNamed = others.some((matter) => reply.framingFault(matter) !== null);
          const { request, failure: thrown } = reply.exchange;
          // RFC 9112 §9.6: a server that refuses a request before its end may reset the connection.
          const isRefusedEarly = request.piecemeal === true && thrown?.kind === 'reset';
          const failure = isNamed || isRefusedEarly || reply.cut ? null : thrown;
          return reply.framingFault('lines') ?? failure?.message ?? null;
        },
        FRAMED,
      ),
  }),

  // RFC 9110 §6.5.1: nothing that is needed before the content is read.
  check('framing.trailers', {
    title: 'sends nothing behind a body that belongs before it',
    headline: 'A header comes only behind the body: {got}',
    why: 'Clients have used the body by then, or drop its trailers.',
    change: 'Send such headers before the body.',
    grounds: [rfc9110('6.5.1', 'MUST')],
    uses: [everyMessage],
    judge: ({ expect }) =>
      expect()
        .where(({ response }) => response.hasTrailers, 'no response has trailers')
        .toConform('no such trailer', ({ response }) => response.misplacedTrailer),
  }),
];
