import { describe, expect, it } from 'vitest';
import { FAULTLESS_PROGRAMS } from './fixtures/faultless-programs.ts';
import { MOST_WARNINGS, raisedUnderApi } from './fixtures/faultless-servers.ts';
import { judged } from './fixtures/judged.ts';

describe.concurrent('a faultless service', () => {
  it.each(FAULTLESS_PROGRAMS)('by %s conforms to the rule set api', async (_, start) => {
    const found = await raisedUnderApi(await start(), judged);
    expect(found.filter((line) => !line.startsWith('warning'))).toEqual([]);
    expect(found.length).toBeLessThanOrEqual(MOST_WARNINGS);
  });
});
