import type { FaultSide } from '../../../harness/base/finding.ts';
import type { InputTrials } from '../../../harness/config/operation/call/input-trials.ts';
import type { Lifecycle } from '../../../harness/config/operation/lifecycle.ts';
import type {
  ConstraintTrial,
  InputTrial,
  Operation,
  OperationRequest,
  Safety,
} from '../../../harness/config/service.ts';
import { type Collection, collectionsOf, type NestedUse, nestedUse } from './collections.ts';
import { isCursorName } from './names.ts';
import { aboutOwnItem, isOfOwn, isOfOwnItem, itemOperationOf, leavesOthersAlone } from './own-operations.ts';

/** What a request to an operation is for. */
export type TrialKind = 'call' | 'no-credential' | 'unknown-method' | InputTrial['kind'] | 'lifecycle';

/** Values of the inputs that an operation awaits, by name. */
export type FoundValues = ReadonlyMap<string, string>;

/** One request to an operation. */
export interface Order extends OperationRequest {
  readonly operation: Operation;
  readonly kind: TrialKind;
  readonly method: string;
  /** The values of other answers that are in it; absent for none. */
  readonly values?: FoundValues;
  /** Some of the values are made up: that it is not found tells nothing. Absent for others. */
  readonly isMadeUp?: true;
  /** Completes "GET /v1/resources/{id} …". */
  readonly what: string;
  /** The documented constraint that it tries; absent for none. */
  readonly tries?: ConstraintTrial | null;
  /** As in `InputTrial`. */
  readonly change?: string | null;
}

/** A request that is not sent, or shows nothing, and why. */
export interface Unexercised {
  readonly operation: Operation;
  readonly kind: TrialKind;
  readonly reason: string;
  /** The documented constraint that it would try; absent for none. */
  readonly tries?: ConstraintTrial | null;
  /**
   * `unfit`: it cannot be called as it is documented. `unsafe`: the config does not allow it. `capped`: there would
   * have been too many, or they would have taken too long. `left`: not sent, or without a meaning, in this run. `open`:
   * nothing is documented that it could be held to. `beyond`: values that no run tries. `refused`: the service did not
   * let it be asked.
   */
  readonly why: 'unfit' | 'unsafe' | 'capped' | 'left' | 'open' | 'beyond' | 'refused';
  /** The side that it is mended on; absent if it is not known, or nothing has to be mended. */
  readonly fault?: FaultSide | undefined;
}

/** Why a request is not sent, or not held to something. */
export type ReasonAgainst = Pick<Unexercised, 'reason' | 'why' | 'fault'>;

export interface OperationPlan {
  readonly orders: readonly Order[];
  readonly unexercised: readonly Unexercised[];
}

/** A well-formed method that nobody has registered: nothing can have a side effect for it. */
const UNKNOWN_METHOD = 'CONFORM';

/** Kinds beside the call itself: the worst fault first, for so the requests are shared out. */
export const FURTHER: readonly Exclude<TrialKind, 'call' | 'lifecycle'>[] = [
  'no-credential',
  'hostile',
  'wrong-type',
  'missing',
  'out-of-range',
  'surplus',
  'unknown-method',
  'boundary',
  'pattern',
  'items',
  'multiple',
  'characters',
  'example',
  'text',
  'format',
  'extra',
];

/** Requests of one kind that try one operation. */
const MAX_OF_KIND = 40;
const TOO_MANY = {
  reason: `at most ${MAX_OF_KIND} requests of a kind try one operation`,
  why: 'capped',
} as const;

/** A read whose identifier is an example, or of another answer: another one is tried if it names nothing. */
export function mayNameNothing({ safe, awaits, call }: Operation): boolean {
  return safe && (awaits.length > 0 || call.inputs.some(({ from }) => from === 'example'));
}

/** Kinds that would try the values of a body that are left out. */
const OF_VALUES = ['wrong-type', 'missing', 'out-of-range'] as const;

/** Valid requests, which a service carries out. */
const CARRIED_OUT: ReadonlySet<TrialKind> = new Set(['boundary', 'characters', 'example', 'text']);

