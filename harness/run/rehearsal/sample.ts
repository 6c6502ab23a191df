import { keptRate } from '../../config/blocks/pace.ts';
import type { Operation, ServiceConfig } from '../../config/service.ts';
import { operationPlan } from '../../probe/operation/operation.ts';

/** Of fewer collections than this, each is rehearsed. */
const MANY = 100;
/** Of more, about so many. */
const SAMPLED = 30;

/** Two configs with some of the operations each: as a run grows from one to the other, it goes on to grow. */
export interface OperationSample {
  readonly fewer: ServiceConfig;
  readonly more: ServiceConfig;
}

/**
 * Operations that stand for all, of each sort as many as its share; null where all are to be rehearsed: there are few,
 * or they are too many to be asked without waiting, or at all. What belongs to one collection stays together.
 */
export function operationSample(config: ServiceConfig): OperationSample | null {
  const collections = [...Map.groupBy(config.operations, collectionOf).values()];
  if (collections.length < MANY) return null;
  const { orders, unexercised } = operationPlan(config);
  const isCut = unexercised.some(({ why }) => why === 'capped');
  if (isCut || orders.length > keptRate(config.plan).requests) return null;
  const alike = [...Map.groupBy(collections, sortOf).values()].flat();
  const step = Math.floor(alike.length / SAMPLED);
  const each = (nth: number) => ({
    ...config,
    operations: alike.filter((_, at) => at % nth === 0).flat(),
  });
  return { fewer: each(2 * step), more: each(step) };
}

/** `/v1/orders` of `/v1/orders/{id}/lines`. */
function collectionOf({ template }: Operation): string {
  return template.replace(/\/?(?:\{.*)?$/s, '');
}

/** What decides how many requests a collection gets. */
function sortOf(operations: readonly Operation[]): string {
  return operations
    .map(({ method, auth, uncallable, call }) =>
      [method, auth, uncallable === null, call.body !== null, call.inputs.length].join(' '),
    )
    .sort()
    .join(', ');
}
