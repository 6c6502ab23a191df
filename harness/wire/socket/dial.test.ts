import { describe, expect, it } from 'vitest';
import { selfSigned } from '../../proof/certificate.ts';
import type { ServerIdentity } from '../../reference/front.ts';
import { getOnce, inEachWay } from '../fixtures/each-way.ts';
import { answerEach, type Handler, listen } from '../fixtures/loopback.ts';
import { impatient, OK, setting } from '../fixtures/setting.ts';
import { systemClock } from '../pace/clock.ts';
import { addressOf } from './address.ts';
import { dial } from './dial.ts';

const identity = selfSigned('localhost');

const secure = (by: ServerIdentity) => listen(answerEach(OK), by);

const get = (url: string, ca: string | null = null) =>
  getOnce(setting(url, { tls: { ca } }), { credential: 'right' });

/** The address of a server that speaks no TLS, as of one that does. */
async function pretended(handler: Handler): Promise<string> {
  return (await listen(handler)).url.replace('http:', 'https:');
}

describe('over TLS', () => {
  it('a trusted certificate is taken, by name and by address', async () => {
    const server = await secure(identity);
    for (const url of [server.url, `https://localhost:${server.port}`]) {
      expect(await get(url, identity.cert)).toMatchObject({ failure: null, response: { status: 200 } });
    }
  });

  it('HTTP, the raw socket and a WebSocket work alike', async () => {
    const server = await secure(identity);
    const answers = await inEachWay(setting(server.url, { tls: { ca: identity.cert } }));
    expect(answers.map(({ response }) => response?.status)).toEqual([200, 200, 200]);
  });

  it.each([
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
      async () => get(await pretended((socket) => socket.once('data', () => socket.write(OK)))),
    ],
    [
      'the server resets during the handshake',
      async () => get(await pretended((socket) => socket.once('data', () => socket.resetAndDestroy()))),
    ],
  ])('is a failure of its own kind when %s', async (_what, attempt) => {
    expect(await attempt()).toMatchObject({ response: null, failure: { kind: 'tls' } });
  });

  it('that never comes about is a connect-timeout', async () => {
    const waits = impatient({ connectMs: 100, responseMs: 100 });
    const { failure } = await dial(addressOf(await pretended(() => undefined)), waits);
    expect(failure).toMatchObject({
      kind: 'connect-timeout',
      message: expect.stringContaining('TCP stands, TLS does not'),
    });
  });
});

describe('dialling', () => {
  it('can be aborted', async () => {
    const address = addressOf(await pretended(() => undefined));
    const options = { timeouts: { connectMs: 60_000 }, clock: systemClock };
    const abort = new AbortController();
    const dialled = dial(address, options, abort.signal);
    abort.abort(new Error('run aborted'));
    expect((await dialled).failure).toEqual({
      kind: 'not-sent',
      message: 'aborted while connecting: run aborted',
    });
    expect((await dial(address, options, abort.signal)).failure?.kind).toBe('not-sent');
  });
});
