import { describe, expect, it } from 'vitest';
import { mayUse } from '../../../harness/engine/fixtures/system-tools.ts';
import { ARCHIVE, alterations, keep, verdictsToday } from '../fixtures/archive.ts';

/** `npm run archive`: records everything anew, or what `-t NAME` names. Then renew the verdicts: `npm run rejudge -- --update`. */
describe('is recorded', () => {
  it.for(ARCHIVE)('$name', async (kept) => {
    if (kept.needs !== undefined && !mayUse(kept.needs)) throw new Error(`${kept.needs} is not installed`);
    const said = await keep(kept);
    expect(alterations(said, await verdictsToday(kept))).toEqual([]);
  });
});