interface Planned {
  readonly operations: readonly Operation[];
  /** What the run creates itself. */
  readonly lifecycles: readonly Lifecycle[];
  readonly safety: Safety;
  /** The service demands a credential at all. */
  readonly credentialed: boolean;
  /** Requests that its documentation rules out; asked only of operations that get some. */
  readonly inputTrialsOf: (operation: Operation) => InputTrials;
}

/** Requests that calls leave to what tries them further, at most: a large document is called first. */
const MOST_KEPT_FOR_TRIALS = 300;

/** The requests to operations: calls first, the rest tries what is called. The cut of the ceiling is listed. */
export function planOperations({
  operations,
  lifecycles,
  safety,
  credentialed,
  inputTrialsOf,
}: Planned): OperationPlan {
  const ceiling = safety.operationRequests;
  const unexercised: Unexercised[] = [];
  const collections = collectionsOf(operations);
  const callable: Operation[] = [];
  for (const operation of operations) {
    const reason = whyNotCalled(operation, safety, lifecycles, collections);
    if (reason === null) callable.push(operation);
    else unexercised.push({ operation, kind: 'call', ...reason });
  }
  const isNested = (operation: Operation) => nestedUse(operation, collections, lifecycles) !== null;
  // A stream takes its time: others are called before.
  const calls = callable
    .toSorted((a, b) => Number('stream' in a) - Number('stream' in b))
    .map((operation) => callOf(operation, aboutOwnItem(operation, lifecycles)));
  const first = calls.slice(0, Math.max(Math.ceil(ceiling / 2), ceiling - MOST_KEPT_FOR_TRIALS));
  const subjects = first
    .filter(({ operation }) => !isNested(operation))
    .map((call) => {
      const { trials: all, untried } = inputTrialsOf(aboutOwnItem(call.operation, lifecycles));
      const isAllowed = (trial: InputTrial) =>
        leavesOthersAlone(trial, call, lifecycles) &&
        (!CARRIED_OUT.has(trial.kind) || (mayBeRepeated(call.operation, lifecycles) && !isOfCursor(trial)));
      const byKind = Map.groupBy(all.filter(isAllowed), ({ kind }) => kind);
      const inputTrials = [...byKind.values()].flatMap((alike) => alike.slice(0, MAX_OF_KIND));
      for (const { kind, tries } of [...byKind.values()].flatMap((alike) => alike.slice(MAX_OF_KIND)))
        unexercised.push({ operation: call.operation, kind, tries, ...TOO_MANY });
      for (const reason of untried)
        for (const kind of OF_VALUES)
          unexercised.push({ operation: call.operation, kind, reason, why: 'beyond' });
      return { call, inputTrials };
    });
  const wanted = inTurns(subjects, credentialed);
  const room = ceiling - first.length;
  const repeats = Math.min(first.filter(({ operation }) => mayNameNothing(operation)).length, room / 2);
  const further = wanted.slice(0, room - Math.floor(repeats));
  const more = calls.slice(first.length, ceiling - further.length);
  const cut = [...calls.slice(first.length + more.length), ...wanted.slice(further.length)];
  const reason = `the suite is limited to ${ceiling} requests (safety.operationRequests)`;
  return {
    orders: [...first, ...more, ...further],
    unexercised: [
      ...unexercised,
      ...cut.map(({ operation, kind, tries = null }) => ({
        operation,
        kind,
        tries,
        reason,
        why: 'capped' as const,
        fault: 'config' as const,
      })),
    ],
  };
}

function whyNotCalled(
  operation: Operation,
  safety: Safety,
  lifecycles: readonly Lifecycle[],
  collections: readonly Collection[],
): ReasonAgainst | null {
  if (!operation.safe && !safety.unsafeMethods) {
    const reason = `${operation.method} is not allowed here (safety.unsafeMethods)`;
    return { reason, why: 'unsafe', fault: 'config' };
  }
  const nested = nestedUse(operation, collections, lifecycles);
  if (nested !== null) return whyNotNested(nested, safety, { lifecycles, collections });
  if (operation.uncallable !== null && !mayBeFound(operation, lifecycles))
    return { reason: operation.uncallable, why: 'unfit', fault: operation.uncallableBy };
  if (operation.safe || isOfOwn(operation, lifecycles)) return null;
  if (!createsAnew(operation)) return NOT_OURS;
  return safety.leaveItems ? null : LEFT_BEHIND;
}

