import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serving } from '../../base/fixtures/server.ts';
import { thingsDocument } from '../../config/operation/fixtures/things.ts';
import { described } from '../../config/operation/openapi/fixtures/described.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import { openLiveSession } from '../../session/live.ts';
import { systemClock } from '../../transport/pace/clock.ts';
import { virtualClock } from '../../transport/pace/fixtures/virtual-clock.ts';
import { lives } from './lifecycle.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A store of things, in which the `nth` reading of one that is there, from 1, comes to something else. */
async function storeOfThings(nth: number, otherwise: Handler) {
  const things = new Map<string, object>();
  let created = 0;
  let read = 0;
  const answer = (response: ServerResponse, status: number, value?: object) => {
    response.writeHead(status, value === undefined ? {} : { 'Content-Type': 'application/json' });
    response.end(value === undefined ? undefined : JSON.stringify(value));
  };
  const handle: Handler = (request, response) => {
    const id = /^\/things\/([^/?]+)$/.exec(request.url ?? '')?.[1];
    const body: Buffer[] = [];
    request.on('data', (chunk) => body.push(chunk));
    request.on('end', () => {
      if (request.headers.authorization === undefined) return answer(response, 401);
      if (id === undefined && request.method === 'GET') return answer(response, 200, [...things.values()]);
      if (id === undefined) {
        created += 1;
        const thing = { ...JSON.parse(Buffer.concat(body).toString() || '{}'), id: `t${created}` };
        things.set(thing.id, thing);
        return answer(response, 201, thing);
      }
      const thing = things.get(id);
      if (thing === undefined) return answer(response, 404, { title: 'no such thing' });
      if (request.method === 'DELETE') {
        things.delete(id);
        return answer(response, 204);
      }
      if (request.method === 'GET') {
        read += 1;
        if (read === nth) return otherwise(request, response);
      }
      return answer(response, 200, thing);
    });
  };
  return { ...(await serving(createServer(handle))), things, created: () => created };
}

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
    const clock = virtualClock();
    const events: JournalEvent[] = [];
    const session = openLiveSession({
      config,
      providerUrl: store.url,
      runId: 'test',
      userAgent: 'conform/test',
      clock,
      record: (event) => void events.push(event),
    });
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
    expect(events.filter(({ type }) => type === 'remark')).toEqual([]);
  });

  it('is told of where that is not possible', async () => {
    const store = await storeOfThings(2, (_request, response) => {
      response.destroy();
      void store.stop();
    });
    const config = await described(thingsDocument(), 'safety: { unsafeMethods: true }\n');
    const remarks: string[] = [];
    const session = openLiveSession({
      config,
      providerUrl: store.url,
      runId: 'test',
      userAgent: 'conform/test',
      clock: systemClock,
      record: (event) => {
        if (event.type === 'remark') remarks.push(event.text);
      },
    });
    await session.ask(lives, new AbortController().signal);
    await session.close();
    expect(store.things.size).toBeGreaterThan(0);
    expect(remarks).toContainEqual(
      expect.stringMatching(/^what this run created may still be there: DELETE /),
    );
  });
});
