import {
  check,
  observation,
  originPolicy,
  practice,
  rfc6455,
  rfc7692,
} from '../../harness/engine/check/suite.ts';
import { deflateOffer } from './stimuli/deflate.ts';
import { badSubprotocol, foreignOrigin } from './stimuli/handshake-forms.ts';
import { unknownSubprotocol } from './stimuli/liveness.ts';
import { everyTaken } from './stimuli/record.ts';

const PROTOCOL = 'sec-websocket-protocol';
/** RFC 9110 §5.6.2 */
const WORD = /^[!#$%&'*+.^_`|~\w-]+$/;

// RFC 7692 §7.1: for an offer without parameters, nothing that needs an offer comes back.
export const deflateAnswer = check('websocket.deflate-answer', {
  title: 'answers an offer of permessage-deflate within what was offered, or declines it',
  headline: 'The answer to permessage-deflate goes beyond the offer: {got}',
  why: 'Clients have to refuse the connection on a parameter that they did not offer.',
  change: 'Answer with parameters that were offered, or decline permessage-deflate.',
  grounds: [rfc7692('7.1', 'MUST')],
  uses: [deflateOffer],
  judge: ({ expect }) => expect().toFitTheOffer(),
});

/** What client and service agree on in the handshake: subprotocol, extensions, and for whose pages (RFC 6455 §9, §10). */
export const negotiationChecks = [
  // §4.2.2, item 5.5 and /subprotocol/: one of those offered, or none.
  check('websocket.unoffered-subprotocol', {
    title: 'selects no subprotocol that was not offered',
    headline: 'The handshake selects a subprotocol that nobody offered: {got}',
    why: 'Clients have to refuse the connection.',
    change: 'Select one of the offered subprotocols, or leave Sec-WebSocket-Protocol out.',
    grounds: [rfc6455('4.2.2', 'MUST')],
    uses: [unknownSubprotocol, everyTaken],
    judge: ({ expect }) =>
      expect()
        .where((conversation) => conversation.offered(PROTOCOL).every((each) => WORD.test(each)))
        .toConform('an offered subprotocol, or none', (conversation) => {
          const { subprotocol } = conversation;
          if (subprotocol === null || conversation.offered(PROTOCOL).includes(subprotocol)) return null;
          return `"${subprotocol}"`;
        }),
  }),

  // §4.1, item 10 and §4.2.2, /subprotocol/: a token, whatever was offered.
  check('websocket.bad-subprotocol', {
    title: 'selects no subprotocol that is not a single word',
    headline: 'The handshake selects a subprotocol that is none: {got}',
    why: 'Clients refuse the connection, or take a part of it for another subprotocol.',
    change: 'Select subprotocols from your own list, and ignore whatever else is offered.',
    grounds: [rfc6455('4.2.2', 'MUST')],
    uses: [badSubprotocol],
    judge: ({ expect }) =>
      expect().toConform('a subprotocol that is a word, or none', ({ opened, subprotocol }) =>
        opened && subprotocol !== null && !WORD.test(subprotocol) ? `"${subprotocol}"` : null,
      ),
  }),

  // §4.2.2, item 5.6 and §9.1: extensions are the client's to offer.
  check('websocket.unoffered-extension', {
    title: 'selects no extension that was not offered',
    headline: 'The handshake selects an extension that nobody offered: {got}',
    why: 'Clients have to refuse the connection.',
    change: 'Select offered extensions only, or leave Sec-WebSocket-Extensions out.',
    grounds: [rfc6455('9.1', 'MUST')],
    uses: [deflateOffer, everyTaken],
    judge: ({ expect }) =>
      expect().toConform('no extension but those offered', ({ unofferedExtensions }) =>
        unofferedExtensions.length === 0 ? null : unofferedExtensions.join(', '),
      ),
  }),

  deflateAnswer,

  // RFC 7692 §5: whether to compress is the server's to decide.
  observation('websocket.deflate', {
    title: 'compresses messages, or does not',
    why: 'It shows whether it is worth offering compression.',
    grounds: [rfc7692('5', 'MAY')],
    uses: [deflateOffer],
    async observe({ probe }) {
      const { opened, handshake: answer } = await probe(deflateOffer);
      const selected = opened ? (answer?.field('sec-websocket-extensions') ?? null) : null;
      return { seen: selected, note: selected ?? 'permessage-deflate is declined' };
    },
  }),

  // §10.2: a browser's page of another origin acts with the user's credentials; the server is who can tell.
  check('websocket.foreign-origin', {
    title: 'refuses the pages of other origins',
    headline: 'A page of another origin gets {answer}',
    why: 'Any web page can open a connection with the login of its visitor.',
    change: 'Compare Origin with the sites that you trust, and answer 403 to all others.',
    grounds: [rfc6455('10.2', 'SHOULD'), practice('OWASP CSWSH')],
    applies: [originPolicy],
    uses: [foreignOrigin],
    judge: ({ expect }) => expect().toBeTurnedAway(),
  }),
];
