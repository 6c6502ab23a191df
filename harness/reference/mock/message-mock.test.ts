import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { readAsyncApi } from '../../config/asyncapi/asyncapi.ts';
import { none } from '../../config/credential/schemes.ts';
import { startMock } from './mock.ts';

const DOCUMENT = fileURLToPath(new URL('../../proof/config/talk.asyncapi.yaml', import.meta.url));

it('says what an AsyncAPI document says: announcements, replies with their id, and errors', async () => {
  const messages = await readAsyncApi(DOCUMENT, { shown: 'talk', configured: undefined, basePath: '' });
  if ('fault' in messages) throw new Error(messages.fault.problem);
  const mock = await startMock({ config: { operations: [], credentials: none.of({}) }, messages });
  onTestFinished(() => mock.stop());
  const socket = new WebSocket(`${mock.url.replace('http', 'ws')}/ws`);
  const heard: unknown[] = [];
  const all = new Promise<void>((resolve) => {
    socket.on('message', (content) => {
      heard.push(JSON.parse(String(content)));
      if (heard.length === 4) resolve();
    });
  });
  await once(socket, 'open');
  socket.send('{"type":"ping","id":"7"}');
  socket.send('{"type":"ping","id":7}');
  await all;
  socket.close();
  expect(heard).toMatchObject([
    { type: 'event' },
    { type: 'error' },
    { type: 'pong', id: '7' },
    { type: 'error' },
  ]);
});
