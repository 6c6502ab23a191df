import { Blocked } from '../../../harness/base/verdict.ts';
import { derivedOnce } from '../../../harness/config/derived.ts';
import { placeholdersOf } from '../../../harness/config/operation/call/call.ts';
import { inputTrialsOf } from '../../../harness/config/operation/call/input-trials.ts';
import type { Operation, ServiceConfig } from '../../../harness/config/service.ts';
import { derived, type Needs, type Probe, probe, risky } from '../../../harness/engine/session/probe.ts';
import type { Coverage } from '../../../harness/report/results/results.ts';
import { OPERATIONS_MS } from '../../../harness/wire/pace/weighing.ts';
import { collectionsIn, nestedUse } from './collections.ts';
import { filled, mostRepeated, namesNothing, sendWithFound, valuesOf, whyGuessed } from './found-calls.ts';
import { KnownValues } from './found-values.ts';
import { NestedItems } from './nested-items.ts';
import { OwnItems } from './own-items.ts';
import { lifecyclesIn } from './own-operations.ts';
import {
  FURTHER,
  mayNameNothing,
  type Order,
  planOperations,
  type ReasonAgainst,
  type TrialKind,
  type Unexercised,
} from './plan.ts';
import { responseSchemas } from './response-schemas.ts';
import { sendOrder } from './stimulus.ts';
import { type OperationReply, reasonFor, Trials } from './trials.ts';

/** What one probe may take in answers, in ms. Waiting for the quota does not count. */
const PATIENCE_MS = { calls: OPERATIONS_MS / 2, further: OPERATIONS_MS / 2 / FURTHER.length };

export const operationPlan = derivedOnce(
  ({ operations, definitions, safety, credentials }) => [
    operations,
    definitions,
    credentials.carrier === null,
    JSON.stringify(safety),
  ],
  (config) => {
    const { operations, safety, credentials } = config;
    const { book } = responseSchemas(config);
    return planOperations({
      operations,
      lifecycles: lifecyclesIn(config),
      safety,
      credentialed: credentials.carrier !== null,
      inputTrialsOf: (operation) => inputTrialsOf(operation, config.definitions ?? {}, book),
    });
  },
);

function safeCallsIn(config: ServiceConfig): readonly Order[] {
  return ordersOf(config, (order) => order.kind === 'call' && order.operation.safe);
}

function unsafeOrdersIn(config: ServiceConfig): readonly Order[] {
  return ordersOf(config, (order) => !order.operation.safe && order.kind !== 'unknown-method');
}

/** Calls by safe methods. */
export const safeCalls = probe(
  'operation-safe-calls',
  {
    cost: (config) => safeCallsIn(config).length + repeatsIn(config),
    usualCost: (config) => safeCallsIn(config).length,
  },
  ({ config, http, remark }) => {
    let leftMs = PATIENCE_MS.calls;
    const within = async (orders: readonly Order[]) => {
      const trials = await send(orders, leftMs, (order) => sendOrder({ http }, order));
      for (const { exchange } of trials.all) leftMs -= exchange.timing.durationMs;
      return trials;
    };
    return sendWithFound(safeCallsIn(config), config, { send: within, repeats: repeatsIn(config), remark });
  },
);

function repeatsIn(config: ServiceConfig): number {
  return mostRepeated(config, operationPlan(config).orders.length);
}

/** Creation first and deletion last, so that what is called is still there. */
const UNSAFE_ORDER: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** Between the calls that create and the requests to be refused. */
const AFTER_CREATIONS = 0.25;

/** Safe calls with a value which only a creation may have; the lifecycles read their own items. */
function lateCallsIn(config: ServiceConfig): readonly Order[] {
  const items = new Set(
    lifecyclesIn(config).map(({ create, parameter }) => `${create.call.template}/{${parameter}}`),
  );
  return safeCallsIn(config).filter(
    ({ operation }) => mayNameNothing(operation) && !items.has(operation.call.template),
  );
}

function unsafeUsually(config: ServiceConfig): number {
  const orders = unsafeOrdersIn(config);
  return orders.length + orders.filter(({ kind, method }) => kind === 'call' && method === 'POST').length;
}

/** Its path names several things: each may be there, and not below the other. */
function isOfSeveral({ operation: { call }, order: { kind } }: OperationReply): boolean {
  return kind === 'call' && placeholdersOf(call.template).length > 1;
}

