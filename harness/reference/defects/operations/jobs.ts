import { type Defect, tableOf, under } from '../../behavior/deviation.ts';
import {
  beforehand,
  insteadOfServing,
  onAnswer,
  type Patch,
  remembering,
  together,
} from '../../behavior/patches/patch.ts';
import { bare, type HttpAnswer, problem } from '../../http/answer.ts';
import { failed, having, withMembers } from '../../http/answer-changes.ts';
import { withField } from '../../http/message.ts';
import { cancels, exports, onceDone, untilDone } from '../../services/item-patches.ts';
import { JOBS } from '../../services/saved-searches.ts';

const missing = () => problem('not-found');

/** `reads`: number of answers about finished work, this one included. */
const eachTimeDone = (change: (answer: HttpAnswer, reads: number) => HttpAnswer): Patch =>
  remembering(
    () => ({ reads: 0 }),
    (memory) =>
      onceDone((answer) => {
        memory.reads += 1;
        return change(answer, memory.reads);
      }),
  );

/** Faults of work that is accepted with 202 and done later. */
export const JOB_DEFECTS = tableOf<Defect>(under('saved searches'), {
  'job-is-404': {
    cause: 'The status of accepted work is answered {status:404}',
    fails: ['operations.accepted-place'],
    patch: together(onceDone(missing), untilDone(missing)),
  },
  'job-is-500': {
    cause: 'The status of accepted work is answered {status:500}, a server error',
    fails: ['operations.accepted-place'],
    patch: untilDone(failed),
  },
  'job-is-elsewhere': {
    cause: 'The Location of accepted work leads nowhere',
    fails: ['operations.accepted-place'],
    patch: insteadOfServing(exports, having('Location', '/jobs/last')),
  },
  'operation-location-is-404': {
    cause: 'The Operation-Location of accepted work leads nowhere',
    fails: ['operations.accepted-place'],
    patch: insteadOfServing(exports, having('Operation-Location', `${JOBS}/last`)),
  },
  'job-of-another': {
    cause: 'The status of accepted work is that of other work',
    fails: ['operations.accepted-own'],
    patch: together(
      onceDone((answer) => withMembers(answer, { id: 'last' })),
      untilDone((answer) => withMembers(answer, { id: 'last' })),
    ),
  },
  'job-goes-on': {
    cause: 'Work that was done is running again',
    fails: ['operations.accepted-ended'],
    patch: eachTimeDone((answer, reads) =>
      reads > 1 ? withField(withMembers(answer, { state: 'running' }), 'ETag', '"2"') : answer,
    ),
  },
  'cancelled-job-goes-on': {
    cause: 'Work that was cancelled is running again',
    fails: ['operations.accepted-ended'],
    patch: eachTimeDone((answer, reads) =>
      withField(withMembers(answer, { state: reads > 1 ? 'running' : 'cancelled' }), 'ETag', `"${reads}"`),
    ),
  },
  'done-job-is-500': {
    cause: 'The status of finished work is answered {status:500} the second time',
    fails: ['operations.accepted-ended'],
    patch: eachTimeDone((answer, reads) => (reads > 1 ? failed(answer) : answer)),
  },
  'result-is-404': {
    cause: 'The result of finished work is answered {status:404}',
    fails: ['operations.accepted-result'],
    patch: onceDone((answer) => withMembers(answer, { result: '/v1/results/last' })),
  },
  'result-url-is-404': {
    cause: 'The address of the result of finished work leads nowhere',
    fails: ['operations.accepted-result'],
    patch: onceDone((answer) => withMembers(answer, { result: null, resultUrl: '/v1/results/last' })),
  },
  'result-is-500': {
    cause: 'The result of finished work is answered {status:500}, a server error',
    fails: ['operations.accepted-result'],
    patch: together(
      onceDone((answer) => withMembers(answer, { result: '/v1/results/last' })),
      onAnswer('not-found', failed, ({ path }) => path === '/v1/results/last'),
    ),
  },
  'job-redirects-nowhere': {
    cause: 'Finished work is redirected to a result that is not there',
    fails: ['operations.accepted-result'],
    patch: onceDone((answer) => ({ ...having('Location', '/v1/results/last')(answer), status: 303 })),
  },
});

/** The status of a cancelled job changed from its second read on. */
const laterCancelled = (state: string): Patch =>
  remembering(
    () => ({ reads: 0 }),
    (memory) =>
      insteadOfServing(
        ({ path }) => path.startsWith(`${JOBS}/`),
        (answer) => {
          if (!answer.body.includes('"cancelled"')) return answer;
          memory.reads += 1;
          return memory.reads > 1 ? withField(withMembers(answer, { state }), 'ETag', `"${state}"`) : answer;
        },
      ),
  );

/** Faults of a service that offers to cancel such work. */
export const CANCELLATION_DEFECTS = tableOf<Defect>(
  { ...under('exports to cancel'), fails: ['operations.accepted-cancelled'] },
  {
    'cancelling-does-nothing': {
      cause: 'Work that was cancelled runs on until it is done',
      patch: beforehand((request) => (cancels(request) ? bare('served', 204) : null)),
    },
    'cancelled-job-is-done-later': {
      cause: 'Work that was cancelled is done later',
      patch: laterCancelled('done'),
    },
    'cancelled-job-runs-later': {
      cause: 'Work that was cancelled runs later',
      patch: laterCancelled('running'),
    },
  },
);
