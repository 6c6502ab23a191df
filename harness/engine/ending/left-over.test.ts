import { expect, it } from 'vitest';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import { evidenceToJson } from '../../wire/evidence.ts';
import { exampleExchange } from '../../wire/fixtures/example-evidence.ts';
import { leftOvers } from './clear-up.ts';

const sent = (service: string, number: number, requests: number): JournalEvent => ({
  type: 'evidence',
  service,
  id: `e${number}`,
  purpose: 'as documented',
  requests,
  value: evidenceToJson(exampleExchange()),
});

it('a worker has left what it had neither judged nor sent, service by service', () => {
  const judged: JournalEvent = {
    type: 'outcome',
    service: 'orders',
    id: 'status.sample',
    outcome: 'pass',
    message: '',
    durationMs: 1,
    waitedMs: 0,
    evidence: [],
    decisive: null,
    reproduce: null,
  };
  const journal = [sent('orders', 1, 1), judged, sent('orders', 2, 20), sent('others', 7, 5)];
  const left = leftOvers(journal, ['orders', 'idle'], 1_000);
  expect(Object.fromEntries(left)).toEqual({
    orders: { judged: ['status.sample'], lastEvidence: 2, requestsSent: 21, endedMs: 1_000 },
    idle: { judged: [], lastEvidence: 0, requestsSent: 0, endedMs: 1_000 },
  });
});