/** A list in an item of the run may have a value of its path. */
function isBelowItem({ kind, operation }: Order, config: ServiceConfig): boolean {
  const item =
    kind === 'call' ? nestedUse(operation, collectionsIn(config), lifecyclesIn(config))?.item : null;
  const valuesIn = (template = '') => placeholdersOf(template).length;
  return item != null && valuesIn(operation.call.template) > valuesIn(item.itemTemplates[0]);
}

/** Each creation may have to be removed again, and another one may follow each deletion. */
function unsafeCost(config: ServiceConfig): number {
  const byMethod = Map.groupBy(unsafeOrdersIn(config), ({ method }) => method);
  const count = (method: string) => byMethod.get(method)?.length ?? 0;
  const late = byMethod.size === 0 ? 0 : lateCallsIn(config).length;
  const lists = unsafeOrdersIn(config).filter((order) => isBelowItem(order, config)).length;
  return unsafeOrdersIn(config).length + late + lists + count('POST') + 2 * count('DELETE');
}

/**
 * Everything by unsafe methods, if the config allows it, on items of its own: the calls that create, then requests to
 * be refused, then the calls that change something.
 */
const unsafeTrials = probe(
  'operation-unsafe-trials',
  { needs: [safeCalls], cost: unsafeCost, usualCost: unsafeUsually, risks: ['change'] },
  async (port) => {
    const { config, ask } = port;
    const orders = unsafeOrdersIn(config);
    if (orders.length === 0) return Trials.of([]);
    const rank = ({ kind, method, operation: { safe } }: Order) =>
      safe ? AFTER_CREATIONS : kind === 'call' ? UNSAFE_ORDER.indexOf(method) : 0.5;
    const within = ({ method }: Order) => UNSAFE_ORDER.indexOf(method);
    // A creation from the outside in, a removal from the inside out.
    const depth = ({ method, operation }: Order) =>
      operation.call.template.split('{').length * (method === 'DELETE' ? -1 : 1);
    const { all: before, unexercised } = await ask(safeCalls);
    const missed = before.flatMap((reply) => (namesNothing(reply) ? [reply.operation] : []));
    const unread = new Set([...unexercised.map(({ operation }) => operation), ...missed]);
    const late = lateCallsIn(config).filter(({ operation }) => unread.has(operation));
    const sorted = [...orders, ...late].toSorted(
      (a, b) => rank(a) - rank(b) || within(a) - within(b) || depth(a) - depth(b),
    );
    const own = new OwnItems(port, before);
    const known = new KnownValues(config);
    for (const reply of before) known.take(reply);
    const collections = collectionsIn(config);
    const nested = new NestedItems(port, { operations: config.operations, collections }, { own, known });
    const isNested = ({ operation, kind }: Order) =>
      kind === 'call' && nestedUse(operation, collections, lifecyclesIn(config)) !== null;
    const read = async (order: Order): Promise<OperationReply | null> => {
      const ready = filled(order, nested.valuesFor(order.operation) ?? known.for(order.operation));
      const reply = ready && (await sendOrder(port, ready));
      if (reply !== null) known.take(reply);
      // The value may be that of another thing.
      return reply?.status === 404 || reply?.status === 410 ? null : reply;
    };
    const trials = await send(sorted, PATIENCE_MS.calls, async (order) => {
      if (order.operation.safe) return read(order);
      if (isNested(order)) return nested.send(order);
      const reply = await own.send(known.withLinkedBody(order));
      if (reply !== null) known.take(reply);
      if (reply !== null) nested.take(reply);
      return reply;
    });
    for (const text of known.emptyLinks) port.remark(text);
    // The safe calls before have the reason.
    return trials
      .judgeable((reply) =>
        isOfSeveral(reply) && !nested.isToItem(reply.order) ? whyGuessed(reply, known) : null,
      )
      .exercising(({ safe }) => !safe);
  },
);

/** Puts on record how many requests of a kind were sent; how many are planned is known beforehand. */
function covering(
  request: TrialKind,
  name: string,
  needs: Needs,
  read: Parameters<typeof derived<Trials>>[2],
): Probe<Trials> {
  const covers = (config: ServiceConfig) => ({
    request,
    sent: ordersOf(config, ({ kind }) => kind === request).length,
    capped: planned(config, request).filter(({ why }) => why === 'capped').length,
  });
  return { ...derived(name, needs, read), covers };
}

