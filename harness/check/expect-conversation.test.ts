import { describe, expect, it } from 'vitest';
import { NotApplicable, Violation } from '../base/verdict.ts';
import { OPCODE } from '../evidence/conversation/frame.ts';
import { type ConversationView, viewConversation } from '../evidence/conversation/view.ts';
import type { Conversation, ConversationEvent, RecordedFrame } from '../evidence/conversation.ts';
import { exampleConversation, exampleFrame, exampleResponse } from '../evidence/fixtures/example-evidence.ts';
import { Expectation } from './expect.ts';

const { handshake } = exampleConversation();

function answered(status: number | null) {
  const response = status === null ? null : exampleResponse({ status });
  return view({ handshake: { ...handshake, response } });
}

function view(conversation: Partial<Conversation>) {
  return viewConversation(exampleConversation({ purpose: 'a WebSocket for a test', ...conversation }));
}

type Said = readonly [from: 'client' | 'server', frame: RecordedFrame];

function talk(...said: readonly Said[]) {
  return view({
    events: said.map(([from, frame], at): ConversationEvent => ({ atMs: at, from, type: 'frame', frame })),
  });
}

const closing = (code: number) => exampleFrame(OPCODE.close, Uint8Array.of(code >> 8, code & 0xff));

type Expecting = Expectation<ConversationView>;

const expectation = (...all: readonly ConversationView[]): Expecting =>
  new Expectation({
    evidence: async () => ({ all, shortfall: null }),
    note: () => undefined,
    held: () => undefined,
  });

/** What the expectation says; null when it is met. */
async function saysOf(
  judge: (expectation: Expecting) => Promise<void>,
  ...views: readonly ConversationView[]
): Promise<string | null> {
  try {
    await judge(expectation(...views));
    return null;
  } catch (thrown) {
    if (thrown instanceof Violation) return thrown.message;
    throw thrown;
  }
}

describe('an expectation of conversations', () => {
  it('names what was done, each conversation once, and no more than three', async () => {
    const views = [200, 404, 101, 500, 503].map(answered);
    expect(await saysOf((each) => each.toBeOpened(), ...views)).toBe(
      'expected status 101, got status 200 for a WebSocket for a test; status 404 for a WebSocket for a test; status 500 for a WebSocket for a test and for 1 more',
    );
  });

  it('has no verdict over nothing', async () => {
    await expect(expectation().toEnd()).rejects.toThrow(NotApplicable);
  });

  it.each([
    ['toBeRefused', 101, 'expected an HTTP error, got status 101'],
    ['toBeRefused', null, 'expected an HTTP error, got no HTTP answer'],
    ['toBeRefused', 400, null],
    ['toBeRefused', 200, null],
    ['toStayClosed', 101, 'expected anything but 101, got status 101'],
    ['toStayClosed', null, null],
    ['toBeTurnedAway', 401, null],
    ['toBeTurnedAway', 101, 'expected a refusal, got status 101'],
  ] as const)('%s judges status %s', async (matcher, status, message) => {
    const said = await saysOf(
      (each) => each[matcher](),
      view({ ...answered(status).conversation, events: [] }),
    );
    if (message === null) expect(said).toBeNull();
    else expect(said).toContain(message);
  });

  it('takes a Close right after 101 for a refusal', async () => {
    expect(await saysOf((each) => each.toBeTurnedAway(), talk(['server', closing(1008)]))).toBeNull();
  });

  it('takes a connection for ended by a Close frame, by TCP, orderly or not', async () => {
    const ended = (type: 'end' | 'reset') => view({ events: [{ atMs: 1, from: 'server', type }] });
    expect(
      await saysOf((each) => each.toEnd(), talk(['server', closing(1002)]), ended('end'), ended('reset')),
    ).toBeNull();
    expect(await saysOf((each) => each.toEnd(), talk(['client', exampleFrame(3, 'x')]))).toContain(
      'expected the connection to end, got an open connection',
    );
  });

  it('takes no close code for as good as the right one', async () => {
    expect(
      await saysOf((each) => each.toCloseWith(1002), talk(['server', closing(1002)]), talk()),
    ).toBeNull();
    expect(await saysOf((each) => each.toCloseWith(1002, 1007), talk(['server', closing(1011)]))).toContain(
      'expected the close code 1002 or 1007, or none, got 1011 (internal error)',
    );
  });

  it('wants the payload of a Ping in its Pong', async () => {
    const asked: Said = ['client', exampleFrame(OPCODE.ping, 'abc')];
    expect(
      await saysOf((each) => each.toAnswerPings(), talk(asked, ['server', exampleFrame(OPCODE.pong, 'abc')])),
    ).toBeNull();
    expect(
      await saysOf((each) => each.toAnswerPings(), talk(asked, ['server', exampleFrame(OPCODE.pong, 'x')])),
    ).toContain('got one with 1 other octets');
    expect(await saysOf((each) => each.toAnswerPings(), talk(asked, ['server', closing(1001)]))).toContain(
      'got no Pong and the close code 1001',
    );
  });

  it('wants messages back, and of their kind', async () => {
    const sent: Said = ['client', exampleFrame(OPCODE.binary, 'abc')];
    const asText = talk(sent, ['server', exampleFrame(OPCODE.text, 'abc')]);
    expect(await saysOf((each) => each.toSendBack(), asText)).toBeNull();
    expect(await saysOf((each) => each.toKeepKind(), asText)).toContain(
      'got a text message instead of a binary message of 3 octets',
    );
    expect(
      await saysOf((each) => each.toSendBack(), talk(sent, ['server', exampleFrame(OPCODE.binary, 'ab')])),
    ).toContain('got other content (2 octets) instead of a binary message of 3 octets');
    expect(await saysOf((each) => each.toSendBack(), talk(sent))).toContain(
      'got nothing instead of a binary message of 3 octets',
    );
  });

  it('finds the frame that breaks a rule', async () => {
    const masked = talk(['server', exampleFrame(OPCODE.text, 'x', { masked: true })]);
    expect(await saysOf((each) => each.toKeep('unmasked frames', 'masking'), masked)).toContain(
      'expected unmasked frames, got a text frame that is masked (§5.1)',
    );
    expect(await saysOf((each) => each.toKeep('short lengths', 'length'), masked)).toBeNull();
  });
});
