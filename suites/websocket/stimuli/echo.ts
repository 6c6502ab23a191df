import { Blocked, NotApplicable } from '../../../harness/base/verdict.ts';
import { connecting, derived, type Probe, risky } from '../../../harness/engine/session/probe.ts';
import {
  LONGEST_MS,
  type OpenConversation,
} from '../../../harness/engine/session/websocket/open-conversation.ts';
import { encodeFrame, OPCODE } from '../../../harness/wire/conversation/frame.ts';
import { carriesTheSame, type Message } from '../../../harness/wire/conversation/message.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { visible } from '../../../harness/wire/octets/utf8.ts';
import { alive, heldOpen, taken } from './ordinary-client.ts';
import { alongHandshake, type Exchange } from './series.ts';

/** Messages that an echo endpoint sends back. */

/** A short text message: the twin of all others. */
export const textEcho = heldOpen(
  'websocket-text-echo',
  'a WebSocket with a text message',
  async (conversation) => {
    await conversation.echo('text', 'conform');
    await conversation.close(1000);
  },
);

type Sent = readonly [kind: 'text' | 'binary', ...fragments: (string | Uint8Array)[]];

function send(conversation: OpenConversation, [kind, ...fragments]: Sent): Promise<boolean> {
  return conversation.echo(kind, ...fragments);
}

/** Number of characters of an answer that are shown. */
const SHOWN = 60;

/** What the endpoint does instead of an echo, in words; null if the message came back, even damaged or among others. */
export const insteadOfEcho: Probe<string | null> = derived(
  'websocket-instead-of-echo',
  [textEcho, alive],
  async ({ ask }) => {
    const twin = await ask(textEcho);
    const [ours] = twin.sent;
    if (ours === undefined || twin.messages.some((message) => isLike(message, ours))) return null;
    // Our message may have been under way when a greeting came; the ordinary client sends none.
    const { greeting, dialect } = await ask(alive);
    if (dialect !== null) return `it speaks ${dialect}`;
    const answer = twin.messages.find((each) => greeting === null || !carriesTheSame(each, greeting));
    if (answer !== undefined) {
      const { kind, text } = answer;
      return `it answers with a ${kind} message${text === null ? '' : `, ${JSON.stringify(visible(text, SHOWN))}`}`;
    }
    if (twin.unaskedEnd !== null) return `it ends the connection (close code ${twin.closeCode ?? 'none'})`;
    return greeting === null ? 'it sends nothing back' : 'it speaks first, and sends nothing back';
  },
);

/** The same, a piece of it, or of the same length and mostly the same. */
function isLike({ payload, length }: Message, ours: Message): boolean {
  if (length === 0 || length > ours.length) return false;
  if (Buffer.from(ours.payload).includes(Buffer.from(payload))) return true;
  const same = payload.filter((octet, index) => octet === ours.payload[index]).length;
  return length === ours.length && same > length / 2;
}

/** A short text message, if the endpoint is an echo at all, even one that damages messages. */
export const ofAnEcho = derived('websocket-of-an-echo', [insteadOfEcho, textEcho], async ({ ask }) => {
  const instead = await ask(insteadOfEcho);
  if (instead !== null) throw new NotApplicable(`the endpoint does not echo: ${instead}`);
  return ask(textEcho);
});

/** The same, if it came back. */
export const echoes = derived('websocket-echoes', [ofAnEcho], async ({ ask }) => {
  const twin = await ask(ofAnEcho);
  if (twin.echoes.every(({ isSame }) => isSame)) return twin;
  throw new Blocked('a short text message is not sent back, so this would prove nothing');
});

/** The same, if the config says that it should. */
export const echoesAsConfigured = derived(
  'websocket-echoes-as-configured',
  [echoes],
  async ({ ask, config }) => {
    if (!config.websocket?.echo) throw new NotApplicable('no echo is configured');
    return ask(echoes);
  },
);

/** In octets. */
export const LONGEST_ECHO = 1 << 20;
const LENGTHS = [65_535, 65_536, LONGEST_ECHO];

