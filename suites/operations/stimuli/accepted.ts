import { isJsonObject } from '../../../harness/base/json-text.ts';
import type { ServiceConfig } from '../../../harness/config/service.ts';
import { type Port, probe } from '../../../harness/engine/session/probe.ts';
import type { Reply } from '../../../harness/wire/exchange/reply.ts';
import { itemOf } from './item.ts';
import { operationCalls } from './operation.ts';
import { pathOfNext } from './pages.ts';
import { orderOf, sendOrder } from './stimulus.ts';
import type { OperationReply } from './trials.ts';

/** Work that is accepted with 202 and done later (RFC 9110 §15.3.3), followed to its end. */

/** Number of answers with 202 that are followed, and of requests to the status of each. */
const MOST_FOLLOWED = 2;
const MOST_POLLS = 6;
/** Milliseconds: before the first request, at most between two, and until the work is given up. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 3_000;
const PATIENCE_MS = 10_000;
/** The status once more after its end, and the result. */
const FURTHER = 2;

const STATE = /^(?:status|state|phase)$/i;
const RUNNING =
  /^(?:pending|queued|waiting|new|created|accepted|scheduled|submitted|running|started|processing|working|active|in[ _-]?progress)$/i;
const CANCELLED = /^(?:failed|failure|error(?:ed)?|cancell?ed|aborted|expired|rejected)$/i;
const RESULT = /^(?:result|resource|target|output|download)(?:_?(?:url|uri|href|link|location))?$/i;

/** `ended`: done, failed or given up; `unknown`: what it says is of no known form. */
export type WorkState = 'running' | 'ended' | 'unknown';

export interface AcceptedWork {
  readonly accepted: OperationReply;
  /** Of the status, one after the other. */
  readonly polls: readonly OperationReply[];
  /** The status once more, and the result that it points at; null where it has not ended, or points at none. */
  readonly again: OperationReply | null;
  readonly result: OperationReply | null;
  /** The address is one of the status, and not that of an item which is yet to be there. */
  readonly isOfStatus: boolean;
}

/** How far the work is, as its status says. */
export function workState(reply: Reply): WorkState {
  if (reply.status === 202) return 'running';
  if (reply.response.redirect !== null) return 'ended';
  const [, told] = Object.entries(itemOf(reply) ?? {}).find(([name]) => STATE.test(name)) ?? [];
  if (typeof told !== 'string') return 'unknown';
  return RUNNING.test(told) ? 'running' : 'ended';
}

/** Operations that are documented to answer 202, each followed once; empty where none does. */
export const acceptedWork = probe<readonly AcceptedWork[]>(
  'accepted-work',
  { needs: [operationCalls], cost: (config) => (MOST_POLLS + FURTHER) * followedIn(config) },
  async (port) => {
    const { all } = await port.ask(operationCalls);
    const followed: AcceptedWork[] = [];
    for (const reply of all.filter(({ status, operation }) => status === 202 && isAccepting(operation))) {
      const place = placeOfStatus(reply);
      if (place !== null && followed.length < MOST_FOLLOWED) followed.push(await follow(reply, place, port));
    }
    return followed;
  },
);

const isAccepting = ({ response }: ServiceConfig['operations'][number]): boolean => response.status === 202;

const followedIn = ({ operations }: ServiceConfig): number =>
  Math.min(MOST_FOLLOWED, operations.filter(isAccepting).length);

export function placeOfStatus({ response, exchange }: Reply): URL | null {
  const here = exchange.request.url;
  const named = response.field('operation-location');
  return ofOrigin(named === undefined ? response.location : URL.parse(named, here), here);
}

const ofOrigin = (place: URL | null, here: string): URL | null =>
  place?.origin === new URL(here).origin ? place : null;

/** Reads what is said at a place about accepted work. */
export const readerOf =
  (accepted: OperationReply, port: Pick<Port, 'http'>) =>
  (at: URL, what: string): Promise<OperationReply> => {
    const path = pathOfNext(at, accepted);
    const order = orderOf(accepted.operation, { path, fields: [], body: null }, what);
    return sendOrder(port, { ...order, method: 'GET' });
  };

async function follow(
  accepted: OperationReply,
  place: URL,
  { http, clock, signal }: Pick<Port, 'http' | 'clock' | 'signal'>,
): Promise<AcceptedWork> {
  const read = readerOf(accepted, { http });
  const isOfStatus =
    accepted.response.has('operation-location') ||
    !place.pathname.startsWith(new URL(accepted.exchange.request.url).pathname);
  const polls: OperationReply[] = [];
  let last = accepted;
  let waitedMs = 0;
  for (let wait = FIRST_WAIT_MS; polls.length < MOST_POLLS; wait *= 2) {
    const pauseMs = Math.min(secondsIn(last) * 1_000 || wait, LONGEST_WAIT_MS);
    waitedMs += pauseMs;
    if (waitedMs > PATIENCE_MS) break;
    await clock.sleep(pauseMs, signal);
    last = await read(place, `to see the status of accepted work (${polls.length + 1})`);
    polls.push(last);
    const isYetToCome = last.status === 404 && !isOfStatus;
    if (workState(last) !== 'running' && !isYetToCome) break;
  }
  const target = workState(last) === 'ended' && polls.length > 0 ? placeOfResult(last) : null;
  const hasEnded = polls.length > 0 && workState(last) === 'ended';
  return {
    accepted,
    polls,
    isOfStatus,
    again: hasEnded ? await read(place, 'to see the status of accepted work after its end') : null,
    result: target && (await read(target, 'to see the result of accepted work')),
  };
}

function secondsIn({ response }: Reply): number {
  const told = response.field('retry-after') ?? '';
  return /^\d{1,4}$/.test(told) ? Number(told) : 0;
}

/** Where the status of work that has succeeded says that its result is. */
function placeOfResult(status: Reply): URL | null {
  const here = status.exchange.request.url;
  if (status.response.redirect !== null) return ofOrigin(status.response.location, here);
  const members = Object.entries(itemOf(status) ?? {});
  if (members.some(([name, value]) => STATE.test(name) && CANCELLED.test(String(value)))) return null;
  const [, told] = members.find(([name, value]) => RESULT.test(name) && isReference(value)) ?? [];
  return typeof told === 'string' ? ofOrigin(URL.parse(told, here), here) : null;
}

const isReference = (value: unknown): boolean =>
  typeof value === 'string' && /^(?:https?:\/\/|\/)/.test(value);

/** What two answers say of the id of the work, where both say it. */
export function idsOfWork({ accepted, polls }: AcceptedWork): readonly [string, string] | null {
  const status = polls.at(-1);
  const [first, second] = [accepted, status].map((reply) => {
    const body = reply?.served ? reply.response.json.value : null;
    return isJsonObject(body) && typeof body.id === 'string' ? body.id : null;
  });
  return first && second ? [first, second] : null;
}
