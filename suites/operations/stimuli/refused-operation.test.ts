import { describe, expect, it } from 'vitest';
import { thingsDocument } from '../../../harness/config/operation/fixtures/things.ts';
import { described } from '../../../harness/config/operation/openapi/fixtures/described.ts';
import { sessionAt } from '../../../harness/engine/session/fixtures/session.ts';
import { simulatedClock } from '../../../harness/engine/simulation/clock.ts';
import { storeOfThings } from './fixtures/store-of-things.ts';
import { operationCalls } from './operation.ts';

/** The calls of a service that refuses these methods, with an hour to wait. */
async function callsWhere(refuses: (method: string) => boolean) {
  const store = await storeOfThings(
    0,
    () => undefined,
    ({ method = '' }) => (refuses(method) ? 3_600 : null),
  );
  const config = await described(thingsDocument(), 'safety: { unsafeMethods: true }\n');
  const clock = simulatedClock();
  const { session } = sessionAt(store.url, config, { clock });
  try {
    const asked = await session.ask(operationCalls, new AbortController().signal);
    if ('failed' in asked) throw asked.failed;
    const calls = asked.value;
    return {
      called: [...calls.called].map(({ id }) => id).toSorted(),
      refused: calls.unexercised.flatMap(({ operation, why }) => (why === 'refused' ? [operation.id] : [])),
      shortfall: calls.shortfall,
      ended: calls.ended,
    };
  } finally {
    await session.close();
    await store.stop();
    clock.stop();
  }
}

describe('an operation with a limit of its own', () => {
  it('is blocked by its name, and the writes behind it are sent', async () => {
    const { called, refused, shortfall, ended } = await callsWhere((method) => method === 'PATCH');
    expect(called).toEqual(['create', 'list', 'remove']);
    expect(refused).toEqual(['update']);
    expect(ended).toBe(null);
    expect(shortfall).toMatchObject({
      end: 'blocked',
      reason: expect.stringContaining('PATCH /things/{id}'),
    });
  });

  it('is blocked by its name where it reads, and the writes are sent', async () => {
    const { called, shortfall } = await callsWhere((method) => method === 'GET');
    expect(called).toContain('create');
    expect(shortfall).toMatchObject({ end: 'blocked', reason: expect.stringContaining('GET /things') });
  });
});
