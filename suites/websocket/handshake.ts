import {
  check,
  clause,
  clients,
  observation,
  originPolicy,
  practice,
  rfc6455,
  rfc7692,
  rfc9110,
  subprotocolsNamed,
} from '../../harness/engine/check/suite.ts';
import { deflateOffer } from './stimuli/deflate.ts';
import { connectionInTwoLines } from './stimuli/echo.ts';
import * as handshake from './stimuli/handshake-forms.ts';
import { badSubprotocol, foreignOrigin } from './stimuli/handshake-forms.ts';
import { comesBack, unknownSubprotocol } from './stimuli/liveness.ts';
import { opening, taken } from './stimuli/ordinary-client.ts';
import { everyTaken } from './stimuli/record.ts';

/** §4.2.2, item 5: a server that takes the handshake answers it with 101. */
export const firstHandshakeCheck = check('websocket.handshake', {
  title: 'opens a WebSocket at the configured address',
  headline: 'The WebSocket handshake gets {answer}',
  why: 'No client can connect.',
  change: 'Answer a handshake with 101, or correct the address and the credential in the config.',
  grounds: [clause('websocket.transport'), clause('websocket.address'), rfc6455('4.2.2', 'MUST')],
  uses: [opening],
  judge: ({ expect }) => expect().toBeOpened(),
});

