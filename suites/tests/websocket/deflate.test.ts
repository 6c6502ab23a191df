import { createServer, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { serving } from '../../../harness/base/fixtures/server.ts';
import { shipped } from '../../../harness/config/fixtures/config-folder.ts';
import { startProvider } from '../../../harness/engine/provider/start.ts';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { echoing } from '../../../harness/wire/fixtures/ws-endpoint.ts';
import { websocket } from '../../websocket/websocket.suite.ts';
import { echoConfig, judged, judgedInTurn, saidOf } from '../fixtures/judged.ts';

const DEFLATE = {
  ...websocket,
  checks: websocket.checks.filter(({ id, observes }) => /^websocket\.deflate/.test(id) && !observes),
};

/** The realtime service, which takes the offer of browsers alone, with this defect. */
async function judgedBounding(defect?: string) {
  const config = await shipped('realtime');
  const defects = defect === undefined ? [] : [defect];
  const provider = { kind: 'reference', name: 'realtime', defects, variant: 'bounds-client-window' } as const;
  const clock = simulatedClock({ minute: Date.UTC(2026, 0, 1, 12) });
  const running = await startProvider({ ...config, provider }, { clock });
  try {
    return await judged(config, [DEFLATE], { url: running.url, clock });
  } finally {
    await running.stop();
    clock.stop();
  }
}

describe('a service that takes no offer but that of browsers', () => {
  it('is judged by it, and has no fault', async () => {
    const { outcomes } = await judgedBounding();
    expect(outcomes).toEqual(Object.fromEntries(DEFLATE.checks.map(({ id }) => [id, 'pass'])));
  });

  it.for([
    ['ws-ignores-rsv1-on-control', 'websocket.deflate-reserved-bit-on-control'],
    ['ws-forgets-server-window', 'websocket.deflate-server-window'],
    ['ws-ignores-bad-deflate', 'websocket.deflate-bad-data'],
    ['ws-sends-bad-deflate', 'websocket.deflate-server-data'],
    ['ws-forgets-deflate-context', 'websocket.deflate-context'],
    ['ws-forgets-server-no-context', 'websocket.deflate-server-context'],
  ] as const)('does not hide %s', async ([defect, check]) => {
    expect((await judgedBounding(defect)).outcomes[check]).toMatch(/^(?:fail|warning)$/);
  });
});

describe('a service that refuses handshakes', () => {
  it('with the offers that every browser makes is no service that declines them', async () => {
    const server = createServer((_, response) => response.writeHead(426).end());
    const sockets = new WebSocketServer({
      server,
      verifyClient: ({ req }: { req: IncomingMessage }) =>
        req.headers['sec-websocket-extensions'] === undefined,
    });
    sockets.on('connection', echoing);
    const { url, stop } = await serving(server);
    const found = await judgedInTurn(await echoConfig(), [DEFLATE], { url }).finally(stop);
    expect(saidOf(found, 'websocket.deflate-offer-declined')).toMatch(/^warning: .*status 401/);
  });
});