/** Every operation called as it is documented. */
export const operationCalls = covering(
  'call',
  'operation-calls',
  [safeCalls, unsafeTrials],
  async ({ ask, config, cover }) => {
    const [safe, unsafe] = [await ask(safeCalls), await ask(unsafeTrials)];
    // Read again after its creation.
    const together = Trials.together([safe.without(({ operation }) => unsafe.called.has(operation)), unsafe]);
    const asked = new Set(together.ofKind('call').all.map(({ operation }) => operation));
    const all = together.exercising((operation) => !asked.has(operation));
    const made = all.ofKind('call').judgeable(({ whyNoFault }) => whyNoFault);
    const calls = made.with({ unexercised: planned(config, 'call') });
    cover(coverageOf('call', calls));
    return calls;
  },
);

const OTHER_STATUS: ReasonAgainst = { reason: 'its status is not the documented one', why: 'left' };
const NO_MEDIA_TYPE: ReasonAgainst = { reason: 'no media type is documented for its response', why: 'open' };

/** The calls whose response is documented with a media type. */
export const callsOfMediaType = derived('operation-calls-of-media-type', [operationCalls], async ({ ask }) =>
  (await ask(operationCalls)).judgeable(({ expected, contents }) => {
    if (expected === null) return OTHER_STATUS;
    return contents.length === 0 ? NO_MEDIA_TYPE : null;
  }),
);

/** The calls whose response is documented with a schema, whether or not it could be read. */
export const callsOfSchema = derived(
  'operation-calls-of-schema',
  [operationCalls],
  async ({ ask, config }) => {
    const schemas = responseSchemas(config);
    return (await ask(operationCalls)).judgeable((reply) => {
      const against = reply.expected === null ? OTHER_STATUS : schemas.whyNotJudged(reply);
      return against?.why === 'unread' ? null : against;
    });
  },
);

/** Requests besides the calls: each counts only if the call itself is answered as documented. */
function besideCalls(kind: Exclude<TrialKind, 'call' | 'lifecycle'>): Probe<Trials> {
  const isSent = (order: Order) => order.kind === kind && (order.operation.safe || kind === 'unknown-method');
  const cost = (config: ServiceConfig) => ordersOf(config, isSent).length;
  const stimulus = probe(
    `operation-sent-${kind}`,
    { needs: [safeCalls], cost },
    async ({ ask, config, http }) => {
      const calls = await ask(safeCalls);
      // A service that has refused to go on, or is all too slow, is not asked again.
      if (calls.ended !== null)
        return Trials.none(
          ordersOf(config, (order) => order.kind === kind),
          calls.ended,
        );
      const values = valuesOf(calls);
      const orders = ordersOf(config, (order) => {
        const { operation } = order;
        return isSent(order) && (!operation.safe || calls.called.has(operation));
      });
      return send(
        orders.flatMap((order) => filled(order, values.get(order.operation) ?? null) ?? []),
        PATIENCE_MS.further,
        (order) => sendOrder({ http }, order),
      );
    },
  );
  const sent = WELL_FORMED.includes(kind) ? stimulus : risky(stimulus);
  return covering(
    kind,
    `operation-${kind}`,
    [sent, unsafeTrials, operationCalls],
    async ({ ask, config, cover }) => {
      const found = Trials.together([await ask(sent), await ask(unsafeTrials)]).ofKind(kind);
      const { called, ended, unexercised } = await ask(operationCalls);
      // That no value was found for them is said of the calls.
      const unfit = new Set(unexercised.filter(({ why }) => why === 'unfit').map((each) => each.operation));
      const refused = new Map(
        unexercised.flatMap(({ operation, reason, why }) =>
          why === 'refused' ? [[operation, { reason, why, fault: 'service' }] as const] : [],
        ),
      );
      const inVain = (operation: Operation) => !called.has(operation) && !unfit.has(operation);
      const vain = ordersOf(config, (order) => order.kind === kind && inVain(order.operation));
      const trials = found.about(called).with({
        unexercised: [
          ...planned(config, kind),
          // Where nothing could be called there was no occasion either.
          ...(called.size === 0 ? planned(config, 'call') : []),
          ...vain.map(({ operation }) => ({
            operation,
            kind,
            ...(refused.get(operation) ?? (ended === null ? IN_VAIN : reasonFor(ended))),
          })),
        ],
      });
      cover(coverageOf(kind, trials));
      return trials;
    },
  );
}

/** What no service should fall over; input that the documents rule out is another matter. */
const WELL_FORMED: readonly TrialKind[] = ['no-credential', 'unknown-method'];

const NO_TWIN: ReasonAgainst = {
  reason: 'a text of as many ASCII letters is not served either, or was not sent',
  why: 'open',
};

