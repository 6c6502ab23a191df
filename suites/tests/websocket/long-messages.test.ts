import { expect, it, onTestFinished } from 'vitest';
import type { Suite } from '../../../harness/engine/check/check.ts';
import { startWsEndpoint } from '../../../harness/wire/fixtures/ws-endpoint.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { echoConfig, judgedInTurn, saidOf } from '../fixtures/judged.ts';

const alone: Suite = {
  ...websocket,
  checks: websocket.checks.filter(({ id }) => id === 'websocket.echo-long'),
};

it.each<[what: string, limit: number, cut: number, said: RegExp]>([
  ['takes all of them', 1 << 20, 1 << 20, /^pass: $/],
  ['is judged by what it takes', 65_536, 1 << 20, /^pass: .*a message of 1048576 bytes is too long for it/],
  ['cuts what it takes, and refuses more', 65_536, 65_534, /^fail: expected each message back as it was/],
  ['takes none of them', 65_534, 1 << 20, /^skipped: a message of 65535 bytes is too long for it/],
])('a service that %s', async (_, limit, cut, said) => {
  const { url, stop } = await startWsEndpoint((socket) => {
    socket.on('message', (content: Buffer, isBinary) => {
      if (content.length > limit) socket.close(1009);
      else socket.send(content.subarray(0, cut), { binary: isBinary });
    });
  });
  onTestFinished(stop);
  const all = await judgedInTurn(await echoConfig(), [alone], { url });
  expect(saidOf(all, 'websocket.echo-long')).toMatch(said);
});
