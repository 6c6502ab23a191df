import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../base/verdict.ts';
import type { JournalEvent } from '../../report/results/fold/events.ts';
import { endingEvents } from './providers.ts';

const ENDING = 'the container exited with code 9; its last lines: the index is corrupt';
const UNREACHABLE = 'the provider cannot be reached: connect ECONNREFUSED 127.0.0.1:40000';

const outcome = (id: string, kind: Outcome, message: string, service = 'search'): JournalEvent => ({
  type: 'outcome',
  service,
  id,
  outcome: kind,
  message,
  durationMs: 1,
  evidence: [],
  reproduce: null,
});

describe('a provider that ended while it was judged', () => {
  it('is the reason of its trouble, and of the checks that were blocked for it, and of no other', () => {
    const journal: readonly JournalEvent[] = [
      outcome('a', 'pass', ''),
      outcome('b', 'fail', UNREACHABLE),
      outcome('c', 'blocked', UNREACHABLE),
      { type: 'service-trouble', service: 'search', reason: UNREACHABLE },
      outcome('d', 'blocked', 'no second key is configured'),
      outcome('e', 'blocked', `it needs another check: ${UNREACHABLE}`),
      outcome('c', 'blocked', UNREACHABLE, 'messaging'),
      { type: 'service-trouble', service: 'messaging', reason: 'another one' },
    ];
    const reason = `${UNREACHABLE}: ${ENDING}`;
    expect(endingEvents(journal, 'search', ENDING)).toEqual([
      { type: 'service-trouble', service: 'search', reason, fault: 'service' },
      outcome('c', 'blocked', reason),
      outcome('e', 'blocked', `it needs another check: ${reason}`),
    ]);
  });

  it('is told also when no check has met it', () => {
    expect(endingEvents([outcome('a', 'pass', '')], 'search', ENDING)).toEqual([
      {
        type: 'service-trouble',
        service: 'search',
        reason: `its provider ended while it was judged: ${ENDING}`,
        fault: 'service',
      },
    ]);
  });
});
