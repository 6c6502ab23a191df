import { describe, expect, it } from 'vitest';
import { thingsDocument } from '../../../harness/config/operation/fixtures/things.ts';
import { described } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import { sessionAt } from '../../../harness/engine/session/fixtures/session.ts';
import { manualClock } from '../../../harness/wire/pace/fixtures/virtual-clock.ts';
import { storeOfThings } from './fixtures/store-of-things.ts';
import { lives } from './lifecycle.ts';

describe('what a run has created it removes', () => {
  it.for([
    ['it is interrupted while one is read', 2, 'hang'],
    ['it runs out of time while one is read', 2, 'late'],
    ['the service closes the connection', 2, 'drop'],
    ['a response is no whole one', 3, 'half'],
  ] as const)('when %s', async ([_when, nth, how]) => {
    const met = Promise.withResolvers<void>();
    const store = await storeOfThings(nth, (request, response) => {
      met.resolve();
      if (how === 'drop') request.socket.destroy();
      if (how === 'half') {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
        response.write('{');
        request.socket.end();
      }
    });
    const limit = how === 'late' ? 'timeouts: { response: 10m, run: 90s }\n' : '';
    const config = await described(thingsDocument(), `safety: { unsafeMethods: true }\n${limit}`);
    const clock = manualClock();
    const { session, remarks } = sessionAt(store.url, config, { clock });
    try {
      const interruption = new AbortController();
      const asked = session.ask(lives, interruption.signal);
      await met.promise;
      expect(store.things.size).toBeGreaterThan(0);
      if (how === 'hang') interruption.abort(new Error('SIGINT'));
      if (how === 'late') await clock.advance(90_000);
      await asked;
    } finally {
      await session.close();
      await store.stop();
    }
    expect(store.created()).toBeGreaterThan(0);
    expect([...store.things.keys()]).toEqual([]);
    expect(remarks()).toEqual([]);
  });

  it.for([6, 7, 8, 9, 15, 20, 25])('when the budget of %i requests is spent', async (maxRequests) => {
    const store = await storeOfThings(0, () => undefined);
    const config = await described(
      thingsDocument(),
      `safety: { unsafeMethods: true, maxRequests: ${maxRequests} }\n`,
    );
    const { session, remarks } = sessionAt(store.url, config);
    await session.ask(lives, new AbortController().signal);
    const { requestsSent } = await session.close();
    await store.stop();
    expect(store.created()).toBeGreaterThan(0);
    expect([...store.things.keys()]).toEqual([]);
    expect(remarks()).toEqual([]);
    expect(requestsSent).toBeLessThanOrEqual(maxRequests);
  });

  it('when the limiter refuses at first', async () => {
    let refused = 0;
    const store = await storeOfThings(
      0,
      () => undefined,
      ({ method }) => (method === 'DELETE' && store.things.size === 1 && ++refused <= 2 ? 0 : null),
    );
    const config = await described(thingsDocument(), 'safety: { unsafeMethods: true }\n');
    const { session, remarks } = sessionAt(store.url, config);
    await session.ask(lives, new AbortController().signal);
    await session.close();
    await store.stop();
    expect(refused).toBeGreaterThan(2);
    expect([...store.things.keys()]).toEqual([]);
    expect(remarks()).toEqual([]);
  });

  it('when the query of Location names it', async () => {
    const store = await storeOfThings(
      0,
      () => undefined,
      () => null,
      (id) => `/things?id=eq.${id}`,
    );
    const config = await described(thingsDocument(), 'safety: { unsafeMethods: true }\n');
    const { session, remarks } = sessionAt(store.url, config);
    await session.ask(lives, new AbortController().signal);
    await session.close();
    await store.stop();
    expect(store.created()).toBeGreaterThan(0);
    expect([...store.things.keys()]).toEqual([]);
    expect(remarks()).toEqual([]);
  });

  it('is told of where that is not possible', async () => {
    const store = await storeOfThings(2, (_request, response) => {
      response.destroy();
      void store.stop();
    });
    const config = await described(thingsDocument(), 'safety: { unsafeMethods: true }\n');
    const { session, remarks } = sessionAt(store.url, config);
    await session.ask(lives, new AbortController().signal);
    await session.close();
    expect(store.things.size).toBeGreaterThan(0);
    expect(remarks()).toContainEqual(
      expect.stringMatching(/^what this run created may still be there: DELETE /),
    );
  });
});
