import { Blocked } from '../../base/verdict.ts';
import { digestOf } from '../../config/pact/interaction.ts';
import type { PactJudge } from '../../session/pact/verification.ts';
import type { RecordedService, Shelf } from './recording.ts';

/** What Pact found then. Pact itself is not asked: it would have to send. */
export function replayPacts({ verifications }: RecordedService, shelf: Shelf): PactJudge {
  return {
    portFor: ({ log }, _http, turn) => ({
      async verify(interaction) {
        const found = verifications.findLast((each) => each.interaction === interaction.id);
        if (found === undefined) throw new Blocked(`not in the record: what Pact says of ${interaction.id}`);
        if (found.expected !== digestOf(interaction))
          throw new Blocked('the pact has changed since the record, and Pact itself sends requests');
        for (const { evidence, requests } of shelf.takeAll(`pact ${interaction.id}`))
          turn.trail.add(log.keep(evidence, requests).id);
        if (found.blocked !== null) throw new Blocked(found.blocked);
        const { mismatches, evidence, remark } = found;
        return { mismatches, evidence, remark };
      },
    }),
    close: async () => undefined,
  };
}