/** §5.2: at the edges of the length encodings, as long as each comes back and the line is fast enough for the next. */
export const longEchoes = risky(
  connecting('websocket-long-echoes', { needs: [echoes] }, async ({ ask, websocket, clock }) => {
    const [twin] = (await ask(echoes)).echoes;
    // A service may take its time, whatever the length.
    const shortMs = twin?.back ? twin.back.atMs - twin.sent.atMs : 0;
    return websocket.hold('a WebSocket with messages of 65,535 octets to 1 MiB', async (conversation) => {
      let octetMs = 0;
      for (const length of LENGTHS) {
        const sinceMs = clock.now();
        if (octetMs * length > LONGEST_MS / 2) break;
        if (!(await conversation.longEcho('text', patterned(length)))) break;
        octetMs = Math.max(0, clock.now() - sinceMs - shortMs) / length;
      }
      await conversation.close(1000);
    });
  }),
);

/** Messages longer than this many octets meet the limits of some servers. */
const SURELY_TAKEN = 4096;

/** The length at which the service ended the connection instead of an answer; null if it did not. */
export function refusedLength(conversation: ConversationView): number | null {
  const { serverClose, clientClose, ended } = conversation;
  const unasked = serverClose !== null ? serverClose.atMs < (clientClose?.atMs ?? Infinity) : ended !== null;
  const lost = conversation.echoes.find(({ back }) => back === null)?.sent.length ?? 0;
  return unasked && lost > SURELY_TAKEN ? lost : null;
}

/** Those of all messages but the one that was too long. */
export function takenEchoes(conversation: ConversationView): ConversationView['echoes'] {
  const refused = refusedLength(conversation);
  return conversation.echoes.filter(({ sent, back }) => back !== null || sent.length !== refused);
}

/** The connection was ended over a message that may be too long. */
export function isEndedByLength({ unaskedEnd, clientFrames }: ConversationView): boolean {
  const length = clientFrames.reduce((sum, { frame }) => sum + frame.length, 0);
  return unaskedEnd !== null && length > SURELY_TAKEN;
}

const PARTS = 32;

/** The length that is refused in one frame, in fragments: the limit of frames may be lower than that of messages. */
export const longFragmentedEcho = risky(
  connecting('websocket-long-fragmented-echo', { needs: [longEchoes] }, async ({ ask, websocket }) => {
    const length = refusedLength(await ask(longEchoes));
    if (length === null) throw new NotApplicable('no message was too long for it');
    const parts = Array.from({ length: PARTS }, () => patterned(Math.ceil(length / PARTS)));
    return websocket.hold(
      `a WebSocket with a message of ${length} octets in ${PARTS} fragments`,
      async (conversation) => {
        await conversation.echo('text', ...parts);
        await conversation.close(1000);
      },
    );
  }),
);

/** §5.6, §8.1: characters that are easily lost, one message each. */
const CHARACTERS = [
  '\ufeffBOM',
  'NUL\u0000NUL',
  '\u{1f600} \u{10ffff}',
  '\uffff \ufdd0',
  'e\u0301 \u00e9',
  // The first and the last of each length, and those next to the surrogates (RFC 3629 §3).
  '\u007f \u0080 \u07ff \u0800',
  '\ud7ff \ue000 \ufffd',
  '\ufffe \u{10000} \u{10fffe}',
  '\u{1fffe} \u{1ffff} \u{2fffe}',
];

/** Fragments of one message. */
const MANY = 64;

function messages(...all: readonly Sent[]): Exchange {
  return async (conversation) => {
    for (const message of all) if (!(await send(conversation, message))) return false;
    return true;
  };
}

/** A message in two fragments with something between them, which leaves it whole. */
function around(between: (conversation: OpenConversation) => Promise<unknown>): Exchange {
  return async (conversation) => {
    await conversation.text('con', { fin: false });
    await between(conversation);
    await conversation.frame(OPCODE.continuation, 'form');
    return conversation.returned(Buffer.from('conform'));
  };
}

