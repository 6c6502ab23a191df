import {
  type CheckDefinition,
  check,
  clause,
  credentialDemanded,
  given,
  handshakeCredential,
  keyInHeader,
  keyInQuery,
  noQueryKey,
  noRefusalCode,
  observation,
  practice,
  refusalCode,
  rfc9110,
} from '../../harness/engine/check/suite.ts';
import { keysToRefuse, refusalClass, refusedKeys } from '../auth/bad-credentials.ts';
import { challenge } from '../auth/refusals.ts';
import type { RowNotes } from '../row.ts';
import type { Conversations } from './rows.ts';
import * as handshake from './stimuli/handshake-forms.ts';
import { everyHandshake } from './stimuli/record.ts';

interface BadHandshake extends RowNotes<'restsOn'> {
  /** Completes "refuses a handshake …" and "A handshake … gets status 101". */
  readonly what: string;
}

/** To close the connection at once is as safe as to refuse the handshake. If clients log in by message, nothing is served before. */
const turnsAway = (id: string, probe: Conversations, { what, ...notes }: BadHandshake): CheckDefinition =>
  check(id, {
    ...notes,
    title: `refuses a handshake ${what}, or serves nothing after it`,
    headline: `A handshake ${what} gets {answer}`,
    grounds: [clause('auth.scheme'), practice('OWASP API2:2023')],
    uses: [probe],
    judge: ({ expect, service }) =>
      expect()
        .where(
          ({ isServed }) => !isServed || handshake.isKnownToAnswer(service),
          'the connection stays open, and no message shows whether it serves anything (websocket.echo, websocket.exchange)',
        )
        .toConform('a refusal', (conversation) => {
          const answer = handshake.serviceShown(conversation, service);
          return answer === null ? null : `status 101 and ${answer}`;
        }),
  });

// auth.scheme holds for handshakes as well: they are requests.
const missingCredential = turnsAway('websocket.missing-credential', handshake.withoutCredential, {
  what: 'without a credential',
  why: 'Anyone can open a connection and use it.',
  change: 'Look for the credential before you answer 101, and answer 401 when there is none.',
});
const wrongCredential = turnsAway('websocket.wrong-credential', handshake.wrongCredential, {
  what: 'with a wrong key',
  why: 'If any key opens a connection, the key protects nothing.',
  change: 'Check the key of a handshake with the same code as that of a request.',
  restsOn: [missingCredential],
});

