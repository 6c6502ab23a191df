import { checkEach, clause, hasPacts, pactsRead, suite } from '../../harness/engine/check/suite.ts';
import { documentedSample } from '../status/documented-answer.ts';
import { INTERACTION, interactions } from './stimuli/pact.ts';

export const pact = suite('pact', 'Consumer contracts', [
  checkEach(INTERACTION, {
    title: 'answers each consumer as its pact says',
    headline: "The service does not keep a consumer's pact",
    why: 'This consumer will fail with this version of the service.',
    change: 'Answer as the pact says, or agree on a new pact with the consumer before you deploy.',
    grounds: [clause('consumers.pacts'), clause('endpoint.sample')],
    applies: [hasPacts],
    needs: [pactsRead],
    // A state that is brought about by a command may take its time.
    limitMs: 180_000,
    cases: interactions,
    // That the same request is served has a check of its own.
    restsOn: ({ isSample }) => (isSample ? [documentedSample] : []),
    uses: ({ verification }) => [verification],
    async judge({ probe, reported, note }, { verification }) {
      const { mismatches, evidence, remark } = await probe(verification);
      if (mismatches.length > 0) reported(mismatches, remark, evidence ?? undefined);
      note(remark);
    },
  }),
]);
