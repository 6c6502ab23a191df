import {
  check,
  clause,
  clients,
  credentialDemanded,
  FRAMED,
  given,
  IN_CONTENT,
  observation,
  rfc,
  spokenOverHttp2,
  suite,
} from '../../harness/engine/check/suite.ts';
import { withoutCredential } from '../auth/stimuli/credential.ts';
import { stable } from '../status/documented-answer.ts';
import { rawSample, sample } from '../stimuli/sample.ts';
import { besideReset, difference, everyHttp2Message, inBothAgain } from './stimuli/http2.ts';

// RFC 9113 §8.1.1: clients treat a malformed response as an error of its stream.
const wellFormed = check('http2.well-formed', {
  title: 'sends well-formed responses in HTTP/2',
  headline: 'A response in HTTP/2 is malformed: {got}',
  why: 'Clients and browsers reset the stream and drop the response.',
  change:
    'Write header names in lower case, leave out Connection, Keep-Alive, Transfer-Encoding and Upgrade, and let the library write the pseudo-headers.',
  grounds: [rfc(9113, '8.2.1', 'MUST'), rfc(9113, '8.2.2', 'MUST'), rfc(9113, '8.3', 'MUST')],
  uses: [everyHttp2Message],
  judge: ({ expect }) =>
    expect().toConform(
      'a message by RFC 9113 §8',
      ({ exchange: { failure } }) => (failure?.kind === 'malformed' ? failure.message : null),
      FRAMED,
    ),
});

/** RFC 9110 §15.5.20, §15.5.22, §15.6.6: HTTP/1.1 is not served here. */
const OTHER_VERSION: ReadonlySet<number | null> = new Set([421, 426, 505]);

/** HTTP/2 (RFC 9113), if the service speaks it. */
export const http2 = suite(
  'http2',
  'HTTP/2',
  given(
    [spokenOverHttp2],
    [
      wellFormed,

      // RFC 9110 §6: the versions of HTTP share their semantics.
      check('http2.same-answer', {
        title: 'gives the same answer in HTTP/1.1 and in HTTP/2',
        headline: 'HTTP/1.1 and HTTP/2 get different answers: {got}',
        why: 'Clients choose the version by themselves: the same call works in one program and fails in another.',
        change: 'Route both versions to the same handler, also in the proxy in front of it.',
        grounds: [clients('programs and browsers choose the version by themselves')],
        restsOn: [wellFormed, stable],
        uses: [sample, rawSample, inBothAgain],
        async judge({ probe, expect, blocked, notApplicable }) {
          const [newer, older] = [await probe(sample), await probe(rawSample)];
          if (older.exchange.request.httpVersion === '2') notApplicable('the service speaks HTTP/2 alone');
          if (OTHER_VERSION.has(older.status)) notApplicable('the service asks for another version of HTTP');
          const unread = IN_CONTENT.unread(older.response, older);
          if (unread !== null) blocked(`the answer in HTTP/1.1 cannot be compared: ${unread}`);
          if (difference(newer, older) !== null) {
            const again = await probe(inBothAgain);
            const changes = difference(again.newer, newer) ?? difference(again.older, older);
            if (changes !== null) blocked(`the answer changes within one version as well: ${changes}`);
          }
          await expect(sample).toConform(
            'the same as in HTTP/1.1',
            (reply) => difference(reply, older),
            IN_CONTENT,
          );
        },
      }),

      // RFC 9113 §5.4.2: an error of a stream affects no other.
      check('http2.stream-reset', {
        title: 'answers a request beside one that the client resets',
        headline: 'A request is lost when the client resets another one beside it: {got}',
        why: 'Browsers reset requests all the time: all others on the connection fail.',
        change:
          'End the stream that is reset and nothing else; look for a handler that closes the connection.',
        grounds: [clients('browsers reset requests and go on with the connection')],
        applies: [credentialDemanded],
        restsOn: [wellFormed],
        uses: [withoutCredential, besideReset],
        async judge({ probe, expect }) {
          const { status: alone } = (await probe(withoutCredential)).response;
          await expect(besideReset).toConform(
            `status ${alone}, as alone`,
            ({ status }) => {
              if (status === alone) return null;
              return status === null ? 'no answer' : `status ${status}`;
            },
            FRAMED,
          );
        },
      }),

      // RFC 8441 §3: SETTINGS_ENABLE_CONNECT_PROTOCOL. No client has to use it.
      observation('http2.websocket', {
        title: 'takes WebSocket connections on streams of HTTP/2, or does not',
        why: 'A client with one HTTP/2 connection needs no further one for WebSocket then.',
        grounds: [clause('endpoint.response-fields')],
        records: 'http2.websocket',
        uses: [sample],
        async observe({ probe }) {
          const { exchange } = await probe(sample);
          const seen = exchange.connection?.takesWebSockets === true;
          return { seen, note: seen ? 'it says that it does (RFC 8441)' : 'it does not say so' };
        },
      }),

      // RFC 9113 §6.8, §8.7: clients send such a request again by themselves.
      observation('http2.unprocessed', {
        title: 'ends connections or refuses streams before it processes requests, or does not',
        why: 'Clients send such a request again: each costs a connection or a round trip.',
        grounds: [clause('endpoint.response-fields')],
        records: 'http2.unprocessed',
        uses: [everyHttp2Message],
        async observe({ probe }) {
          const { all } = await probe(everyHttp2Message);
          const seen = all.some(({ exchange }) => exchange.connection?.replaced != null);
          return { seen, note: seen ? 'it did, and the requests were sent again' : 'it did not' };
        },
      }),
    ],
  ),
);
