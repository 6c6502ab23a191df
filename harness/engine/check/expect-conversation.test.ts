import { describe, expect, it } from 'vitest';
import { NotApplicable } from '../../base/verdict.ts';
import { OPCODE } from '../../wire/conversation/frame.ts';
import { type ConversationView, viewConversation } from '../../wire/conversation/view.ts';
import type { Conversation } from '../../wire/conversation.ts';
import { exampleConversation, exampleFrame, exampleResponse } from '../../wire/fixtures/example-evidence.ts';
import { Expectation } from './expect.ts';

/** What the defects of the reference provider do not show; what the expectations say of those is in the proof. */

const { handshake } = exampleConversation();

const view = (conversation: Partial<Conversation>) => viewConversation(exampleConversation(conversation));
const answered = (status: number | null) =>
  view({ handshake: { ...handshake, response: status === null ? null : exampleResponse({ status }) } });
const ended = (type: 'end' | 'reset') => view({ events: [{ atMs: 1, from: 'server', type }] });
const closed = (code: number) => {
  const frame = exampleFrame(OPCODE.close, Uint8Array.of(code >> 8, code & 0xff));
  return view({ events: [{ atMs: 0, from: 'server', type: 'frame', frame }] });
};

const expectation = (...all: readonly ConversationView[]) =>
  new Expectation({
    evidence: async () => ({ all, shortfall: null }),
    subject: (piece) => piece,
    note: () => undefined,
    held: () => undefined,
    judged: () => undefined,
  });

describe('an expectation of conversations', () => {
  it.each([
    ['toBeRefused', answered(null), /expected an HTTP error, got no HTTP answer/],
    ['toBeRefused', answered(200), null],
    ['toStayClosed', answered(null), null],
    ['toBeTurnedAway', answered(401), null],
    ['toBeTurnedAway', closed(1008), null],
    ['toEnd', closed(1002), null],
    ['toEnd', ended('end'), null],
    ['toEnd', ended('reset'), null],
    ['toCloseWith', view({}), null],
  ] as const)('%s: %#', async (matcher, conversation, message) => {
    const held = expectation(conversation)[matcher]();
    if (message === null) await expect(held).resolves.toBeUndefined();
    else await expect(held).rejects.toThrow(message);
  });

  it('has no verdict over nothing', async () => {
    await expect(expectation().toEnd()).rejects.toThrow(NotApplicable);
  });
});
