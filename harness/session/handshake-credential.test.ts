import { describe, expect, it } from 'vitest';
import type { HandshakeKeyPlace } from '../config/blocks/websocket.ts';
import type { Credentials } from '../config/service.ts';
import { Secret } from '../credential/secret.ts';
import { createRedaction } from '../evidence/redaction/redaction.ts';
import type { CredentialChoice } from './credential.ts';
import { placeInHandshake } from './handshake-credential.ts';

const KEY = 'key-for-tests';
const credentials: Credentials = {
  scheme: 'bearer',
  key: new Secret('KEY', KEY),
  secondKey: null,
  app: null,
};
const BARE = { method: 'GET', target: '/ws', fields: [['Sec-WebSocket-Protocol', 'echo.v1']] } as const;

function placed(choice: CredentialChoice, credential?: HandshakeKeyPlace) {
  const websocket = {
    url: '/ws',
    dialect: 'raw',
    echo: false,
    origin: null,
    subprotocols: [],
    ...(credential && { credential }),
  } as const;
  const means = { websocket, credentials, redaction: createRedaction() };
  const { target, fields } = placeInHandshake(BARE, choice, means, { at: new Date(0) });
  return { target, fields };
}

const base64url = Buffer.from(KEY).toString('base64url');

describe('the key of a handshake', () => {
  it('stands where it stands in other requests', () => {
    expect(placed('right').fields).toEqual([...BARE.fields, ['Authorization', `Bearer ${KEY}`]]);
  });

  it.each([
    [{ in: 'header', name: 'X-Key' }, '/ws', [...BARE.fields, ['X-Key', KEY]]],
    [{ in: 'query', name: 'token' }, `/ws?token=${KEY}`, BARE.fields],
    [
      { in: 'subprotocol', prefix: 'bearer.', encoding: 'base64url' },
      '/ws',
      [['Sec-WebSocket-Protocol', `echo.v1, bearer.${base64url}`]],
    ],
    [
      { in: 'subprotocol', prefix: '', encoding: 'plain' },
      '/ws',
      [['Sec-WebSocket-Protocol', `echo.v1, ${KEY}`]],
    ],
  ] as const)('stands where the config says: %o', (place, target, fields) => {
    expect(placed('right', place)).toEqual({ target, fields });
    expect(placed('none', place)).toEqual({ target: BARE.target, fields: BARE.fields });
    expect(JSON.stringify(placed({ wrong: 'wrong' }, place))).not.toContain(KEY);
    expect(placed({ wrong: 'wrong' }, place)).not.toEqual(placed('none', place));
  });

  it('goes elsewhere when a probe says so', () => {
    const place = { in: 'query', name: 'token' } as const;
    const choice = { placed: { in: 'authorization', name: 'Authorization' } } as const;
    expect(placed(choice, place)).toEqual({
      target: '/ws',
      fields: [...BARE.fields, ['Authorization', `Bearer ${KEY}`]],
    });
  });
});
