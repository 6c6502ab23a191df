import { expect, it } from 'vitest';
import { recordOfJournal } from '../../harness/engine/judging/read-record.ts';
import type { JournalEvent } from '../../harness/report/results/fold/events.ts';
import type { Exchange } from '../../harness/wire/exchange.ts';
import { journalOf, judgedAgain } from '../tests/fixtures/archive.ts';
import { configFor, holdsKey, judgedServed } from '../tests/fixtures/judged.ts';
import { listSpellings, spellings } from './spellings.ts';

const SUITE = {
  name: 'framing',
  title: 'Framing',
  checks: [...spellings, ...listSpellings].filter(({ restsOn }) => restsOn.length === 0),
};

/** What a service says of lawful spellings, and what its record says, with this changed. */
async function found(takes: (accept: string | undefined) => boolean) {
  const config = await configFor();
  const served = await judgedServed(
    ({ headers }, response) => {
      const isTaken = holdsKey(headers.authorization) && takes(headers.accept);
      response.writeHead(isTaken ? 200 : 406, { 'Content-Type': 'application/json' }).end('{}');
    },
    config,
    [SUITE],
  );
  const again = async (changed: (exchange: Exchange) => Exchange) => {
    const journal = journalOf('spelled', config, 'http://127.0.0.1:1', served.events);
    const recorded = recordOfJournal(JSON.parse(JSON.stringify(journal)), { file: 'spelled' });
    const outcomes: Record<string, string> = {};
    const hear = (event: JournalEvent) => {
      if (event.type === 'outcome') outcomes[event.id] = event.outcome;
    };
    await judgedAgain(recorded, config, [SUITE], { hear, changed });
    return outcomes;
  };
  return { ...served, again };
}

it('several lawful spellings are tried in one request, and again one by one where that is refused', async () => {
  const lenient = await found(() => true);
  expect(new Set(Object.values(lenient.outcomes))).toEqual(new Set(['pass']));
  const strict = await found((accept = '') => !accept.includes(',,'));
  expect(strict.outcomes).toEqual({ ...lenient.outcomes, 'negotiation.empty-members': 'fail' });
  expect([lenient.requests, strict.requests]).toEqual([2, 10]);
});

it('a record tells a request in such a spelling from the usual one', async () => {
  const { outcomes, again } = await found(() => true);
  expect(await again((exchange) => exchange)).toEqual(outcomes);
  const usual = await again(({ request: { spelled: _, ...request }, ...exchange }) => ({
    ...exchange,
    request,
  }));
  expect(new Set(Object.values(usual))).toEqual(new Set(['blocked']));
});
