import {
  type Call,
  type OperationRequest,
  requestOfCall,
} from '../../../harness/config/operation/call/call.ts';
import type { Operation, ServiceConfig } from '../../../harness/config/service.ts';
import type { Port } from '../../../harness/engine/session/probe.ts';
import { examplesOf, KnownValues } from './found-values.ts';
import {
  type FoundValues,
  mayNameNothing,
  type Order,
  type ReasonAgainst,
  type Unexercised,
} from './plan.ts';
import { type OperationReply, Trials } from './trials.ts';

/** Levels of a path that are followed: `/orgs/{org}/repos/{repo}/issues/{issue}` has three. */
const MOST_ROUNDS = 6;

/** Sends orders; stops at the first that cannot be sent, or when it takes too long. */
type Send = (orders: readonly Order[]) => Promise<Trials>;

/**
 * Calls what needs no value of an answer, then what does: each round takes its values from the answers before it. For what
 * no answer names, a read is tried with made-up values. What an example of the document does not find is called again with
 * a value of an answer.
 */
export async function sendWithFound(
  orders: readonly Order[],
  config: ServiceConfig,
  {
    send,
    repeats,
    remark,
  }: { readonly send: Send; readonly repeats: number; readonly remark: Port['remark'] },
): Promise<Trials> {
  const known = new KnownValues(config, { takesMadeUp: true });
  let trials = await send(orders.filter((order) => !isAwaiting(order)));
  for (const reply of trials.all) known.take(reply);
  let waiting: readonly Order[] = orders.filter(isAwaiting);
  const unfound: Unexercised[] = [];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const found = await sendFound(waiting, known, send);
    trials = trials.with(found.trials);
    waiting = found.waiting;
    if (trials.ended !== null || waiting.length === 0) break;
    // From the outside in: answers of the outer ones may name the inner ones.
    const depth = Math.min(...waiting.map(depthOf));
    const outermost = waiting.filter((order) => depthOf(order) === depth);
    const madeUp = outermost.flatMap((order) => withMadeUp(order, known) ?? []);
    const tried = await send(madeUp);
    const served = Trials.of(tried.all.filter(({ expected }) => expected !== null));
    for (const reply of served.all) known.take(reply);
    trials = trials.with({ ...served, unexercised: tried.unexercised, ended: tried.ended });
    const seen = new Map(tried.all.map((reply) => [reply.operation, reply] as const));
    for (const order of outermost) {
      const reply = seen.get(order.operation);
      if (reply?.expected == null) unfound.push(notFound(order, known, reply?.status ?? null));
    }
    waiting = waiting.filter((order) => !outermost.includes(order));
  }
  const first = new Map(orders.map((order) => [order.operation, order] as const));
  let left = repeats;
  for (let round = 0; round < MOST_ROUNDS && trials.ended === null; round += 1) {
    const missed = trials.all.filter(isMissed);
    for (const reply of missed) known.missed(reply);
    const again = missed
      .flatMap(({ order }) => {
        const values = known.for(order.operation);
        const other = values === null ? null : filled(first.get(order.operation) ?? order, values);
        return other === null || other.path === order.path ? [] : [other];
      })
      .slice(0, left);
    if (again.length === 0) break;
    left -= again.length;
    const sent = await send(again);
    for (const reply of sent.all) known.take(reply);
    const vain = sent.all.filter((reply) => isMissed(reply) && known.isGuess(reply));
    for (const reply of vain) known.missed(reply);
    const telling = sent.without((reply) => vain.includes(reply));
    const answered = new Set(telling.all.map(({ operation }) => operation));
    trials = trials.without((reply) => missed.includes(reply) && answered.has(reply.operation)).with(telling);
  }
  for (const text of known.emptyLinks) remark(text);
  const unexercised = [...unfound, ...waiting.map((order) => notFound(order, known, null))];
  return withoutGuesses(trials, known).with({ unexercised });
}

/** Without those that a guessed identifier does not find: they tell nothing of their operation. */
function withoutGuesses(trials: Trials, known: KnownValues): Trials {
  return trials.judgeable((reply) => whyGuessed(reply, known));
}

/** Why a reply tells nothing of its operation: a guessed identifier names nothing. null for others. */
export function whyGuessed(reply: OperationReply, known: KnownValues): ReasonAgainst | null {
  return isMissed(reply) && known.isGuess(reply) ? GUESSED : null;
}

