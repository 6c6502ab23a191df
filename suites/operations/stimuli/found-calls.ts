import type { Operation, ServiceConfig } from '../../../harness/config/service.ts';
import { KnownValues } from './found-values.ts';
import type { FoundValues, Order, Unexercised } from './plan.ts';
import type { Trials } from './trials.ts';

/** Levels of a path that are followed: `/orgs/{org}/repos/{repo}/issues/{issue}` has three. */
const MOST_ROUNDS = 6;

/** Sends orders; stops at the first that cannot be sent, or when it takes too long. */
type Send = (orders: readonly Order[]) => Promise<Trials>;

/** Calls what needs no value of an answer, then what does: each round takes its values from the answers before it. */
export async function sendWithFound(
  orders: readonly Order[],
  config: ServiceConfig,
  send: Send,
): Promise<Trials> {
  const known = new KnownValues(config);
  let waiting = orders.filter(isAwaiting);
  let trials = await send(orders.filter((order) => !isAwaiting(order)));
  for (const reply of trials.all) known.take(reply);
  for (let round = 0; round < MOST_ROUNDS && trials.ended === null; round += 1) {
    const ready = waiting.flatMap((order) => filled(order, known.for(order.operation)) ?? []);
    if (ready.length === 0) break;
    const sent = await send(ready);
    for (const reply of sent.all) known.take(reply);
    const operations = new Set(ready.map(({ operation }) => operation));
    waiting = waiting.filter(({ operation }) => !operations.has(operation));
    trials = trials.with(sent);
  }
  return trials.with({ unexercised: waiting.map(notFound) });
}

function isAwaiting({ operation }: Order): boolean {
  return operation.awaits.length > 0;
}

/** The order with the values that were found; null if one is missing. */
export function filled(order: Order, values: FoundValues | null): Order | null {
  if (order.operation.awaits.length === 0) return order;
  if (values === null) return null;
  const put = (
    text: string,
    marks: (name: string) => readonly string[],
    written: (value: string) => string,
  ) =>
    [...values].reduce(
      (all, [name, value]) => marks(name).reduce((left, mark) => left.replaceAll(mark, written(value)), all),
      text,
    );
  const inPath = (name: string) => [`{${name}}`, encodeURIComponent(`{${name}}`)];
  const path = put(order.path, inPath, encodeURIComponent);
  const fields = order.fields.map(
    ([name, value]) => [name, put(value, (key) => [`{${key}}`], String)] as const,
  );
  return { ...order, path, fields, values };
}

/** The values with which operations were called. */
export function valuesOf({ all }: Trials): ReadonlyMap<Operation, FoundValues> {
  return new Map(all.flatMap(({ order: { operation, values } }) => (values ? [[operation, values]] : [])));
}

function notFound({ operation, kind }: Order): Unexercised {
  const reason = `${operation.uncallable}, and no answer had one; \`parameters:\` in the config may give one`;
  return { operation, kind, reason, why: 'unfit' };
}
