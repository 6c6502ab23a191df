import { describe, expect, it, onTestFinished } from 'vitest';
import { websocket as suite } from '../../websocket/websocket.suite.ts';
import {
  byHand,
  octetsOf,
  refusalOf,
  type Seen,
  type Sent,
  statusOf,
  UNMASKED_TEXT,
  VERSION_12,
  WITHOUT_HOST,
} from '../fixtures/by-hand.ts';
import { ECHO_PROGRAMS, isInstalled, type Program, startProgram } from '../fixtures/echo-programs.ts';
import { echoConfig, findings, judged, withOutcome } from '../fixtures/judged.ts';

/** Findings on echoes of other runtimes and languages. Each is true, which is shown by hand below. */
const KNOWN: Readonly<Record<Program, readonly string[]>> = {
  bun: ['fail websocket.missing-connection', 'fail websocket.bad-subprotocol'],
  deno: [
    'fail websocket.other-version',
    'fail websocket.missing-version',
    'warning websocket.missing-host',
    'fail websocket.unmasked',
    'warning websocket.failure-announced',
    'fail websocket.server-control-frames',
  ],
  'websockets (Python)': [
    'fail websocket.supported-version',
    'warning websocket.missing-host',
    'warning websocket.deflate-offer-declined',
  ],
};

describe.concurrent('an echo of another runtime has no other findings than true ones', () => {
  it.for(ECHO_PROGRAMS.filter(isInstalled))('by %s', async (name, { expect, onTestFinished }) => {
    const server = await startProgram(name);
    onTestFinished(server.stop);
    const all = await judged(await echoConfig(), [suite], server);
    expect(findings(all)).toEqual(KNOWN[name]);
    expect(withOutcome(all, 'pass').length).toBeGreaterThan(55);
  });
});

/** Frames as octets, with the masking key 0. */
const CLOSE_OF_126_OCTETS = [0x88, 0xfe, 0, 126, 0, 0, 0, 0, 0x03, 0xe8, ...Array<number>(124).fill(0x78)];
const RESERVED_OPCODE = [0x83, 0x80, 0, 0, 0, 0];

describe('by hand', () => {
  it.each<[string, Program, Sent, (seen: Seen) => unknown, unknown]>([
    ['deno takes a handshake without Host', 'deno', WITHOUT_HOST, statusOf, 101],
    ['bun does without Connection: Upgrade', 'bun', { lines: { Connection: 'keep-alive' } }, statusOf, 101],
    [
      'bun selects a subprotocol with a space in it',
      'bun',
      { lines: { 'Sec-WebSocket-Protocol': 'conform bad' } },
      ({ head }) => /^sec-websocket-protocol: (.*?)\r?$/im.exec(head)?.[1],
      'conform bad',
    ],
    ['deno takes version 12', 'deno', VERSION_12, statusOf, 101],
    ['deno takes no version', 'deno', { lines: { 'Sec-WebSocket-Version': '' } }, statusOf, 101],
    ['deno echoes an unmasked frame', 'deno', { octets: UNMASKED_TEXT, expects: 3 }, octetsOf, UNMASKED_TEXT],
    [
      'deno ends TCP over a reserved opcode without a Close',
      'deno',
      { octets: RESERVED_OPCODE, expects: 1 },
      octetsOf,
      [],
    ],
    [
      'deno sends a Close back that is longer than a control frame may be',
      'deno',
      { octets: CLOSE_OF_126_OCTETS, expects: 4 },
      (seen) => octetsOf(seen).slice(0, 4),
      [0x88, 126, 0, 126],
    ],
  ])('%s', async (_, name, sent, look, expected) => {
    const { url, stop } = await startProgram(name);
    onTestFinished(stop);
    expect(look(await byHand(url, sent))).toEqual(expected);
  });

  it.runIf(isInstalled('websockets (Python)'))(
    'websockets of Debian refuses version 12 without naming its own, takes no Host, and fails at a window of 8 bits',
    async () => {
      const { url, stop } = await startProgram('websockets (Python)');
      onTestFinished(stop);
      expect(refusalOf(await byHand(url, VERSION_12))).toEqual([400, false]);
      expect(statusOf(await byHand(url, WITHOUT_HOST))).toBe(101);
      const lines = { 'Sec-WebSocket-Extensions': 'permessage-deflate; server_max_window_bits=8' };
      expect(statusOf(await byHand(url, { lines }))).toBe(500);
    },
  );
});
