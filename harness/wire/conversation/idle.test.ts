import { describe, expect, it } from 'vitest';
import type { Conversation, ConversationEvent } from '../conversation.ts';
import { exampleConversation, exampleFrame, octetsOf } from '../fixtures/example-evidence.ts';
import { OPCODE } from './frame.ts';
import { IdleView } from './idle.ts';

type Event = (atMs: number) => ConversationEvent;

const frame =
  (from: 'client' | 'server', opcode: number, payload: Uint8Array | string = '', heartbeat = false): Event =>
  (atMs) => ({
    type: 'frame',
    from,
    atMs,
    frame: exampleFrame(opcode, payload, heartbeat ? { heartbeat } : {}),
  });
const closing = (code: number, reason = '') =>
  frame(
    'server',
    OPCODE.close,
    new Uint8Array(Buffer.concat([Buffer.of(code >> 8, code & 255), octetsOf(reason)])),
  );
const [pinged, ponged] = [frame('server', OPCODE.ping), frame('client', OPCODE.pong)];
const [beat, answered] = [frame('server', OPCODE.text, '{}', true), frame('client', OPCODE.text, '{}', true)];
const said = (text: string) => frame('server', OPCODE.text, text);
const ended: Event = (atMs) => ({ type: 'end', from: 'server', atMs });

function idle(events: readonly (readonly [number, Event])[], more: Partial<Conversation> = {}): IdleView {
  return new IdleView(exampleConversation({ events: events.map(([atMs, event]) => event(atMs)), ...more }));
}

describe('an idle conversation', () => {
  it('lasts up to the Close of the client, or to its end', () => {
    expect(idle([[70, frame('client', OPCODE.close)]]).lastedMs).toBe(70);
    expect(idle([]).lastedMs).toBe(12);
  });

  it.each([
    ['no Ping', [], false],
    ['a Pong alone', [[1, ponged]], false],
    ['a Ping', [[1, pinged]], false],
    [
      'a Ping and a Pong',
      [
        [1, pinged],
        [2, ponged],
      ],
      true,
    ],
    [
      'two Pings and a Pong',
      [
        [1, pinged],
        [2, ponged],
        [3, pinged],
      ],
      false,
    ],
    [
      'a Ping and two Pongs',
      [
        [1, pinged],
        [2, ponged],
        [3, ponged],
      ],
      true,
    ],
  ] as readonly (readonly [string, readonly (readonly [number, Event])[], boolean])[])(
    'with %s has its Pings answered: %s',
    (_, events, isIt) => {
      expect(idle(events).arePingsAnswered).toBe(isIt);
    },
  );

  it.each([
    ['none', [], false],
    ['one', [[1, beat]], false],
    [
      'one and an answer',
      [
        [1, beat],
        [2, answered],
      ],
      true,
    ],
    [
      'two and an answer',
      [
        [1, beat],
        [2, answered],
        [3, beat],
      ],
      false,
    ],
  ] as readonly (readonly [string, readonly (readonly [number, Event])[], boolean])[])(
    'with %s has its heartbeats answered: %s',
    (_, events, isIt) => {
      expect(idle(events).areHeartbeatsAnswered).toBe(isIt);
    },
  );
});

describe('an end for an unanswered Ping', () => {
  /** Pings at 1 s and 2 s. */
  const pings: readonly (readonly [number, Event])[] = [
    [1_000, pinged],
    [2_000, pinged],
  ];

  it.each([
    ['the end of TCP', 3_000, ended, true],
    ['one and a half intervals later', 3_500, ended, true],
    ['more than that later', 3_501, ended, false],
    ['a Close without a reason to go', 3_000, closing(1001), true],
    ['a protocol error', 3_000, closing(1002), true],
    ['a normal closure', 3_000, closing(1000), false],
    ['a violated policy', 3_000, closing(1008), false],
    ['a restart', 3_000, closing(1012), false],
    ['a full server', 3_000, closing(1013), false],
    ['the last code of libraries', 3_000, closing(3999), true],
    ['a code of the application', 3_000, closing(4000), false],
  ] as const)('is %s: %i ms', (_, atMs, event, isIt) => {
    expect(idle([...pings, [atMs, event]]).isEndedForPing).toBe(isIt);
  });

  it('is none while it goes on, or after the client has closed', () => {
    expect(idle(pings).isEndedForPing).toBe(false);
    expect(idle([...pings, [2_500, frame('client', OPCODE.close)], [2_600, ended]]).isEndedForPing).toBe(
      false,
    );
  });
});