/** Sends those of which all values are known, again and again while answers name others. */
async function sendFound(
  orders: readonly Order[],
  known: KnownValues,
  send: Send,
): Promise<{ readonly trials: Trials; readonly waiting: readonly Order[] }> {
  let waiting = orders;
  let trials = Trials.of([]);
  for (let round = 0; round < MOST_ROUNDS && trials.ended === null; round += 1) {
    const ready = waiting.flatMap((order) => filled(order, known.for(order.operation)) ?? []);
    if (ready.length === 0) break;
    const sent = await send(ready);
    for (const reply of sent.all) known.take(reply);
    const operations = new Set(ready.map(({ operation }) => operation));
    waiting = waiting.filter(({ operation }) => !operations.has(operation));
    trials = trials.with(sent);
  }
  return { trials, waiting };
}

function withMadeUp(order: Order, known: KnownValues): Order | null {
  const made = filled(order, known.withMadeUp(order.operation));
  return made && { ...made, isMadeUp: true, what: 'with a made-up identifier' };
}

function depthOf({ operation }: Order): number {
  return operation.call.template.split('{').length;
}

/** Number of calls that may be repeated with another value, within the ceiling of the suite. */
export function mostRepeated({ operations, safety }: ServiceConfig, sent: number): number {
  const repeatable = operations.filter(mayNameNothing).length;
  return Math.max(0, Math.min(repeatable, safety.operationRequests - sent));
}

/** An example, or a value of another answer, names nothing in this deployment. */
function isMissed({ order: { operation, values }, status }: OperationReply): boolean {
  // Some services answer 403 for what does not exist.
  const isHidden = status === 403 && values === undefined && examplesOf(operation).length > 0;
  return isHidden || (isRepeatable(operation) && (status === 404 || status === 410));
}

/** An example of the document names nothing in this deployment. */
export function namesNothing({ operation, status }: OperationReply): boolean {
  return examplesOf(operation).length > 0 && (status === 404 || status === 410);
}

function isRepeatable(operation: Operation): boolean {
  return examplesOf(operation).length > 0 || operation.awaits.length > 0;
}

function isAwaiting({ operation }: Order): boolean {
  return operation.awaits.length > 0;
}

const GUESSED: ReasonAgainst = {
  reason:
    'no list has its item, and a value of another answer names none; `parameters:` in the config may give one',
  why: 'unfit',
};

/** The order with the values that were found; null if one is missing. */
export function filled(order: Order, values: FoundValues | null): Order | null {
  if (order.operation.awaits.length === 0) return values === null ? order : withOthers(order, values);
  if (values === null) return null;
  if (order.kind === 'call') return { ...order, ...requestWith(order.operation.call, values), values };
  const put = (
    text: string,
    marks: (name: string) => readonly string[],
    written: (value: string) => string,
  ) =>
    [...values].reduce(
      (all, [name, value]) =>
        marks(name).reduce((left, mark) => left.replaceAll(mark, () => written(value)), all),
      text,
    );
  const inPath = (name: string) => [`{${name}}`, encodeURIComponent(`{${name}}`)];
  const path = put(order.path, inPath, encodeURIComponent);
  const fields = order.fields.map(
    ([name, value]) => [name, put(value, (key) => [`{${key}}`], String)] as const,
  );
  return { ...order, path, fields, values };
}

function requestWith(call: Call, values: FoundValues): OperationRequest {
  const inputs = call.inputs.map((input) =>
    values.has(input.name) ? { ...input, value: values.get(input.name) } : input,
  );
  return requestOfCall({ ...call, inputs });
}

/** The order with these values in place of the examples in its path. */
function withOthers(order: Order, values: FoundValues): Order {
  const { call } = order.operation;
  const [before = ''] = requestOfCall(call).path.split('?', 1);
  const [after = ''] = requestWith(call, values).path.split('?', 1);
  if (!order.path.startsWith(before)) return order;
  return { ...order, path: after + order.path.slice(before.length), values };
}

/** The values with which operations were called. */
export function valuesOf({ all }: Trials): ReadonlyMap<Operation, FoundValues> {
  return new Map(all.flatMap(({ order: { operation, values } }) => (values ? [[operation, values]] : [])));
}

/** `status`: of the call with made-up values; null for none. */
function notFound({ operation, kind }: Order, known: KnownValues, status: number | null): Unexercised {
  const name = known.unknownOf(operation);
  const lacks = operation.call.inputs.find((input) => input.name === name);
  const why = lacks
    ? `neither the document nor an answer has a value for the ${lacks.in} parameter "${name}"`
    : operation.uncallable;
  const tried = status === null ? '' : `, and a made-up one gets ${status}`;
  const reason = `${why}${tried}; \`parameters:\` in the config may give one`;
  return { operation, kind, reason, why: 'unfit', fault: 'document' };
}