/** Who may connect. */
export const credentialChecks = given(
  [handshakeCredential],
  [
    ...given([credentialDemanded], [missingCredential]),
    wrongCredential,
    turnsAway('websocket.near-credential', handshake.nearCredentials, {
      what: 'with a key that is nearly right',
      why: 'A key that works in part, or with something added, is far easier to guess.',
      change: 'Compare the key of a handshake in full, its length and letter case included.',
      restsOn: [missingCredential, wrongCredential],
    }),

    // auth.refused-keys, where clients of a WebSocket come in.
    ...given(
      [keysToRefuse],
      [
        turnsAway('websocket.refused-keys', handshake.refusedKeys, {
          what: 'with a key that is known not to be good',
          why: 'Whoever has an old or foreign key goes on listening: a key that leaked, or a client that is no longer one.',
          change:
            'Look at each handshake whether the key still stands, and is for this service, as at other requests.',
          restsOn: [missingCredential, wrongCredential, refusedKeys],
        }),
      ],
    ),

    // RFC 6455 §4.2.2, item 2: the server may authenticate the client, with 401. What opens first has a door open.
    check('websocket.refusal-before-opening', {
      title: 'refuses a bad credential with an HTTP error, before the connection opens',
      headline: 'A handshake with a bad credential is refused with {answer}',
      why: 'Clients see no reason, or a connection that opens and closes, and come back again and again.',
      change: 'Check the credential before you answer 101, and answer 401.',
      grounds: [practice('OWASP API2:2023')],
      applies: [noRefusalCode],
      repeats: [refusalClass],
      uses: [handshake.refusals],
      judge: ({ expect }) =>
        expect()
          .where(({ isServed }) => !isServed, 'no handshake is refused')
          .toConform('status 4xx', ({ status, closeCode }) => {
            if (status !== null && status >= 400 && status < 500) return null;
            if (status === null) return 'no HTTP answer';
            return closeCode !== null ? `101 and the close code ${closeCode}` : `status ${status}`;
          }),
    }),

    // RFC 6455 §7.4.2: 4000 to 4999 are for those who agree on them.
    check('websocket.refusal-code', {
      title: 'refuses a bad credential with an HTTP error, or with the documented close code',
      headline: 'A bad credential on a WebSocket gets {answer}',
      why: 'By the documented code a client knows that it has to sign in again.',
      change: 'Answer 401 to the handshake, or close with the documented code.',
      grounds: [clause('auth.scheme'), practice('documented close codes')],
      applies: [refusalCode],
      uses: [handshake.refusals],
      judge({ service, expect }) {
        const code = service.websocket?.refusalCode;
        const wanted = `status 4xx, or the close code ${code}`;
        return expect().toConform(wanted, ({ status, opened, isOver, closeCode, afterwards }) => {
          if (status !== null && status >= 400 && status < 500) return null;
          if (!opened) return status === null ? 'no HTTP answer' : `status ${status}`;
          if (closeCode === code) return null;
          return isOver ? `the close code ${closeCode ?? 'none'}` : `status 101 and ${afterwards}`;
        });
      },
    }),

    // RFC 9110 §11.6.1: a 401 carries WWW-Authenticate with at least one challenge.
    check('websocket.refusal-challenge', {
      title: 'sends a well-formed WWW-Authenticate header with the 401 to a handshake',
      headline: 'The WWW-Authenticate header of a refused handshake is not valid: {got}',
      why: 'Clients learn from this header how to sign in.',
      change: 'Add WWW-Authenticate with your scheme to the 401, as to other requests.',
      grounds: [rfc9110('11.6.1', 'MUST')],
      repeats: [challenge],
      uses: [handshake.refusals, everyHandshake],
      judge: ({ expect }) =>
        expect()
          .where(({ status }) => status === 401, 'no handshake was answered 401')
          .toConform('WWW-Authenticate with a challenge', ({ handshake: answer }) =>
            answer === null ? 'no answer' : answer.challengeFault,
          ),
    }),

    // Answers to handshakes are logged like others.
    check('websocket.key-not-echoed', {
      title: 'never sends a key, or part of one, back in its answer to a handshake',
      headline: 'The answer to a handshake gives away the key: {got}',
      why: 'Answers end up in logs and error trackers, and the key with them.',
      change: 'Leave the received key out of headers and error texts.',
      grounds: [practice('OWASP API8:2023')],
      uses: [handshake.refusals, handshake.otherVersion, everyHandshake],
      judge: ({ expect }) =>
        expect().toConform('no credential in the answer', ({ handshake: answer }) =>
          answer?.credentialTrace ? `one in ${answer.credentialTrace}` : null,
        ),
    }),

    // Addresses end up in logs, histories and Referer fields.
    check('websocket.key-in-query', {
      title: 'does not accept the key in the query of the handshake where the header works',
      headline: 'The key works in the query of the WebSocket URL as well',
      why: 'URLs end up in the logs of servers and proxies, and the key with them.',
      change: 'Read the key of a handshake from its header alone.',
      grounds: [practice('OWASP API2:2023')],
      applies: [keyInHeader, noQueryKey],
      uses: [handshake.withoutCredential, handshake.keyInQuery],
      async judge({ probe, expect, notApplicable }) {
        // Where no credential is asked for, the key in the query opens nothing.
        if ((await probe(handshake.withoutCredential)).isServed) {
          notApplicable('the connection opens without a credential too');
        }
        await expect(handshake.keyInQuery).toBeTurnedAway();
      },
    }),

    // Browsers cannot set header fields of a handshake: where the documents place the key in the query, that is its place.
    observation('websocket.key-needs-query', {
      title: 'accepts the key of a handshake in the header as well as in the query, or does not',
      why: 'Clients other than browsers can then keep the key out of the URL.',
      grounds: [clause('auth.credential-name')],
      applies: [keyInQuery],
      uses: [handshake.keyInHeader],
      async observe({ probe }) {
        const { isServed, refusal } = await probe(handshake.keyInHeader);
        return {
          seen: !isServed,
          note: isServed ? 'in the header as well' : `in the query alone (in the header: ${refusal})`,
        };
      },
    }),

    // errors.codes does not show how a handshake is refused.
    observation('websocket.refusal', {
      title: 'refuses a missing and a wrong credential in a handshake in some form',
      why: 'By the answer a client decides whether to sign in again.',
      grounds: [clause('errors.codes')],
      uses: [handshake.withoutCredential, handshake.wrongCredential],
      async observe({ probe }) {
        const { refusal: missing } = await probe(handshake.withoutCredential);
        const { refusal: wrong } = await probe(handshake.wrongCredential);
        return { seen: { missing, wrong }, note: `missing ${missing}, wrong ${wrong}` };
      },
    }),
  ],
);
