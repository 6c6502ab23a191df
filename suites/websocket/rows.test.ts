import { expect, it } from 'vitest';
import { sendingIn } from './fixtures/memory-session.ts';
import { configOf, saidOf, selected } from './fixtures/said.ts';
import { client, server, talk } from './fixtures/talk.ts';
import * as frames from './stimuli/frames.ts';
import { closes, halfClosed } from './stimuli/side-by-side.ts';
import { websocket } from './websocket.suite.ts';

// A service that ends no connection makes the client wait for each of them.
it('the stimuli that must end a connection are sent side by side once one did not', () => {
  const waits = new Set(websocket.checks.flatMap((check) => check.waits));
  const missing = [...sendingIn(frames), closes, halfClosed].filter((probe) => !waits.has(probe));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

const realtime = configOf();
const key = realtime.credentials.second;
const REFUSED = configOf(
  {},
  { credentials: { ...realtime.credentials, refused: key ? [{ key, because: 'old', position: 1 }] : [] } },
);
const SERVED = talk([client.text('a'), server.text('a')]);
const LOGIN = configOf({ login: { send: 'log in', expect: {} } });

/** One fault is one finding. */
it.each([
  [
    'websocket.refused-keys',
    'websocket.missing-credential',
    { 'websocket-refused-keys': [SERVED], 'websocket-without-credential': SERVED },
    REFUSED,
  ],
  [
    'websocket.refused-keys',
    'websocket.wrong-credential',
    { 'websocket-refused-keys': [SERVED], 'websocket-wrong-credential': SERVED },
    REFUSED,
  ],
  [
    'websocket.login',
    'websocket.server-reserved',
    {
      'websocket-login': { to: 'a login', evidence: 'e1', fault: 'no message' },
      'websocket-every-conversation': selected(talk([server.frame(3)])),
    },
    LOGIN,
  ],
] as const)('%s is explained by %s', async (id, root, given, config) => {
  expect(await saidOf(id, given, config)).toContain(`blocked: ${root} `);
});
