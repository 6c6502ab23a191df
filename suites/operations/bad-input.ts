import { type CheckDefinition, capitalized, check, type Probe } from '../../harness/engine/check/suite.ts';
import type { Notes } from '../row.ts';
import { documented } from './lived.ts';
import * as operation from './stimuli/operation.ts';
import type { OperationReply, Trials } from './stimuli/trials.ts';

interface BadInput extends Notes<'repeats'> {
  /** Completes "answers … with a 4xx status", and with a capital letter "… gets status 200". */
  readonly what: string;
}

/** Bad input is the client's fault: neither is it served, nor does the service fail over it. */
export const refuses = (
  id: string,
  probe: Probe<Trials | readonly OperationReply[]>,
  { what, ...notes }: BadInput,
): CheckDefinition =>
  check(id, {
    ...notes,
    title: `answers ${what} with a 4xx status`,
    headline: `${capitalized(what)} gets {answer}`,
    grounds: [documented],
    uses: [probe],
    judge: ({ expect }) =>
      expect().toConform('a client error (4xx, but not 401)', ({ response: { status, statusClass } }) =>
        statusClass === 4 && status !== 401 ? null : `status ${status}`,
      ),
  });

// endpoint.other-operations: types, what is required and what is allowed are documented.
export const negativeType = refuses('operations.negative-type', operation.wrongTypes, {
  what: 'input of the wrong type',
  why: 'A mistake of the client goes unnoticed, or looks like an outage of the service.',
  change: 'Check the type of each input, and answer 400 or 422 with its name.',
});

export const negativeMissing = refuses('operations.negative-missing', operation.missingInputs, {
  what: 'a request that lacks required input',
  why: 'The service guesses what the client forgot, or fails over it.',
  change: 'Check that all required input is there, and answer 400 or 422 with the name of what is missing.',
});

/** Input that the documents rule out. */
export const badInput: readonly CheckDefinition[] = [
  negativeType,
  negativeMissing,
  refuses('operations.negative-range', operation.outOfRange, {
    what: 'input beyond its documented range',
    why: 'With a limit that nobody checks, one call can ask for everything.',
    change: 'Check minimum, maximum and length, and answer 400 or 422 with the limit.',
  }),
  refuses('operations.negative-surplus', operation.surplusMembers, {
    what: 'a body with members that its schema rules out',
    why: 'A misspelled member is dropped, and the client never learns of it.',
    change: 'Refuse members that the schema rules out (additionalProperties: false) with 400 or 422.',
  }),
];