/** How the service answers an opening handshake that is in order, in whatever form it comes (RFC 6455 §4). */
export const handshakeChecks = [
  // §4.2.2, item 5.4: SHA-1 of the key and the GUID, in base64.
  check('websocket.accept', {
    title: 'computes Sec-WebSocket-Accept from the key of the handshake',
    headline: 'Sec-WebSocket-Accept is not the value that the key asks for: {got}',
    why: 'Clients refuse the connection.',
    change: 'Send the SHA-1, in base64, of Sec-WebSocket-Key and the GUID of RFC 6455.',
    grounds: [rfc6455('4.2.2', 'MUST')],
    uses: [everyTaken],
    judge: ({ expect }) =>
      expect().toConform('the accept value of the key', (conversation) =>
        conversation.acceptIsRight ? null : (conversation.accept ?? 'none'),
      ),
  }),

  // §4.2.2, item 5.4: each handshake has a key of its own.
  check('websocket.accept-per-connection', {
    title: 'computes Sec-WebSocket-Accept anew for each connection',
    headline: 'Sec-WebSocket-Accept is the same on every connection',
    why: 'Clients refuse every connection but one.',
    change: 'Compute the value anew from the key of each handshake, and let nothing cache it.',
    grounds: [rfc6455('4.2.2', 'MUST')],
    uses: [taken, comesBack],
    async judge({ probe, expect }) {
      const { accept: first } = await probe(taken);
      const { conversation } = await probe(comesBack);
      await expect(conversation).toConform('another accept value', ({ accept }) =>
        accept !== null && accept === first ? 'that of the first connection' : null,
      );
    },
  }),

  check('websocket.upgrade-field', {
    title: 'says Upgrade: websocket in its 101',
    headline: 'The Upgrade header of the 101 is wrong: {got}',
    why: 'Clients refuse the connection, as the header shows what it was switched to.',
    change: 'Send Upgrade: websocket with the 101, also through a proxy.',
    grounds: [rfc6455('4.2.2', 'MUST')],
    uses: [everyTaken],
    judge: ({ expect }) =>
      expect().toConform('Upgrade: websocket', ({ handshake }) => {
        const value = handshake?.field('upgrade');
        return value?.toLowerCase() === 'websocket' ? null : (value ?? 'none');
      }),
  }),

  // §4.2.2, item 5.3: as a token of a list.
  check('websocket.connection-field', {
    title: 'says Connection: Upgrade in its 101',
    headline: 'The Connection header of the 101 is wrong: {got}',
    why: 'Clients refuse the connection, as the header says that it was switched.',
    change: 'Send Connection: Upgrade with the 101, also through a proxy.',
    grounds: [rfc6455('4.2.2', 'MUST')],
    uses: [everyTaken],
    judge: ({ expect }) =>
      expect().toConform('the token Upgrade in Connection', ({ handshake: answer }) => {
        const isThere = answer?.elements('connection').some((token) => token.toLowerCase() === 'upgrade');
        return isThere ? null : (answer?.field('connection') ?? 'none');
      }),
  }),

  // RFC 9110 §8.6, RFC 9112 §6.1: a 101 has no content, and says nothing of its length.
  check('websocket.switching-length', {
    title: 'says nothing of a length in its 101',
    headline: 'The 101 tells the length of content that it does not have: {got}',
    why: 'Proxies and clients take the first frames for that content.',
    change: 'Send neither Content-Length nor Transfer-Encoding with the 101.',
    grounds: [rfc9110('8.6', 'MUST')],
    uses: [everyTaken],
    judge: ({ expect }) =>
      expect().toConform('no Content-Length and no Transfer-Encoding', ({ handshake }) => {
        const name = ['Content-Length', 'Transfer-Encoding'].find((each) => handshake?.has(each));
        return name === undefined ? null : `${name}: ${handshake?.field(name)}`;
      }),
  }),

  // §4.2.1, items 3 and 4; RFC 9110 §5.1 for the field names.
  check('websocket.other-spelling', {
    title: 'accepts header names and words of the handshake in any letter case',
    headline: 'A handshake in other letter case gets {answer}',
    why: 'Proxies and libraries change the letter case of headers.',
    change: 'Ignore letter case in header names and in the words websocket and upgrade.',
    grounds: [rfc6455('4.2.1', 'MUST')],
    uses: [handshake.otherSpelling],
    judge: ({ expect }) => expect().toBeOpened(),
  }),

  check('websocket.other-order', {
    title: 'accepts the headers of the handshake in any order',
    headline: 'A handshake with its headers in another order gets {answer}',
    why: 'Each library and each proxy has an order of its own.',
    change: 'Look headers up by their names, never by their places.',
    grounds: [rfc9110('5.3', 'MUST')],
    uses: [handshake.otherOrder],
    judge: ({ expect }) => expect().toBeOpened(),
  }),

  // RFC 9110 §5.3: `Connection` is a list, whose members may stand in one line each.
  check('websocket.connection-in-two-lines', {
    title: 'accepts a handshake whose Connection header comes in two lines',
    headline: 'A handshake with Connection in two lines gets {answer}',
    why: 'Some proxies send keep-alive and Upgrade in lines of their own.',
    change: 'Join the lines of Connection with commas before you look for Upgrade.',
    grounds: [rfc9110('5.3', 'MUST')],
    uses: [connectionInTwoLines],
    judge: ({ expect }) => expect().toBeOpened(),
  }),

  // §1.5, §5.2: both are sequences of octets; how TCP cuts them has no meaning.
  check('websocket.octet-by-octet', {
    title: 'accepts a handshake and a Ping that come byte by byte',
    headline: 'A handshake and a Ping that come byte by byte get {answer}',
    why: 'Networks cut what is sent wherever they like.',
    change: 'Collect bytes until the headers, or the frame, are complete.',
    grounds: [rfc6455('4.2.1', 'MUST')],
    uses: [handshake.octetByOctet],
    async judge({ expect }) {
      await expect().toBeOpened();
      await expect().toAnswerPings();
    },
  }),
];

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

  // §1.9: the server includes the selected one. A client that gets none has to do without what it was written for.
  check('websocket.subprotocol-selected', {
    title: 'selects one of the subprotocols of the config',
    headline: 'None of the configured subprotocols is selected',
    why: 'Browsers end a connection on which none of the offered subprotocols was selected.',
    change: 'Select a subprotocol that was offered, or correct websocket.subprotocols in the config.',
    grounds: [clients('browsers end such a connection (WHATWG WebSockets, 2)')],
    applies: [subprotocolsNamed],
    uses: [taken],
    judge: ({ expect }) =>
      expect().toConform('one of the offered subprotocols', ({ subprotocol }) =>
        subprotocol === null ? 'none' : null,
      ),
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
