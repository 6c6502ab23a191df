import { checkEach } from '../harness/check/cases.ts';
import { suite } from '../harness/check/check.ts';
import { hasPacts, pactsRead } from '../harness/check/requirement.ts';
import { clause } from '../harness/contract/ground.ts';
import { INTERACTION, interactions } from '../harness/probe/pact.ts';

/** So many mismatches are spelled out; the exchange shows the others. */
const NAMED = 5;

export const pact = suite('pact', 'Consumer contracts', [
  checkEach(
    INTERACTION,
    {
      title: 'answers each consumer as its pact says',
      grounds: [clause('consumers.pacts'), clause('endpoint.sample')],
      applies: [hasPacts],
      needs: [pactsRead],
      // A state that is brought about by a command may take its time.
      limitMs: 180_000,
      cases: interactions,
      provenBy: ['sample-is-404', 'json-wrong-content-type', 'json-no-content-type'],
    },
    async ({ probe, violated, note }, { verification }) => {
      const { mismatches, evidence, remark } = await probe(verification);
      if (mismatches.length > 0) {
        const named = mismatches.slice(0, NAMED).join('; ');
        const more = mismatches.length > NAMED ? `; and ${mismatches.length - NAMED} more` : '';
        violated(`${named}${more}${remark === '' ? '' : ` (${remark})`}`, evidence ?? undefined);
      }
      if (remark !== '') note(remark);
    },
  ),
]);