/** Answers have the values that are missing, or the run creates the item. */
function mayBeFound(operation: Operation, lifecycles: readonly Lifecycle[]): boolean {
  const { awaits, safe } = operation;
  const own = safe ? null : itemOperationOf(operation, lifecycles);
  return awaits.length > 0 && (safe || awaits.every((name) => name === own?.parameter));
}

/** What this run creates in the items of others, and what it cannot remove, needs `safety.leaveItems`. */
function whyNotNested(
  { item, into }: NestedUse,
  safety: Safety,
  all: { readonly lifecycles: readonly Lifecycle[]; readonly collections: readonly Collection[] },
): ReasonAgainst | null {
  const { lifecycles, collections } = all;
  const parent = item && nestedUse(item.create, collections, lifecycles);
  const isInOwn = item !== null && (parent === null || whyNotNested(parent, safety, all) === null);
  if (safety.leaveItems) return null;
  if (item !== null && parent === null && !isOfOwn(item.create, lifecycles)) return LEFT_BEHIND;
  return isInOwn && (into === null || into.remove !== null) ? null : LEFT_BEHIND;
}

const NOT_OURS = {
  reason:
    'it may change data that this run has not created; `safe: true` in operations says that it changes nothing',
  why: 'unsafe',
  fault: 'config',
} as const;

const LEFT_BEHIND = {
  reason:
    'it may create what this run cannot remove; `--allow leftovers` calls it, and `safe: true` in operations says that it changes nothing',
  why: 'unsafe',
  fault: 'config',
} as const;

/** It is about no item that exists: what it does to a service, a run that is allowed to write may do. */
function createsAnew({ method, call }: Operation): boolean {
  return method === 'POST' && !call.template.includes('{');
}

/** No text that is made up is a cursor, whatever its length. */
function isOfCursor({ tries }: InputTrial): boolean {
  return tries?.in === 'query' && isCursorName(tries.name);
}

/** Whether valid requests may be sent again and again: nothing is left behind, and no item is used up. */
function mayBeRepeated(operation: Operation, lifecycles: readonly Lifecycle[]): boolean {
  return operation.safe || (operation.method !== 'DELETE' && isOfOwn(operation, lifecycles));
}

function callOf(operation: Operation, request: OperationRequest): Order {
  const { path, fields, body } = request;
  return { operation, kind: 'call', method: operation.method, path, fields, body, what: 'as documented' };
}

/** Without the fragment by which a document tells operations of one path apart. */
function pathOf({ template }: Operation): string {
  return template.split('#', 1)[0] ?? '';
}

interface TrialSubject {
  readonly call: Order;
  readonly inputTrials: readonly InputTrial[];
}

/** One request of each kind for each operation in turn, so that a ceiling cuts all kinds evenly. */
function inTurns(subjects: readonly TrialSubject[], credentialed: boolean): readonly Order[] {
  const paths = new Set<string>();
  const queues = FURTHER.map((kind) =>
    subjects.flatMap((subject) => trialsOf(subject, kind, credentialed, paths)),
  );
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) =>
    queues.flatMap((queue) => queue.slice(turn, turn + 1)),
  ).flat();
}

function trialsOf(
  { call, inputTrials }: TrialSubject,
  kind: (typeof FURTHER)[number],
  credentialed: boolean,
  paths: Set<string>,
): readonly Order[] {
  const { operation } = call;
  switch (kind) {
    case 'no-credential':
      return credentialed && operation.auth === 'required'
        ? [{ ...call, kind, what: 'without a credential' }]
        : [];
    case 'unknown-method':
      // Once for each path, whatever methods it has.
      if (paths.has(pathOf(operation)) || isOfOwnItem(call.path)) return [];
      paths.add(pathOf(operation));
      return [
        {
          ...call,
          kind,
          method: UNKNOWN_METHOD,
          body: null,
          what: 'with a method that nobody has registered',
        },
      ];
    default:
      return inputTrials.filter((input) => input.kind === kind).map((trial) => ({ ...call, ...trial, kind }));
  }
}
