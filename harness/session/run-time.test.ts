import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { serving } from '../base/fixtures/server.ts';
import { Blocked } from '../base/verdict.ts';
import { GOOD_SERVICE, loadOrders } from '../config/fixtures/config-folder.ts';
import { virtualClock } from '../transport/pace/fixtures/virtual-clock.ts';
import { sessionAt } from './fixtures/session.ts';

it('a run that takes longer than timeouts.run ends: what is under way and what is left is blocked', async () => {
  const asked = Promise.withResolvers<void>();
  const server = await serving(createServer(() => asked.resolve()));
  const { config } = await loadOrders(`${GOOD_SERVICE}timeouts: { response: 10m, run: 90s }\n`);
  const clock = virtualClock();
  const { session, asked: ask } = sessionAt(server.url, config, { clock });
  try {
    const send = (purpose: string) => ask(({ http }) => http.send({ purpose }));
    const first = send('never answered');
    await asked.promise;
    await clock.advance(89_999);
    expect(session.outage).toBeNull();
    await clock.advance(1);
    const overtime = new Blocked('the run of this service took longer than timeouts.run');
    expect(await first).toMatchObject({ failed: overtime });
    expect(session.outage).toBe(overtime.message);
    expect(await send('not sent')).toMatchObject({ failed: overtime });
  } finally {
    await session.close();
    await server.stop();
  }
});

it('a run without timeouts.run ends where it takes much longer than its plan and its answers ask for', async () => {
  const server = await serving(createServer((_, response) => response.end()));
  const { config } = await loadOrders(GOOD_SERVICE);
  const clock = virtualClock();
  const { session, asked } = sessionAt(server.url, config, { clock });
  try {
    await clock.advance(20 * 60_000);
    expect(await asked(async () => 'in time')).toMatchObject({ value: 'in time' });
    await clock.advance(24 * 60 * 60_000);
    expect(await asked(async () => 'too late')).toMatchObject({ failed: expect.any(Blocked) });
    expect(session.outage).toMatch(/took longer than \d+ min: it is too slow to be judged in that/);
  } finally {
    await session.close();
    await server.stop();
  }
});
