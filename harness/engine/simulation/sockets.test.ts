import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { served } from '../../base/fixtures/server.ts';
import { selfSigned } from '../../proof/certificate.ts';
import { KEY, started } from '../../reference/fixtures/http-client.ts';
import { watchSockets } from './clock.ts';

function watched() {
  const sockets = watchSockets();
  onTestFinished(() => sockets.stop());
  return sockets;
}

/** Of a server that is closed, with its connections, when the test is over. */
const portOf = async (server: Server) => Number(new URL(await served(server)).port);

/** Both ends of a connection; whatever arrives waits to be read. */
async function connection(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  const port = await portOf(server);
  const here = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const [[there]] = await Promise.all([once(server, 'connection'), once(here, 'connect')]);
  return [here, there];
}

it('is not still while a connection is opened, is once it stands', async () => {
  const sockets = watched();
  expect(sockets.isStill()).toBe(true);
  const server = createServer();
  const port = await portOf(server);
  const here = connect({ port, host: '127.0.0.1' });
  expect(sockets.isStill()).toBe(false);
  await Promise.all([once(server, 'connection'), once(here, 'connect')]);
  expect(sockets.isStill()).toBe(true);
});

it('is not still before what was sent has been read, in either direction', async () => {
  const sockets = watched();
  const [here, there] = await connection();
  for (const [from, to] of [
    [here, there],
    [there, here],
  ] as const) {
    from.write('octets');
    expect(sockets.isStill()).toBe(false);
    to.resume();
    await once(to, 'data');
    expect(sockets.isStill()).toBe(true);
  }
});

it('is not still before an ending has been seen', async () => {
  const sockets = watched();
  const [here, there] = await connection();
  here.end();
  expect(sockets.isStill()).toBe(false);
  there.resume();
  await once(there, 'end');
  expect(sockets.isStill()).toBe(true);
  there.destroy();
  here.resume();
  await Promise.all([once(here, 'close'), once(there, 'close')]);
  expect(sockets.isStill()).toBe(true);
});

it('waits for nobody where nobody listens', async () => {
  const sockets = watched();
  const [here, there] = await connection();
  here.destroy();
  there.resume();
  await once(there, 'end');
  const refused = connect({ port: 1, host: '127.0.0.1' });
  await once(refused, 'error');
  expect(sockets.isStill()).toBe(true);
});

it('cannot tell of the other end where that is elsewhere', async () => {
  const server = createServer();
  const port = await portOf(server);
  const accepted = once(server, 'connection');
  connect({ port, host: '127.0.0.1' });
  const sockets = watched();
  await accepted;
  expect(sockets.isStill()).toBe(false);
});

it('cannot tell of what is encrypted', async () => {
  const sockets = watched();
  const server = createTlsServer(selfSigned('localhost'));
  const port = await portOf(server);
  const here = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await Promise.all([once(here, 'secureConnect'), once(server, 'secureConnection')]);
  expect(sockets.isStill()).toBe(false);
});

it.each([
  ['cannot tell of what is compressed on other threads', true],
  ['can of messages that are not', false],
])('%s', async (_, perMessageDeflate) => {
  const sockets = watched();
  const provider = await started('realtime');
  const socket = new WebSocket(`${provider.url.replace('http', 'ws')}/ws`, {
    perMessageDeflate,
    headers: { Authorization: `Bearer ${KEY}` },
  });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  expect(sockets.isStill()).toBe(!perMessageDeflate);
});
