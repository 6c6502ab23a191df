import type { Operation, ServiceConfig } from '../../../harness/config/service.ts';
import { probe } from '../../../harness/engine/session/probe.ts';
import { acceptedWork, placeOfStatus, readerOf, type WorkState, workState } from './accepted.ts';
import { itemOf } from './item.ts';
import { pathOfNext } from './pages.ts';
import { orderOf, sendOrder } from './stimulus.ts';
import type { OperationReply } from './trials.ts';

/** Work that the run begins to cancel it, where its document says how. */

/** Milliseconds before each request to the status of work that was cancelled. */
const WAITS_MS = [0, 500, 2_000];
/** The work once more, and its cancellation. */
const FURTHER = 2;

const CANCELS = /\/(?:cancel|abort|stop)$/i;
const STOPPING = /^(?:cancell?ing|stopping|aborting|terminating|deleting)$/i;
const CANCELLED = /^(?:cancell?ed|aborted|stopped|terminated|deleted)$/i;

/** `gone`: cancelled, or no longer there. */
export type CancelState = 'gone' | Exclude<WorkState, 'ended'> | 'done';

export interface CancelledWork {
  readonly cancel: OperationReply;
  /** Of the status, one after the other. */
  readonly polls: readonly OperationReply[];
}

export function cancelState(reply: OperationReply): CancelState {
  if (reply.status === 404 || reply.status === 410) return 'gone';
  if (!reply.answered || reply.response.statusClass > 3) return 'unknown';
  const told = Object.values(itemOf(reply) ?? {}).filter((value) => typeof value === 'string');
  if (told.some((value) => CANCELLED.test(value))) return 'gone';
  if (told.some((value) => STOPPING.test(value))) return 'unknown';
  const state = workState(reply);
  return state === 'ended' ? 'done' : state;
}

/** Each begun by the run once more, for its status is known; empty where no document offers to cancel it. */
export const cancelledWork = probe<readonly CancelledWork[]>(
  'cancelled-work',
  {
    needs: [acceptedWork],
    cost: (config) => (cancellations(config).length > 0 ? WAITS_MS.length + FURTHER : 0),
    risks: ['change'],
  },
  async (port) => {
    const [first] = (await port.ask(acceptedWork)).filter(({ isOfStatus }) => isOfStatus);
    if (first === undefined || cancellations(port.config).length === 0) return [];
    const { order } = first.accepted;
    const begun = await sendOrder(port, { ...order, what: 'once more, to cancel it' });
    const place = begun.status === 202 ? placeOfStatus(begun) : null;
    const path = place && pathOfNext(place, begun);
    const [operation, suffix] = cancellations(port.config).find(([each]) => isAt(each, path ?? '')) ?? [];
    if (place === null || path === null || operation === undefined) return [];
    const request = { path: `${path}${suffix}`, fields: [], body: null };
    const cancel = await sendOrder(port, orderOf(operation, request, 'for work that the run has begun'));
    const read = readerOf(begun, port);
    const polls: OperationReply[] = [];
    for (const waitMs of WAITS_MS) {
      await port.clock.sleep(waitMs, port.signal);
      polls.push(await read(place, `to see the status of cancelled work (${polls.length + 1})`));
    }
    return [{ cancel, polls }];
  },
);

type Cancellation = readonly [operation: Operation, suffix: string];

/** DELETE of one resource, or POST to `/cancel` below it, for which nothing but its place is needed. */
function cancellations({ operations, safety }: ServiceConfig): readonly Cancellation[] {
  const begins = operations.some(({ response }) => response.status === 202);
  if (!safety.unsafeMethods || !begins) return [];
  return operations.flatMap((each): readonly Cancellation[] => {
    const { inputs, body, template } = each.call;
    if (inputs.some(({ in: place, required }) => required && place !== 'path') || body?.required) return [];
    const [suffix = null] = CANCELS.exec(template) ?? [];
    if (each.method === 'DELETE' && template.endsWith('}')) return [[each, '']];
    return each.method === 'POST' && suffix !== null ? [[each, suffix]] : [];
  });
}

/** Whether an operation is about what is at that path. */
function isAt({ call: { template } }: Operation, path: string): boolean {
  const wanted = template.replace(CANCELS, '').split('/');
  const parts = path.split('?', 1).join('').split('/');
  return (
    wanted.length === parts.length &&
    wanted.every((part, index) => part.includes('{') || part === parts[index])
  );
}
