import { describe, expect, it } from 'vitest';
import { startWsEndpoint } from '../../../harness/wire/fixtures/ws-endpoint.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { echoConfig, judgedInTurn, saidOf } from '../fixtures/judged.ts';

const KIND = 'websocket.echo-kind';

/** Says of an echo that refuses binary messages with 1003, and sends text back in this way. */
async function saidOfTextOnly(inBinary: boolean): Promise<string> {
  const { url, stop } = await startWsEndpoint((socket) =>
    socket.on('message', (content, isBinary) => {
      if (isBinary) socket.close(1003);
      else socket.send(content, { binary: inBinary });
    }),
  );
  const suite = { ...websocket, checks: websocket.checks.filter(({ id }) => id === KIND) };
  return saidOf(await judgedInTurn(await echoConfig(), [suite], { url }).finally(stop), KIND);
}

describe('an echo that takes no binary messages', () => {
  it('is still judged by the text that it takes', async () => {
    expect(await saidOfTextOnly(false)).toMatch(/^skipped: binary messages are not accepted/);
    expect(await saidOfTextOnly(true)).toMatch(/^fail: .*a message of the same kind back/);
  });
});
