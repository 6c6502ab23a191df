import { check, practice } from '../../harness/check/suite.ts';
import { burstFailures } from '../../harness/probe/quota/failures.ts';
import { stable } from '../status/documented-answer.ts';

// Within its quota a client may send as fast as it likes: a failure of the server is no refusal.
export const failures = check('limits.failures', {
  title: 'fails at none of many requests that follow each other, or come together, within the quota',
  headline: 'Of many requests within the quota some fail: {got}',
  why: 'Clients that use what they may use are failed now and then, and take it for the limit.',
  change: 'Find what gives out when requests come fast or together, or which instance fails.',
  grounds: [practice('repeatable answers')],
  restsOn: [stable],
  async judge({ probe, violated, note }) {
    const { status, count, of, evidence } = await probe(burstFailures);
    if (status !== null)
      violated(`expected no failure, got status ${status} for ${count} of ${of} answers in bursts`, evidence);
    note(`${of} answers in bursts without a failure`);
  },
});