const IN_VAIN: ReasonAgainst = {
  reason: 'the call itself is not answered as documented, so this would prove nothing',
  why: 'left',
};

function coverageOf(request: TrialKind, { all, unexercised }: Trials): Coverage {
  const capped = unexercised.filter(({ kind, why }) => kind === request && why === 'capped');
  const trials = all.flatMap(({ operation, order: { tries }, status }) =>
    tries ? [{ operation: operation.id, ...tries, status }] : [],
  );
  return { request, sent: all.length, capped: capped.length, ...(trials.length > 0 && { trials }) };
}

export const withoutCredentialOfOperation = besideCalls('no-credential');
export const unknownMethodOfOperation = besideCalls('unknown-method');
export const wrongTypes = besideCalls('wrong-type');
export const missingInputs = besideCalls('missing');
export const outOfRange = besideCalls('out-of-range');
export const surplusMembers = besideCalls('surplus');
export const extraInputs = besideCalls('extra');
export const hostileValues = besideCalls('hostile');
export const patternMisses = besideCalls('pattern');
export const wrongItems = besideCalls('items');
export const wrongMultiples = besideCalls('multiple');
export const wrongFormats = besideCalls('format');
export const atBounds = besideCalls('boundary');
export const unusualTexts = besideCalls('text');
export const shownExamples = besideCalls('example');
const atBoundsInCharacters = besideCalls('characters');

/** Those whose text of as many ASCII letters is served, so that only the letters differ. */
export const lengthsInCharacters = derived(
  'operation-lengths-in-characters',
  [atBoundsInCharacters, atBounds],
  async ({ ask }) => {
    const served = (await ask(atBounds)).all.filter((reply) => reply.served);
    const isTwin = ({ order: { operation, tries } }: OperationReply, other: OperationReply) =>
      operation === other.order.operation &&
      tries?.keyword === other.order.tries?.keyword &&
      tries?.in === other.order.tries?.in &&
      tries?.name === other.order.tries?.name;
    return (await ask(atBoundsInCharacters)).judgeable((reply) =>
      served.some((each) => isTwin(each, reply)) ? null : NO_TWIN,
    );
  },
);

function ordersOf(config: ServiceConfig, wanted: (order: Order) => boolean): readonly Order[] {
  return operationPlan(config).orders.filter(wanted);
}

/** What the plan leaves out of a kind. */
function planned(config: ServiceConfig, kind: TrialKind): readonly Unexercised[] {
  return operationPlan(config).unexercised.filter((each) => each.kind === kind);
}

const NO_ITEM: ReasonAgainst = {
  reason: 'the run could create no item of its own to send it to',
  why: 'left',
};

/** Operations in a row whose requests are not carried out: then the service itself can no longer be asked. */
const MOST_REFUSED = 2;

/**
 * One after the other, as long as the service can be asked and patience lasts; the rest is listed. A limit may be of one
 * operation alone, whose further requests are not sent then.
 */
async function send(
  orders: readonly Order[],
  patienceMs: number,
  sendOne: (order: Order) => Promise<OperationReply | null>,
): Promise<Trials> {
  const trials: OperationReply[] = [];
  const left: Unexercised[] = [];
  const found = () => Trials.of(trials).with({ unexercised: left });
  const refused = new Map<Operation, string>();
  let inARow = 0;
  let spentMs = 0;
  for (const [at, order] of orders.entries()) {
    const { operation, kind } = order;
    const known = refused.get(operation);
    if (known !== undefined) {
      left.push({ operation, kind, reason: known, why: 'refused', fault: 'service' });
      continue;
    }
    if (spentMs > patienceMs) {
      const reason = `the answers to ${trials.length} requests before it took ${Math.round(spentMs / 1000)} s`;
      return found().with(Trials.none(orders.slice(at), { reason, blocked: false }));
    }
    try {
      const reply = await sendOne(order);
      inARow = 0;
      if (reply === null) left.push({ operation, kind, ...NO_ITEM });
      else trials.push(reply);
      spentMs += reply?.exchange.timing.durationMs ?? 0;
    } catch (error) {
      if (!(error instanceof Blocked)) throw error;
      const { message: reason } = error;
      inARow += 1;
      const isNoneLeft = trials.length === 0 && at === orders.length - 1;
      if (isNoneLeft || inARow >= MOST_REFUSED)
        return found().with(Trials.none(orders.slice(at), { reason, blocked: true }));
      refused.set(operation, reason);
      left.push({ operation, kind, reason, why: 'refused', fault: 'service' });
    }
  }
  return found();
}
