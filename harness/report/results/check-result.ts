import type { Static } from 'typebox';
import { FAULT_SIDES } from '../../base/finding.ts';
import Type from '../../base/schema/type.ts';
import { OUTCOMES } from '../../base/verdict.ts';
import {
  flag,
  list,
  Milliseconds,
  name,
  optional,
  shared,
  text,
  textOrNull,
  texts,
  whole,
} from './shapes.ts';

/** The part of the results model that is about one check: its plan, its outcome, its finding. */

const OneOutcome = shared('outcome', Type.Enum([...OUTCOMES]));
const OneLevel = shared('level', Type.Enum(['MUST', 'SHOULD', 'NONE']));
const Ground = shared(
  'ground',
  Type.Object({
    kind: Type.Enum(['clause', 'standard', 'clients', 'practice', 'own']),
    ref: text(
      "Clause key, section of the standard, behavior of clients that a violation breaks, or name of the practice or of the user's rule.",
    ),
    standing: text(
      "stated | advised | not-shown | config for a clause; MUST | SHOULD | MAY for a standard; relied-on for clients; practice; MUST | SHOULD for a rule of the user's own.",
    ),
    place: text(),
  }),
);

/** A check as it stands for one service, before it is judged. */
export type PlannedCheck = Static<typeof PlannedCheck>;
export const PLANNED_CHECK = Type.Object({
  id: name,
  suite: text(),
  title: text('Completes "the service …".'),
  why: optional(text('Why it matters to a client.')),
  change: optional(text('What to change in the service where it is violated.')),
  records: optional(text('Key of what it observes.')),
  level: OneLevel,
  grounds: Type.Array(Ground),
});
export const PlannedCheck = shared('plannedCheck', PLANNED_CHECK);

/** A violation as data; `message` is rendered from it. */
const Finding = shared(
  'finding',
  Type.Object({
    subject: text('What the decisive evidence is about: `GET /v1/orders`, an endpoint, the service.'),
    expected: textOrNull('Completes "expected …"; null if another tool says in its own words what is wrong.'),
    got: Type.Array(
      Type.Object({
        text: text('Completes "got …".'),
        stimuli: Type.Array(Type.Object({ to: text(), evidence: optional(text()) }), {
          description: 'What was done for it: `to` completes "for …". Empty if the text tells.',
        }),
      }),
      { description: 'What came, each once.' },
    ),
    more: optional(whole(1, 'Number of further deviations that are not in `got`.')),
    remark: optional(text('A remark of the other tool.')),
    evidence: textOrNull('Key of the evidence that decided it; null if no single piece did.'),
    ground: optional(
      Type.Object(
        { ref: text(), place: optional(text()) },
        { description: 'The ground that binds as strongly as the check does.' },
      ),
    ),
    silentSince: optional(flag('true: the service has answered nothing since.')),
    fault: optional(
      Type.Enum([...FAULT_SIDES], {
        description:
          'Whose fault it is: of the service, of its document, or of the config of conform. Absent in results that were written before it.',
      }),
    ),
  }),
);

const SUBJECT_OUTCOME = Type.Object({
  subject: text('An operation (`GET /v1/orders`), an endpoint (`WebSocket /ws`), else the service.'),
  outcome: OneOutcome,
  got: optional(text('The first result that deviates; absent for none.')),
  evidence: texts("Keys of the service's evidence."),
});

export const JUDGMENT = Type.Object({
  outcome: OneOutcome,
  message: text(
    'What was expected and what came; the reason when skipped or blocked; empty on a plain pass.',
  ),
  headline: optional(
    text('What is wrong, in a sentence, with the value that came; only where the check was violated.'),
  ),
  change: optional(text('What to change, about this violation; absent where the check says all.')),
  finding: optional(Finding),
  subjects: optional(
    list(
      shared('subjectOutcome', SUBJECT_OUTCOME),
      'The outcome for each subject that was judged; the outcome of the check is the worst.',
    ),
  ),
  explainedBy: optional(text('Id of the check whose violation explains this one, which is blocked for it.')),
  durationMs: Milliseconds,
  waitedMs: optional(
    Type.Number({ minimum: 0, description: 'Of it, what were waits on purpose; absent for none.' }),
  ),
  evidence: texts("Keys of the service's evidence."),
  decisive: optional(textOrNull('Which of the evidence shows the violation; absent when there is none.')),
  reproduce: textOrNull('A command line that repeats the decisive request, the key as $ENV_NAME.'),
});

export type CheckResult = Static<typeof CheckResult>;
export const CheckResult = shared('check', Type.Intersect([PlannedCheck, shared('judgment', JUDGMENT)]));