export const {
  handshake: connectionInTwoLines,
  binaryEcho,
  emptyEcho,
  shortEchoes,
  binaryLengthEchoes,
  fragmentedEchoes,
  manyFragmentsEcho,
  echoAroundPing,
  echoAroundPong,
  characterEchoes,
} = alongHandshake({
  name: 'websocket-connection-in-two-lines',
  // RFC 9110 §5.3: a list may be spread over several lines.
  stimulus: {
    purpose: 'a WebSocket handshake whose Connection comes in two lines',
    fields: [
      ['Connection', 'keep-alive'],
      ['Connection', 'Upgrade'],
    ],
  },
  held: taken,
  when: echoesAsConfigured,
  twins: [echoes],
  exchanges: {
    binaryEcho: [
      'websocket-binary-echo',
      'a WebSocket with a binary message',
      messages(['binary', Uint8Array.of(0x00, 0xff, 0xc0, 0x80, 0x0a)]),
    ],
    emptyEcho: ['websocket-empty-echo', 'a WebSocket with an empty message', messages(['text', ''])],
    // §5.2: at the edges of the length encodings.
    shortEchoes: [
      'websocket-short-echoes',
      'a WebSocket with messages of 125 to 127 octets',
      messages(...[125, 126, 127].map((length): Sent => ['text', patterned(length)])),
    ],
    binaryLengthEchoes: [
      'websocket-binary-length-echoes',
      'a WebSocket with binary messages of 0 to 4096 octets',
      messages(...[0, 125, 126, 128, 4096].map((length): Sent => ['binary', patterned(length)])),
    ],
    // §5.4: in three fragments, with empty ones, and cut within a character.
    fragmentedEchoes: [
      'websocket-fragmented-echoes',
      'a WebSocket with messages in fragments',
      messages(
        ['text', 'con', 'fo', 'rm'],
        ['text', '', 'conform', ''],
        ['text', Uint8Array.of(0xe2, 0x82), Uint8Array.of(0xac)],
      ),
    ],
    // §5.4: as many as there may be.
    manyFragmentsEcho: [
      'websocket-many-fragments-echo',
      `a WebSocket with a message in ${MANY} fragments`,
      messages(['text', ...Array.from({ length: MANY }, (_, index) => patterned(index % 5))]),
    ],
    // §5.4, §5.5: a control frame between the fragments leaves the message whole; §5.5.3: nobody asked for the Pong.
    echoAroundPing: [
      'websocket-echo-around-ping',
      'a WebSocket with a Ping within a message',
      around((conversation) => conversation.ping('within')),
    ],
    echoAroundPong: [
      'websocket-echo-around-pong',
      'a WebSocket with a Pong within a message',
      around((conversation) => conversation.frame(OPCODE.pong, 'within')),
    ],
    characterEchoes: [
      'websocket-character-echoes',
      'a WebSocket with unusual characters',
      messages(...CHARACTERS.map((characters): Sent => ['text', characters])),
    ],
  },
});

/** ASCII characters that differ by their place, so that a loss or an exchange shows. */
function patterned(length: number): Uint8Array {
  const octets = new Uint8Array(length);
  for (let index = 0; index < length; index++) octets[index] = 0x20 + ((index * 31 + (index >> 8) * 7) % 95);
  return octets;
}

/** It was ended over a long message, and no Close came. A reset for unread octets may have destroyed it (RFC 6455 §7.1.1). */
export function isDropped(view: ConversationView): boolean {
  return refusedLength(view) !== null && view.serverClose === null;
}

/** Octets of a masking key. */
const KEY = 4;
/** After this many pieces the content, except for its last octet, may be unread. */
const CONTENT = 3;

/** The length over which the connection was dropped, once more: a step at a time, each read before the next. */
export const longInSteps = risky(
  connecting('websocket-long-in-steps', { needs: [longEchoes] }, async ({ ask, websocket }) => {
    const refused = await ask(longEchoes);
    if (!isDropped(refused))
      throw new NotApplicable('no connection ended without a Close over a long message');
    const length = refusedLength(refused) ?? 0;
    // A key of zeros leaves the content as it is.
    const mask = new Uint8Array(KEY);
    const octets = encodeFrame({ opcode: OPCODE.text, payload: Buffer.alloc(length, 'a'), mask });
    const content = octets.length - length;
    const cuts = [0, content - KEY, content, octets.length - 1, octets.length];
    return websocket.hold(
      `a WebSocket with a message of ${length} octets, a step at a time`,
      async (conversation) => {
        for (const [index, note] of ['a length', 'a masking key', 'content', 'the last octet'].entries()) {
          const piece = octets.subarray(cuts[index], cuts[index + 1]);
          if (await conversation.endsUpon(piece, note)) return;
        }
        await conversation.end();
      },
    );
  }),
);

/** How the connection ended instead of a Close while no octet of ours was unread; null if unknown. */
export function endWithoutAccident(view: ConversationView): string | null {
  const { serverClose, ended, conversation } = view;
  if (serverClose !== null || ended === null) return null;
  const pieces = conversation.events.filter(
    ({ type, from }) => type === 'octets' && from === 'client',
  ).length;
  if (pieces === CONTENT) return null;
  return ended.how === 'reset' ? 'a reset with nothing unread' : 'the end of TCP alone';
}
