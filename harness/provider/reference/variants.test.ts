import { describe, expect, it } from 'vitest';
import { listVariants } from './catalogue.ts';
import { type Sightings, sightingOf } from './fixtures/sighting.ts';
import { VARIANT_SIGHTINGS } from './fixtures/variant-sightings.ts';
import { WEBSOCKET_VARIANT_SIGHTINGS } from './fixtures/websocket-variant-sightings.ts';

const SIGHTINGS: Sightings = { ...VARIANT_SIGHTINGS, ...WEBSOCKET_VARIANT_SIGHTINGS };

describe('the variants', () => {
  it('are each shown below', () => {
    const names = listVariants().map(({ name }) => name);
    expect(Object.keys(SIGHTINGS).sort()).toEqual(names.sort());
  });
});

describe.each(Object.entries(SIGHTINGS))('%s', (variant, sighting) => {
  const service = sighting.service ?? 'search';

  it('is not the ordinary conduct', async () => {
    expect(await sightingOf(sighting, service, {})).toEqual(sighting.right);
  });

  it('is seen when it is on', async () => {
    expect(await sightingOf(sighting, service, { variant })).toEqual(sighting.wrong);
  });
});
