import { describe, expect, it } from 'vitest';
import type { ReferenceName } from '../../config/service.ts';
import { listDefects } from '../catalogue.ts';
import { ask, start } from '../fixtures/http-client.ts';

// That each is noticed, the proof shows.
describe('the defects', () => {
  it('have names for people, and say what they are', () => {
    for (const { name, cause, services } of listDefects()) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)+$/);
      expect(services.length).toBeGreaterThan(0);
      expect(cause.length).toBeGreaterThan(10);
      expect(cause).not.toMatch(/\.$/);
    }
  });
});

describe.each<ReferenceName>(['search', 'messaging', 'realtime'])('every defect of %s', (service) => {
  it('can be switched on without a fault of the provider itself', async () => {
    for (const { name } of listDefects(service)) {
      const provider = await start(service, { defects: [name] });
      await ask(provider);
      await provider.stop();
      expect({ name, faults: provider.faults }).toEqual({ name, faults: [] });
    }
  });
});

describe('several defects', () => {
  it('are all seen at once', async () => {
    const defects = ['no-date', 'unknown-path-html', 'limit-off-by-one-low', 'no-nosniff'];
    const provider = await start('messaging', { defects: defects, plan: { requests: 3, windowMs: 1_000 } });
    const seen = [await ask(provider, { target: '/nothing' }), await ask(provider), await ask(provider)];
    await provider.stop();
    expect(seen.map(({ status }) => status)).toEqual([404, 200, 429]);
    expect(seen.map((answer) => [answer.field('date'), answer.field('x-content-type-options')])).toEqual(
      seen.map(() => [undefined, undefined]),
    );
    expect(seen[0]?.field('content-type')).toBe('text/html; charset=utf-8');
  });
});
