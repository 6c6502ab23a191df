import { describe, expect, it } from 'vitest';
import { listDefects } from '../catalogue.ts';
import { ask, start } from '../fixtures/http-client.ts';
import {
  AUTHENTICATION_SIGHTINGS,
  JSON_SIGHTINGS,
  ROBUSTNESS_SIGHTINGS,
  STATUS_CODE_SIGHTINGS,
  VERSIONING_SIGHTINGS,
} from '../fixtures/http-sightings.ts';
import { OPERATION_SIGHTINGS } from '../fixtures/operation-sightings.ts';
import { PUSHER_SIGHTINGS } from '../fixtures/pusher-sightings.ts';
import { RATE_LIMIT_SIGHTINGS } from '../fixtures/quota-sightings.ts';
import { type Sightings, sightingOf } from '../fixtures/sighting.ts';
import { SIGNATURE_SIGHTINGS } from '../fixtures/signature-sightings.ts';
import { WEBHOOK_SIGHTINGS } from '../fixtures/webhook-sightings.ts';
import { WEBSOCKET_COMPRESSION_SIGHTINGS } from '../fixtures/websocket-compression-sightings.ts';
import { WEBSOCKET_SIGHTINGS } from '../fixtures/websocket-sightings.ts';

const SIGHTINGS: Sightings = {
  ...AUTHENTICATION_SIGHTINGS,
  ...SIGNATURE_SIGHTINGS,
  ...STATUS_CODE_SIGHTINGS,
  ...ROBUSTNESS_SIGHTINGS,
  ...JSON_SIGHTINGS,
  ...VERSIONING_SIGHTINGS,
  ...OPERATION_SIGHTINGS,
  ...RATE_LIMIT_SIGHTINGS,
  ...WEBSOCKET_SIGHTINGS,
  ...WEBSOCKET_COMPRESSION_SIGHTINGS,
  ...PUSHER_SIGHTINGS,
  ...WEBHOOK_SIGHTINGS,
};

describe('the defects', () => {
  it('are each shown below', () => {
    expect(Object.keys(SIGHTINGS).sort()).toEqual(
      listDefects()
        .map(({ name }) => name)
        .sort(),
    );
  });

  it('have names for people, and say what they are', () => {
    for (const { name, summary, breaks, services } of listDefects()) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)+$/);
      expect(services.length).toBeGreaterThan(0);
      expect([summary, breaks].every((text) => text.length > 10 && !text.endsWith('.'))).toBe(true);
    }
  });
});

describe.each(Object.entries(SIGHTINGS))('%s', (name, sighting) => {
  const able = listDefects().find((defect) => defect.name === name)?.services ?? [];
  const service = sighting.service ?? able[0] ?? 'search';

  it('is not seen of the conforming service', async () => {
    expect(await sightingOf(sighting, service, {})).toEqual(sighting.right);
  });

  it('is seen when it is on', async () => {
    expect(await sightingOf(sighting, service, { defects: [name] })).toEqual(sighting.wrong);
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
