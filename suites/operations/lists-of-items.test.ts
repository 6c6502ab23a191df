import { describe, expect, it } from 'vitest';
import { thingsDocument } from '../../harness/config/operation/fixtures/things.ts';
import { described } from '../../harness/config/operation/openapi/fixtures/described.ts';
import { judged } from '../tests/fixtures/judged.ts';
import { operations } from './operations.suite.ts';
import { storeOfThings } from './stimuli/fixtures/store-of-things.ts';

/** What is said of the list of a store that has this many things already, and lists the first ten of them alone. */
async function saidOfList(before: number) {
  const store = await storeOfThings(0, () => undefined);
  for (let number = 1; number <= before; number += 1)
    store.things.set(`own${number}`, { id: `own${number}` });
  const document = thingsDocument();
  const config = await described(document, 'safety: { unsafeMethods: true }\n');
  const { outcomes, messages } = await judged(config, [operations], { url: store.url }).finally(store.stop);
  return (name: string) => `${outcomes[name]} ${messages[name]}`;
}

describe('an item on a list', () => {
  it('is judged where the list is whole', async () => {
    const said = await saidOfList(2);
    expect(said('operations.list-has-new')).toMatch(/^pass/);
    expect(said('operations.list-forgets')).toMatch(/^pass/);
  });

  it('is not taken for gone where the list may go on', async () => {
    const said = await saidOfList(12);
    expect(said('operations.list-has-new')).toMatch(/^pass/);
    expect(said('operations.list-forgets')).toMatch(/^blocked .*its list of 13 items may go on/);
  });
});