describe('an end for an unanswered heartbeat', () => {
  const beats: readonly (readonly [number, Event])[] = [
    [1_000, beat],
    [2_000, beat],
  ];
  const PUSHER = said('{"event":"pusher:connection_established","data":"{}"}');

  it.each([
    ['an error upon it', 3_000, closing(1002), true],
    ['unsupported data', 3_000, closing(1003), true],
    ['bad data', 3_000, closing(1007), true],
    ['an internal error', 3_000, closing(1011), true],
    ['an error much later', 3_501, closing(1011), false],
    ['another code', 3_000, closing(1001), false],
    ['the end of TCP', 3_000, ended, false],
    ['a reason that says so', 9_000, closing(1001, 'Pong timeout'), true],
    ['a reason that says it otherwise', 9_000, closing(1001, 'no heartbeat'), true],
    ['a reason with another word', 9_000, closing(1001, 'shopping timeout'), false],
    ['the code of Pusher in another dialect', 9_000, closing(4201), false],
  ] as const)('is %s: %i ms', (_, atMs, event, isIt) => {
    expect(idle([...beats, [atMs, event]]).isEndedForHeartbeat).toBe(isIt);
  });

  it('has a code in the dialect of Pusher', () => {
    expect(
      idle([
        [1, PUSHER],
        [9_000, closing(4201)],
      ]).isEndedForHeartbeat,
    ).toBe(true);
    expect(
      idle([
        [1, PUSHER],
        [9_000, closing(4200)],
      ]).isEndedForHeartbeat,
    ).toBe(false);
  });

  it('is none while it goes on', () => {
    expect(idle(beats).isEndedForHeartbeat).toBe(false);
  });
});

describe('an end for silence', () => {
  it.each([
    ['the end of TCP', ended, true],
    ['the code of Pusher', closing(4202), true],
    ['a reason that says so', closing(1001, 'Idle for too long'), true],
    ['inactivity', closing(1000, 'closed: inactivity'), true],
    ['a restart', closing(1012, 'restart'), false],
    ['a reason with another word', closing(1001, 'bridle'), false],
  ] as const)('is %s', (_, event, isIt) => {
    expect(idle([[500, event]]).isEndedForSilence).toBe(isIt);
  });

  it('is none while it goes on', () => {
    expect(idle([]).isEndedForSilence).toBe(false);
    expect(idle([]).silenceBeforeEndMs).toBeNull();
  });

  it('comes some time after the last frame of the client', () => {
    expect(
      idle([
        [100, ponged],
        [700, ended],
      ]).silenceBeforeEndMs,
    ).toBe(600);
    expect(
      idle([
        [700, ended],
        [700, ponged],
      ]).silenceBeforeEndMs,
    ).toBe(700);
    expect(
      idle([
        [100, ponged],
        [200, ponged],
        [700, ended],
      ]).silenceBeforeEndMs,
    ).toBe(500);
  });

  it.each([
    ['{"activity_timeout":120}', 120_000],
    ['{"activity_timeout":0.5}', 500],
    ['{"activity_timeout":0}', null],
    ['{"activity_timeout":"120"}', null],
    ['{}', null],
  ])('may come after the time that Pusher tells in %s', (data, ms) => {
    const greeting = said(JSON.stringify({ event: 'pusher:connection_established', data }));
    expect(idle([[1, greeting]]).activityTimeoutMs).toBe(ms);
  });
});
