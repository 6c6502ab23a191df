import { describe, expect, it } from 'vitest';
import { Blocked } from '../../../harness/base/verdict.ts';
import type { ConversationView } from '../../../harness/wire/conversation/view.ts';
import { probed, resultOf } from '../fixtures/probed.ts';
import { client, server, type TalkEvents, talk } from '../fixtures/talk.ts';
import { FAILURES, failures } from './frames.ts';
import { alive, answersPings, held, heldOpen, heldWith, kept, taken } from './ordinary-client.ts';
import { everyConversation, everyHandshake, everyTaken } from './record.ts';

const REFUSED = talk([], { status: 403 });
const CLOSED = [client.ping('a'), server.pong('a'), client.close(1000), server.close(1000)];
const UNHEARD = { kind: 'body-too-large', message: 'it was too long' } as const;

describe('an ordinary client', () => {
  it.each<readonly [string, ConversationView, string | null]>([
    ['101', talk(CLOSED), null],
    [
      '403',
      REFUSED,
      'blocked: an ordinary handshake is not accepted (status 403), so this would prove nothing',
    ],
  ])('is taken with %s', async (_, opening, reason) => {
    expect(await resultOf(taken, { given: { 'websocket-opening': opening } })).toBe(reason ?? opening);
  });

  it.each<readonly [string, ConversationView, string | null]>([
    ['until it closes', talk(CLOSED), null],
    ['until nothing answers its Close', talk([client.close(1000), client.waits(9)]), null],
    [
      'until the service closes',
      talk([server.close(1013)]),
      'blocked: an ordinary connection is not kept: a Close (1013) came unasked, so this would prove nothing',
    ],
    [
      'until the service closes without a code',
      talk([server.close()]),
      'blocked: an ordinary connection is not kept: a Close (no code) came unasked, so this would prove nothing',
    ],
    [
      'until the service ends it',
      talk([server.ends()]),
      'blocked: an ordinary connection is not kept: the end of TCP came unasked, so this would prove nothing',
    ],
    [
      'although it was not heard to its end',
      talk(CLOSED, { failure: UNHEARD }),
      'blocked: opening handshake was not heard to its end: it was too long',
    ],
  ])('is kept %s', async (_, opening, reason) => {
    expect(await resultOf(kept, { given: { 'websocket-taken': opening } })).toBe(reason ?? opening);
  });

  it.each<readonly [string, TalkEvents, boolean]>([
    ['a Pong', [client.ping('a'), server.pong('a')], true],
    ['the end of TCP', [client.close(1000), server.ends()], true],
    ['nothing', [client.ping('a'), client.waits(9)], false],
  ])('sees life in %s', async (_, events, isAlive) => {
    const opening = talk(events);
    const result = await resultOf(alive, { given: { 'websocket-kept': opening } });
    if (isAlive) expect(result).toBe(opening);
    else expect(result).toMatch(/^blocked: an ordinary connection shows no sign of life/);
  });

  it.each<readonly [string, TalkEvents, boolean]>([
    ['its Pong', [client.ping('a'), server.pong('a')], true],
    ['another Pong', [client.ping('a'), server.pong('b')], false],
  ])('takes %s for an answer: %s', async (_, events, isIt) => {
    const opening = talk(events);
    const result = await resultOf(answersPings, { given: { 'websocket-alive': opening } });
    if (isIt) expect(result).toBe(opening);
    else expect(result).toBe('blocked: an ordinary Ping is not answered, so this would prove nothing');
  });
});

describe('another client', () => {
  const refusing = { given: { 'websocket-taken': new Blocked('no'), 'websocket-alive': new Blocked('no') } };

  it.each([
    ['a handshake', held('a', 'a WebSocket')],
    ['a handshake with an errand', heldWith('a', 'a WebSocket', undefined)],
    ['an open one', heldOpen('a', 'a WebSocket', async () => {})],
  ])('comes with %s only if the ordinary one is served', async (_, probe) => {
    expect(await probed(probe, refusing)).toEqual({ result: 'blocked: no', purposes: [] });
    const view = talk(CLOSED);
    const served = { given: { 'websocket-taken': view, 'websocket-alive': view }, conversation: () => view };
    expect(await probed(probe, served)).toEqual({ result: view, purposes: ['a WebSocket'] });
  });
});

describe('of the record', () => {
  const pinged = talk([client.ping('a')]);
  const spoken = talk([client.ping('a'), server.pong('a')]);
  const other = talk([], { request: { method: 'POST' } });
  const silent = talk([], { status: null });
  const recorded = [pinged, spoken, other, REFUSED, silent];
  const from = async (probe: Parameters<typeof resultOf>[0], all: readonly ConversationView[]) =>
    resultOf(probe, { recorded: all, given: { [`${nameOf(probe)}-least`]: [] } });
  const nameOf = (probe: unknown) => (probe as { readonly name: string }).name;

  it('each conversation is selected in which the service sent a frame', async () => {
    expect(await from(everyConversation, recorded)).toMatchObject({ all: [spoken] });
    expect(await from(everyConversation, [pinged])).toBe(
      'blocked: the service sent no frame in any conversation',
    );
  });

  it('each handshake is selected that was answered', async () => {
    expect(await from(everyHandshake, recorded)).toMatchObject({ all: [pinged, spoken, other, REFUSED] });
  });

  it('each ordinary handshake is selected that was taken', async () => {
    expect(await from(everyTaken, recorded)).toMatchObject({ all: [pinged, spoken] });
  });
});

it('of the frames that must end a connection those are judged that could be sent', async () => {
  const ended = talk([server.close(1002)]);
  const [first, ...others] = FAILURES.map(({ name }) => name);
  const unsent = Object.fromEntries(others.map((name) => [name, new Blocked('no')]));
  expect(await resultOf(failures, { given: { ...unsent, [`${first}`]: [ended] } })).toEqual([ended]);
  const none = { ...unsent, [`${first}`]: new Blocked('it is not kept') };
  expect(await resultOf(failures, { given: none })).toBe('blocked: it is not kept');
});
