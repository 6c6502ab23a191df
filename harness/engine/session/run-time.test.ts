import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { served } from '../../base/fixtures/server.ts';
import { Blocked } from '../../base/verdict.ts';
import { GOOD_SERVICE, loadOrders } from '../../config/fixtures/config-folder.ts';
import { manualClock } from '../../wire/pace/fixtures/virtual-clock.ts';
import { sessionAt } from './fixtures/session.ts';
import { openPauses } from './turn/run-time.ts';

/** A session of that config, with a service that answers so. */
async function begun(text: string, answer: RequestListener) {
  const url = await served(createServer(answer));
  const { config } = await loadOrders(text);
  const clock = manualClock();
  const { session, asked } = sessionAt(url, config, { clock });
  onTestFinished(async () => void (await session.close()));
  return { session, asked, clock };
}

it('a run that takes longer than timeouts.run ends: what is under way and what is left is blocked', async () => {
  const came = Promise.withResolvers<void>();
  const text = `${GOOD_SERVICE}timeouts: { response: 10m, run: 90s }\n`;
  const { session, asked, clock } = await begun(text, () => came.resolve());
  const send = (purpose: string) => asked(({ http }) => http.send({ purpose }));
  const first = send('never answered');
  await came.promise;
  await clock.advance(89_999);
  expect(session.outage).toBeNull();
  await clock.advance(1);
  const overtime = new Blocked('the run of this service took longer than timeouts.run');
  expect(await first).toMatchObject({ failed: overtime });
  expect(session.outage).toBe(overtime.message);
  expect(await send('not sent')).toMatchObject({ failed: overtime });
});

it('a run without timeouts.run ends where it takes much longer than its plan and its answers ask for', async () => {
  const { session, asked, clock } = await begun(GOOD_SERVICE, (_, response) => response.end());
  await clock.advance(20 * 60_000);
  expect(await asked(async () => 'in time')).toMatchObject({ value: 'in time' });
  await clock.advance(24 * 60 * 60_000);
  expect(await asked(async () => 'too late')).toMatchObject({ failed: expect.any(Blocked) });
  expect(session.outage).toMatch(/took longer than \d+ min: it is too slow to be judged in that/);
});

/** Why the run of such a service ended, after 100 responses of 3 s at the latest. */
async function endOfSlow(text: string): Promise<string | null> {
  const came: ServerResponse[] = [];
  let awaited = Promise.withResolvers<void>();
  const { session, asked, clock } = await begun(text, (_, response) => {
    came.push(response);
    awaited.resolve();
  });
  for (let n = 1; session.outage === null && n < 100; n += 1) {
    const sent = asked(({ http }) => http.send({ purpose: `${n}` }));
    await awaited.promise;
    await clock.advance(3000);
    awaited = Promise.withResolvers();
    came.pop()?.end();
    await sent;
  }
  return session.outage;
}

it('a run of a service that takes seconds for each answer ends within two minutes, and says why', async () => {
  expect(await endOfSlow(GOOD_SERVICE)).toMatch(/longer than 110 s: each response takes 3\.0 s/);
});

it('a run goes on where a limiter may hold responses back to the documented rate', async () => {
  expect(await endOfSlow(`${GOOD_SERVICE}plan: { requests: 1000, window: 2000s }\n`)).toBeNull();
});

it('waits at the same time are one, and never longer than the run', async () => {
  const clock = manualClock();
  const pauses = openPauses(clock, 'orders', () => undefined);
  const { announce } = pauses.portFor(new AbortController().signal);
  const beginMs = clock.now();
  for (const forMs of [100, 100, 60]) announce(beginMs + forMs, 'for the quota');
  expect(pauses.totalMs()).toBe(0);
  await clock.advance(40);
  expect(pauses.totalMs()).toBe(40);
  await clock.advance(100);
  announce(clock.now() + 10, 'once more');
  await clock.advance(50);
  expect(pauses.totalMs()).toBe(110);
});
