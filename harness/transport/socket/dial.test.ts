import { describe, expect, it, onTestFinished } from 'vitest';
import type { Exchange } from '../../evidence/exchange.ts';
import { selfSigned, type TestIdentity } from '../fixtures/certificate.ts';
import { answerEach, listen } from '../fixtures/loopback.ts';
import { about, GET, OK, setting } from '../fixtures/setting.ts';
import { openHttp } from '../http/http-client.ts';
import { sendRaw } from '../http/raw.ts';
import { systemClock } from '../pace/clock.ts';
import { openConnection } from '../websocket/connection.ts';
import { handshakeRequest } from '../websocket/opening-handshake.ts';
import { addressOf } from './address.ts';
import { dial } from './dial.ts';

const identity = selfSigned('localhost');

const secure = (by: TestIdentity) => listen(answerEach(OK), by);

async function get(url: string, ca?: string) {
  const http = openHttp(setting(url, ca === undefined ? {} : { tls: { ca } }));
  onTestFinished(() => http.close());
  return http.send(GET, about({ credential: 'right' }));
}

describe('over TLS', () => {
  it('a trusted certificate is taken, by name and by address', async () => {
    const server = await secure(identity);
    for (const url of [server.url, `https://localhost:${server.port}`]) {
      expect(await get(url, identity.cert)).toMatchObject({ failure: null, response: { status: 200 } });
    }
  });

  it('the raw socket and a WebSocket work alike', async () => {
    const server = await secure(identity);
    const options = setting(server.url, { tls: { ca: identity.cert } });
    const exchange = await sendRaw(options, GET, {}, about());
    expect(exchange.response?.status).toBe(200);
    const conversation = (
      await openConnection(options, { endpoint: '/', request: handshakeRequest({ target: '/' }) }, about())
    ).finish();
    expect(conversation.handshake.response?.status).toBe(200);
  });

  it.each<[string, () => Promise<Exchange>]>([
    ['nobody vouches for the certificate', async () => get((await secure(identity)).url)],
    [
      'the certificate is for another name',
      async () => {
        const other = selfSigned('other.example', '192.0.2.1');
        return get((await secure(other)).url, other.cert);
      },
    ],
    [
      'the server speaks plain HTTP',
      async () => {
        const server = await listen((socket) => socket.once('data', () => socket.write(OK)));
        return get(server.url.replace('http:', 'https:'));
      },
    ],
    [
      'the server resets during the handshake',
      async () => {
        const server = await listen((socket) => socket.once('data', () => socket.resetAndDestroy()));
        return get(server.url.replace('http:', 'https:'));
      },
    ],
  ])('is a failure of its own kind when %s', async (_what, attempt) => {
    expect(await attempt()).toMatchObject({ response: null, failure: { kind: 'tls' } });
  });

  it('that never comes about is a connect-timeout', async () => {
    const server = await listen(() => undefined);
    const { failure } = await dial(addressOf(server.url.replace('http:', 'https:')), {
      timeouts: { connectMs: 100 },
      clock: systemClock,
    });
    expect(failure).toMatchObject({
      kind: 'connect-timeout',
      message: expect.stringContaining('TCP stands, TLS does not'),
    });
  });
});

describe('dialling', () => {
  it('can be aborted', async () => {
    const server = await listen(() => undefined);
    const address = addressOf(server.url.replace('http:', 'https:'));
    const abort = new AbortController();
    const dialled = dial(address, { timeouts: { connectMs: 60_000 }, clock: systemClock }, abort.signal);
    abort.abort(new Error('run aborted'));
    expect((await dialled).failure).toEqual({
      kind: 'not-sent',
      message: 'aborted while connecting: run aborted',
    });
    const again = await dial(address, { timeouts: { connectMs: 60_000 }, clock: systemClock }, abort.signal);
    expect(again.failure?.kind).toBe('not-sent');
  });
});
