import {
  type CheckDefinition,
  check,
  clause,
  documentedMessages,
  given,
  suite,
} from '../../harness/engine/check/suite.ts';
import type { RowNotes } from '../row.ts';
import type { MessageVerdict } from './stimuli/endpoint-book.ts';
import { answerings, everyDocumented, refusals } from './stimuli/talk.ts';

const grounds = [clause('websocket.messages')];
const NOTHING_CAME = 'no message came that could be judged';

interface JudgedRow extends RowNotes<'title' | 'headline' | 'restsOn'> {
  readonly wanted: (verdict: MessageVerdict) => string;
  readonly got: (verdict: MessageVerdict) => string | null;
}

/** Every message that came where a client said nothing but documented messages. */
const everyMessage = (id: string, { wanted, got, ...notes }: JudgedRow): CheckDefinition =>
  check(id, {
    ...notes,
    grounds,
    uses: [everyDocumented],
    async judge({ probe, expect, blocked, note }) {
      const { all } = await probe(everyDocumented);
      const unjudged = all.flatMap(({ verdict }) => (verdict.is === 'unjudged' ? [verdict.reason] : []));
      for (const reason of new Set(unjudged)) note(`${reason}.`);
      const judged = all.filter(({ verdict }) => isJudged(verdict));
      const unread = unreadIn(all);
      if (judged.length === 0 && unread !== null) blocked(unread);
      const [first] = judged.filter(({ verdict }) => got(verdict) !== null);
      await expect
        .each(judged, ({ view }) => view, NOTHING_CAME)
        .toConform(first === undefined ? 'a documented message' : wanted(first.verdict), ({ verdict }) =>
          got(verdict),
        );
      if (unread !== null) blocked(unread);
    },
  });

const isJudged = ({ is }: MessageVerdict): boolean => is !== 'unjudged' && is !== 'unread';

/** Why one of these messages was not read; null if all were. */
const unreadIn = (all: readonly { readonly verdict: MessageVerdict | null }[]): string | null =>
  all.flatMap(({ verdict }) => (verdict?.is === 'unread' ? [verdict.reason] : []))[0] ?? null;

export const documentedType = everyMessage('messages.content-type', {
  title: 'sends messages of the documented content type',
  headline: 'A message is not of the documented content type: {got}',
  why: 'Clients read messages as documented, and fail on any other kind.',
  change: 'Send each message as one JSON text, or document its content type.',
  wanted: () => 'JSON',
  got: (verdict) => (verdict.is === 'malformed' ? verdict.got : null),
});

export const undocumentedMessage = everyMessage('messages.undocumented', {
  title: 'sends documented messages alone',
  headline: 'The service sends a message that is not documented: {got}',
  why: 'Clients that are written to the document do not know such a message.',
  change: 'Add the message to the AsyncAPI document, or do not send it.',
  restsOn: [documentedType],
  wanted: () => 'a documented message',
  got: (verdict) => (verdict.is === 'undocumented' ? verdict.got : null),
});

export const documentedPayload = everyMessage('messages.payload', {
  title: 'sends messages that fit their documented payload',
  headline: 'A message does not fit its documented payload: {got}',
  why: 'Clients fail on the message, or lose data.',
  change: 'Send what the schema of the message says, or correct the schema.',
  restsOn: [documentedType],
  wanted: (verdict) => (verdict.is === 'misfit' ? `${verdict.message.name} to fit its payload` : ''),
  got: (verdict) => (verdict.is === 'misfit' ? `one in which ${verdict.fault}` : null),
});

export const documentedReply = check('messages.reply', {
  title: 'answers each message that has a documented reply',
  headline: 'A message gets no documented reply: {got}',
  why: 'Clients wait for the reply, and never go on.',
  change: 'Send one of the documented replies, or correct the document.',
  grounds,
  restsOn: [documentedType, undocumentedMessage, documentedPayload],
  uses: [answerings],
  async judge({ probe, expect, blocked, note }) {
    const all = await probe(answerings);
    const refused = all.flatMap(({ operation, refusal, unjudged }) => {
      if (refusal !== null) return [`${operation} was answered with ${refusal}`];
      return unjudged === null ? [] : [`${operation}, where ${unjudged.reason}`];
    });
    const notJudged = `Not judged: ${refused.join(', ')}.`;
    const judged = all.filter(({ refusal, unjudged }) => refusal === null && unjudged === null);
    if (judged.length === 0 && refused.length > 0) blocked(notJudged);
    if (refused.length > 0) note(notJudged);
    await expect
      .each(judged, ({ view }) => view, 'no message with a documented reply was sent')
      .toConform('a documented reply', ({ operation, fault }) => fault && `${fault} to ${operation}`);
    const unread = unreadIn(all.map(({ unjudged }) => ({ verdict: unjudged })));
    if (unread !== null) blocked(unread);
  },
});

const correlation = check('messages.correlation', {
  title: 'gives each reply the correlation id of its message',
  headline: 'A reply does not have the correlation id of its message: {got}',
  why: 'Clients cannot tell which of their messages is answered.',
  change: 'Copy the id of the message into its reply, with its type.',
  grounds,
  restsOn: [documentedReply],
  uses: [answerings],
  judge: async ({ probe, expect }) =>
    expect
      .each(
        (await probe(answerings)).filter(({ isCorrelated }) => isCorrelated),
        ({ view }) => view,
        'no reply came that has a documented correlation id',
      )
      .toConform(
        'the id of its message',
        ({ operation, otherId }) => otherId && `${otherId} for ${operation}`,
      ),
});

const refusal = check('messages.refusal', {
  title: 'answers a message that does not fit with documented messages alone',
  headline: 'A message that does not fit gets an undocumented answer: {got}',
  why: 'Clients cannot read why their message was refused.',
  change: 'Answer with the documented message for errors, or close the connection.',
  grounds,
  restsOn: [documentedType, undocumentedMessage, documentedPayload],
  uses: [refusals],
  async judge({ probe, expect, blocked }) {
    const all = await probe(refusals);
    const judged = all.filter(({ verdict }) => isJudged(verdict));
    const unread = unreadIn(all);
    if (judged.length === 0 && unread !== null) blocked(unread);
    await expect
      .each(judged, ({ view }) => view, 'no message for errors is documented, or none came')
      .toConform('a documented message', ({ verdict }) => {
        if (verdict.is === 'misfit') return `${verdict.message.name} in which ${verdict.fault}`;
        return verdict.is === 'undocumented' || verdict.is === 'malformed' ? verdict.got : null;
      });
    if (unread !== null) blocked(unread);
  },
});

/** What an AsyncAPI document says of the messages over the WebSocket. */
export const messages = suite(
  'messages',
  'Documented messages',
  given(
    [documentedMessages],
    [documentedType, undocumentedMessage, documentedPayload, documentedReply, correlation, refusal],
  ),
);
